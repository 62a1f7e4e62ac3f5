"""Every query of every dashboard against a real Prometheus that scrapes a real daemon."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, start_http_server

from alerts.watch.families import PARTS
from clustering.issues import metrics as issue_metrics
from clustering.issues.counts import Count
from clustering.issues.message import message
from clustering.issues.metrics import ExposedIssue
from deploy.grafana import make
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, running
from ragvigil.app.demo.recording import read_recording
from ragvigil.app.demo.replay import SendOptions, Tally, send_all
from ragvigil.app.demo.run import HELPDESK
from ragvigil.app.demo.schedule import Plan, requests, schedule, templates
from tests.content_judge import ContentJudge
from tests.grafana_boards import LABEL_VALUES, Board, queries, substituted, variables
from tests.issues import issue
from tests.llm_server import serving
from tests.open_incident import an_open_incident
from tests.prometheus_server import Prometheus, scraping

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
GRAFANAS_OWN = {"__rate_interval": "10s", "__interval": "10s", "daily_money": "5"}
ROUTE = "/chat"
TOKEN = "a-token-of-this-test"

MAY_BE_EMPTY = {
    "What moved in 6 hours": "nothing may have moved",
    "Size on disk": "measured every few minutes",
    "Memory": "the model process may not have been needed",
    "Labels, last hour": "the chosen route may have got none in the meantime",
}
"""Panels that may show nothing although their metrics have series."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    with serving(ContentJudge().answer) as judge:
        settings = {"RAGVIGIL_CONFIG": os.devnull, "RAGVIGIL_METRICS__TOKEN": TOKEN}
        settings |= _judging(judge.openai)
        with running(tmp_path_factory.mktemp("dashboards"), settings=settings) as started:
            yield started


def _judging(base_url: str) -> dict[str, str]:
    """A judge for a tenth of the traffic, the sent-in past included."""
    return {
        "RAGVIGIL_JUDGE__MODEL": "openai:gpt-4.1-mini",
        "RAGVIGIL_JUDGE__BASE_URL": base_url,
        "RAGVIGIL_JUDGE__ALLOW": "true",
        "RAGVIGIL_JUDGE__SAMPLE_RATE": "0.1",
        "RAGVIGIL_JUDGE__WAIT_SECONDS": "0",
        "RAGVIGIL_JUDGE__BACKFILL": "true",
        "RAGVIGIL_INFERENCE__ENABLED": "false",
    }


@pytest.fixture(scope="module")
def watch() -> Iterator[str]:
    """Where an open incident and an open issue are served: `host:port`."""
    registry = CollectorRegistry()
    registry.register(an_open_incident(ROUTE))
    an_open_issue(registry)
    port = free_port()
    server, thread = start_http_server(port, "127.0.0.1", registry)
    yield f"127.0.0.1:{port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def prometheus(
    daemon: ChildDaemon, watch: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """The server, once the daemon has scored a day of the help desk's traffic under its eyes."""
    folder = tmp_path_factory.mktemp("prometheus")
    with scraping(_config(folder, daemon, watch), folder) as started:
        yield _after_traffic(started, daemon)


def an_open_issue(registry: CollectorRegistry) -> None:
    for metric in (issue_metrics.ISSUES, issue_metrics.OPEN, issue_metrics.MESSAGE):
        registry.register(metric)
    opened, count = (
        issue(service="helpdesk", environment="demo"),
        Count(seen=9, about=9, low=9, high=9),
    )
    issue_metrics.show([opened], lambda *place: place)
    issue_metrics.show_open([ExposedIssue(issue=opened, days=(9,), message=message(opened, count))])


def _config(folder: Path, daemon: ChildDaemon, watch: str) -> Path:
    """The configuration of deploy/ for these two on loopback, scraped every second."""
    token = folder / "token"
    token.write_text(TOKEN)
    given = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    (job,) = given["scrape_configs"]
    job["static_configs"] = [{"targets": [daemon.metrics, watch]}]
    job["authorization"] = {"credentials_file": str(token)}
    del given["rule_files"], given["alerting"]
    given["global"] = {"scrape_interval": "2s"}
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(given))
    return path


def _after_traffic(prometheus: Prometheus, daemon: ChildDaemon) -> Prometheus:
    plan = Plan(ends_unix_nano=time.time_ns(), days=1, traces_per_hour=12)
    recordings = (HELPDESK / "recorded" / name for name in ("healthy", "fabricated_quotes"))
    healthy, faulty = (templates(read_recording(folder)) for folder in recordings)
    bodies = iter(list(requests(list(schedule(healthy, faulty, plan)), plan)))
    target = SendOptions(target=f"http://{daemon.http}", backfill="dashboards", give_up_seconds=60)
    # In two parts: a counter that comes into being at its final height has not risen.
    for several in (islice(bodies, 3), bodies):
        asyncio.run(send_all(several, target, Tally()))
        prometheus.wait_for("ragvigil_score_count_total")
        time.sleep(2)
    prometheus.wait_for("ragvigil_score_delta_low")
    prometheus.wait_for("ragvigil_judge_records_total")
    return prometheus


