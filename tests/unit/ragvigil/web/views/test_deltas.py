"""Deltas say of each series whether a judge scores it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from ragvigil.model.delta import Delta, Series
from ragvigil.model.score import Kind, Layer, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.scores.rubric_deltas import DeltaFilter
from ragvigil.web.views.deltas import deltas_since, newest_deltas
from tests.judged import JUDGE, keep_judged, verdict
from tests.outcomes import NOW

SECONDS = NOW // 10**9
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
