"""Versions by slice from stored answers to the API and the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from alerts.settings import AlertsSettings
from alerts.slices.settings import SliceSettings
from ragvigil.app.sources.reports.reports import Reports
from ragvigil.model.figures import duration, money, score, share
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Dimensions, Latencies
from ragvigil.model.score import Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.no_model import NO_MODEL
from tests.outcomes import NOW, SECOND, outcome_of
from tests.served_api import Commands, commands

RUBRICS = ("groundedness", "context_recall", "refusal")


WORDS = {
    "context_recall": score,
    "groundedness": score,
    "refusal": share,
    "p95_seconds": duration,
    "cost_usd": money,
}
"""How pages word each figure."""


def same_words(figure: Mapping[str, Any] | None, words: Callable[[float | None], str]) -> str:
    """A figure of the API as the page shows it."""
    if figure is None:
        return "–"
    low, high = words(figure["low"]), figure["high"]
    bounds = f"{low} or more" if high is None else f"{low} to {words(high)}"
    return f"{words(figure['value'])} {bounds}, {figure['n']} answers"


def of_version(number: int, version: str, grounded: float, locale: str) -> Outcome:
    """An answer of a second for each ten of its number; every fourth one refuses."""
    ago = {"1.0": 7200, "1.1": 600}[version] * SECOND
    made = outcome_of(number, time_unix_nano=NOW - ago)
    label = "refused" if number % 4 == 0 else "answered"
    scores = [
        Score(rubric="groundedness", value=grounded, layer=Layer.GENERATION),
        Score(rubric="refusal", label=label, layer=Layer.GENERATION),
    ]
    if number % 10 == 0:
        scores.append(Score(rubric="context_recall", value=0.5, layer=Layer.RETRIEVAL))
    record = replace(
        made.records[0].record,
        dimensions=Dimensions(service_version=version, locale=locale),
        latencies=Latencies(total=number % 100 / 10),
        cost_usd=0.002 if version == "1.0" else 0.004,
    )
    return replace(made, records=(replace(made.records[0], record=record, scores=tuple(scores)),))


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Iterator[Commands]:
    clock = datetime.fromtimestamp(NOW // SECOND, UTC)
    alerts = AlertsSettings(slices=SliceSettings(by=("language",)))
    reports = Reports(store, {}, alerts, NO_MODEL)
    web = api(store, Quiet(), WebSettings(), reporting=reports, clock=lambda: clock)
    with commands(web, tmp_path) as made:
        yield made


def test_each_version_and_slice_has_its_figures(store: Store, daemon: Commands) -> None:
    assert daemon.say("releases").startswith("no answers since ")
    assert "No answer says its version yet" in daemon.page("/releases")
    rows = TraceRows({name: RubricFacts(version="1") for name in RUBRICS})
    for number in range(200):
        version = "1.0" if number < 100 else "1.1"
        locale = "de-AT" if number % 2 else "en"
        rows.add(of_version(number, version, 0.9 if number < 100 else 0.6, locale))
    store.write(rows.take())
    reply = json.loads(daemon.say("releases", "--json"))
    assert reply["share"] == 1
    names = [(row["version"], row["dimension"], row["name"]) for row in reply["releases"]]
    assert names == [
        (version, dimension, name)
        for version in ("1.1", "1.0")
        for dimension, name in (("", ""), ("language", "de"), ("language", "en"))
    ]
    new, german, _, old, *_ = reply["releases"]
    assert (new["answers"], german["answers"]) == (100, 50)
    assert new["groundedness"]["value"] == pytest.approx(0.6)
    assert new["groundedness"]["high"] < old["groundedness"]["low"]
    assert new["refusal"]["value"] == 0.25
    assert german["refusal"]["value"] == 0
    assert (new["context_recall"]["value"], new["context_recall"]["n"]) == (0.5, 10)
    assert german["context_recall"] is None
    assert new["p95_seconds"]["value"] == pytest.approx(9.4)
    assert new["p95_seconds"]["low"] < 9.4 < new["p95_seconds"]["high"]
    assert new["cost_usd"]["value"] == pytest.approx(0.004)
    assert new["answer_relevance"] is None
    printed = daemon.say("releases", "--version", "1.1")
    assert "language de" in printed
    page = daemon.page("/releases")
    assert page.startswith("Versions Before release Slices Rubrics and users The week 1.1 is worse")
    assert "1.1 is worse than 1.0 in groundedness and cost" in page
    for row in reply["releases"]:
        for name, words in WORDS.items():
            assert same_words(row[name], words) in page
    assert "1.0" not in printed.replace("[1.0", "")
    assert not json.loads(daemon.say("releases", "--json", "--service", "other"))["releases"]
