"""The Prometheus rules load, fire when they should, and name only metrics that exist."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragvigil.web.settings import WebSettings
from tests.house.tables import READMES, metrics_table
from tests.monitoring import tool

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "alerts" / "rules"
RUNBOOK_URL = WebSettings().runbook
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
FILES = sorted(RULES.glob("*.yml"))
TESTS = sorted((RULES / "tests").glob("*.yml"))
PAGES = {"RagQualityIncident", "RagDataAtRisk", "RagNotWatching"}
WHICH = {"RagQualityIncident": "page", "RagQualityTicket": "ticket"}
"""Alerts whose severity is a label of the incident."""


def rules(kind: str) -> Iterator[dict[str, Any]]:
    for path in FILES:
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            yield from (rule for rule in group["rules"] if kind in rule)


ALERTS = {rule["alert"] for rule in rules("alert")}


def expected() -> dict[str, set[bool]]:
    """By alert, whether tests expect it to fire, and not to fire."""
    outcomes: dict[str, set[bool]] = {}
    for path in TESTS:
        for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            for case in test.get("alert_rule_test", ()):
                outcomes.setdefault(case["alertname"], set()).add(bool(case["exp_alerts"]))
    return outcomes


def promtool(*arguments: str | Path) -> None:
    done = subprocess.run(
        [tool("promtool"), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_rules() -> None:
    promtool("check", "rules", "--lint-fatal", *FILES)


def test_rules_fire_when_they_should_and_not_else() -> None:
    promtool("test", "rules", *TESTS)


@pytest.mark.parametrize("alert", sorted(ALERTS))
def test_every_alert_is_tested_to_fire_and_not_to_fire(alert: str) -> None:
    assert expected()[alert] == {True, False}


def test_every_metric_named_exists() -> None:
    tables = "".join(metrics_table(modules) for _, modules in READMES.values())
    known = set(re.findall(r"`(ragvigil_\w+)`", tables))
    recorded = {rule["record"] for rule in rules("record")}
    for kind in ("alert", "record"):
        for rule in rules(kind):
            text = rule["expr"] + str(rule.get("annotations", ""))
            named = set(re.findall(r"(?:\w+:)?ragvigil_\w+(?::\w+)?", text))
            assert named <= known | recorded, rule


def test_every_alert_leads_to_its_place_in_the_runbook() -> None:
    headings = set(re.findall(r"^### (\w+)$", RUNBOOK, re.M))
    assert headings == ALERTS
    for rule in rules("alert"):
        anchor = f"{RUNBOOK_URL}#{rule['alert'].lower()}"
        assert rule["annotations"]["runbook_url"] == anchor


def test_three_alerts_page_and_the_others_are_tickets() -> None:
    for rule in rules("alert"):
        name = rule["alert"]
        severity = WHICH.get(name) or rule["labels"]["severity"]
        if name in WHICH:
            assert f'severity="{severity}"' in rule["expr"]
        info = "info" if name == "RagvigilTestAlert" else "ticket"
        assert severity == ("page" if name in PAGES else info), name


def test_no_rule_mixes_rubrics_or_layers() -> None:
    for rule in rules("record"):
        if "ragvigil_score" in rule["expr"]:
            used = re.findall(r"\b(?:sum|avg|min|max|count|quantile)\b", rule["expr"])
            groupings = re.findall(r"\b(?:sum|avg|min|max) by \(([^)]*)\)", rule["expr"])
            assert len(used) == len(groupings), "what is no aggregate keeps every label"
            assert all({"rubric", "layer"} <= set(by.split(", ")) for by in groupings)


def test_no_alert_depends_on_how_a_score_stands() -> None:
    """The daemon decides what a regression is, not a threshold on a mean."""
    for rule in rules("alert"):
        scores = set(re.findall(r"ragvigil_score_\w+", rule["expr"]))
        assert scores <= {"ragvigil_score_absent"}
