"""Deltas say of each series whether a judge scores it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from alerts.deltas.job import run_deltas
from alerts.deltas.ticks import tick_after
from alerts.settings import AlertsSettings
from ragvigil.model.delta import Delta, Series, judged_first
from ragvigil.model.score import Kind, Layer, Stream
from ragvigil.store.engine.kept import Kept
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rollups, rubric_deltas, verdicts
from ragvigil.store.scores.rubric_deltas import DeltaFilter
from ragvigil.web.views.deltas import deltas_since, newest_deltas, read_ahead
from tests.judged import JUDGE, keep_judged, verdict
from tests.outcomes import NOW

SECONDS = tick_after(NOW // 10**9) - 1
"""The last second before the tick that holds the records: at a tick itself they are in the next."""
TICK = SECONDS - SECONDS % 300
JUDGED = Series(
    service="helpdesk", environment="prod", route="/ask", rubric="groundedness",
    layer=Layer.GENERATION, segment=f"r1 {JUDGE}1",
)  # fmt: skip


def test_the_local_and_the_judged_series_of_a_rubric_are_two_rows(store: Store) -> None:
    local_score = verdict(0.9, judge="local", kind=Kind.MODEL, stream=Stream.PROXY)
    keep_judged(store, {1: [verdict(0.4), local_score]})
    local = replace(JUDGED, segment="r1 local1")
    rate = replace(JUDGED, rubric="groundedness:unsupported")
    deltas = [Delta(series=each, tick=TICK, window="6h", n=30) for each in (JUDGED, local, rate)]
    store.write(rubric_deltas.batch(deltas, NOW))
    now = datetime.fromtimestamp(TICK + 60, UTC)
    found = newest_deltas(store, DeltaFilter(since=TICK - 3600), now)
    assert {(each.rubric, each.segment): each.is_judged for each in found} == {
        ("groundedness", JUDGED.segment): True,
        ("groundedness", local.segment): False,
        ("groundedness:unsupported", rate.segment): True,
    }
    past = deltas_since(store, DeltaFilter(since=TICK - 3600))
    assert [each.is_judged for each in past] == [None, None, None]


def test_what_is_read_ahead_is_not_read_again_by_who_asks_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_judged(store, {1: [verdict(0.4)]})
    run_deltas(store, SECONDS, AlertsSettings(), failing=("groundedness",))
    monkeypatch.setattr(store, "kept", Kept(5.0))
    read_ahead(store, SECONDS)
    monkeypatch.setattr(rollups, "counts", None)
    monkeypatch.setattr(verdicts, "judges", None)
    now = datetime.fromtimestamp(SECONDS, UTC)
    found = newest_deltas(store, DeltaFilter(window="6h"), now, with_rates=False)
    assert [each.hours[-1] for each in found if each.rubric == "groundedness"] == [0.4]


def test_both_are_rolled_up_and_become_rows_that_say_who_scored(store: Store) -> None:
    local_score = verdict(0.9, judge="local", kind=Kind.MODEL, stream=Stream.PROXY)
    keep_judged(store, {1: [verdict(0.4), local_score], 2: [local_score]})
    run_deltas(store, SECONDS, AlertsSettings(), failing=("groundedness",))
    wanted = DeltaFilter(rubric="groundedness", window="6h")
    now = datetime.fromtimestamp(SECONDS, UTC)
    found = newest_deltas(store, wanted, now)
    assert {each.kind: (each.mean, each.n, each.is_judged) for each in found} == {
        Kind.JUDGE: (0.4, 1, True),
        Kind.MODEL: (0.9, 2, False),
    }
    assert {each.hours[-1] for each in found} == {0.4, 0.9}
    past = deltas_since(store, replace(wanted, since=TICK - 3600))
    assert {each.is_judged for each in past} == {True, False}
    rows = rubric_deltas.latest(store, wanted, SECONDS)
    assert [row.series.kind for row in judged_first(rows)] == [Kind.JUDGE]