def _chosen(board: Board, prometheus: Prometheus) -> dict[str, str]:
    """A value of each variable: everything where that is offered, else the first there is."""
    values = dict(GRAFANAS_OWN)
    for variable in variables(board):
        name, query = variable["name"], variable.get("query")
        found = LABEL_VALUES.fullmatch(query) if isinstance(query, str) else None
        if found is not None:
            offered = prometheus.values(substituted(found["metric"], values), found["label"])
            assert offered, f"{query} offers nothing"
            value = ROUTE if ROUTE in offered else offered[0]
            values[name] = ".*" if variable["includeAll"] else value
        elif variable["type"] == "custom":
            values[name] = variable["current"]["value"]
    return values


def _metrics_of(expr: str) -> set[str]:
    return set(re.findall(r"\b(?:ragvigil|process)_\w+", expr))


@pytest.mark.parametrize("name", make.BOARDS)
def test_every_query_is_answered_and_has_series_where_its_metrics_have(
    name: str, prometheus: Prometheus
) -> None:
    board = json.loads((make.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    values = _chosen(board, prometheus)
    known, shown = set(prometheus.get("label/__name__/values")), 0
    for query in queries(board):
        must_show = query.panel not in MAY_BE_EMPTY and _metrics_of(query.expr) <= known
        ask = prometheus.shown if must_show else prometheus.asked
        shown += bool(ask(query, values))
    assert shown, name


def shown(prometheus: Prometheus, board: str, panel: str, **chosen: str) -> list[Any]:
    """Series of the first query of a panel of this title."""
    read = json.loads((make.FOLDER / f"{board}.json").read_text(encoding="utf-8"))
    query = next(query for query in queries(read) if query.panel == panel and query.is_instant)
    return prometheus.asked(query, GRAFANAS_OWN | {"service": ".*", "environment": ".*"} | chosen)


def test_the_table_of_incidents_holds_the_words_of_the_message(prometheus: Prometheus) -> None:
    table = next(
        asked
        for asked in queries(make.BOARDS["overview"]())
        if "ragvigil_incident_message" in asked.expr
    )
    found = prometheus.asked(table, {"service": ".*", "environment": ".*"})
    rows = {row["metric"]["incident"]: row["metric"] for row in found}
    words = dict.fromkeys(PARTS, "six lines")
    named = {"incident": "i1", "severity": "page", "layer": "undetermined", "service": "helpdesk"}
    assert rows["i1"] == words | named | {"environment": "demo"}


def test_the_table_of_issues_holds_the_words_of_the_message(prometheus: Prometheus) -> None:
    rows = shown(prometheus, "overview", "Issues that are worth a ticket")
    (row,) = [row["metric"] for row in rows if row["metric"]["issue"] == "i1"]
    assert row["seen"] == "9 seen"
    assert row["name"] == "groundedness: another number of days (/refunds)"
    assert {row[name] for name in ("state", "service", "environment")} == {
        "new", "helpdesk", "demo",
    }  # fmt: skip


def test_only_signals_over_their_ceilings_are_in_the_table_of_them(prometheus: Prometheus) -> None:
    rows = shown(prometheus, "overview", "Signals over their ceilings now")
    signals = {row["metric"]["signal"] for row in rows}
    assert "refusals" in signals
    assert not signals & {"errors", "answer_words"}


def test_incidents_of_another_service_are_not_counted(prometheus: Prometheus) -> None:
    for service, has_some in (("helpdesk", True), ("another", False)):
        (row,) = shown(prometheus, "overview", "Open incidents", service=service)
        assert (float(row["value"][1]) > 0) is has_some, service


@pytest.mark.parametrize(
    "metric",
    [
        "ragvigil_score_mean",
        "ragvigil_score_baseline",
        "ragvigil_score_delta_low",
        "ragvigil_score_detection_limit",
        "ragvigil_score_labels_total",
        "ragvigil_items_accepted_total",
        "ragvigil_acknowledgement_seconds_bucket",
        "ragvigil_ledger_mismatch_spans",
        "ragvigil_core_process_resident_memory_bytes",
        "ragvigil_judge_waiting",
        "ragvigil_llm_calls_total",
        "ragvigil_llm_seconds_bucket",
        "ragvigil_judge_records_total",
        "ragvigil_notices_total",
        "ragvigil_signal_ceiling",
    ],
)
def test_what_the_dashboards_are_about_is_there_after_traffic(
    metric: str, prometheus: Prometheus
) -> None:
    prometheus.wait_for(metric)
    assert any(
        metric in asked.expr
        for text in make.written().values()
        for asked in queries(json.loads(text))
    )
