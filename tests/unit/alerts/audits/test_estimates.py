"""The judged mean of a series by the sums of its answers, version by version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.audits.estimates import SeriesEstimate, estimates
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import estimate_sums, judged
from tests.outcomes import NOW, SECOND, outcome_of

SINCE = NOW // SECOND - 3600
FACTS = {"groundedness": RubricFacts(version="1")}
JUDGED = Score(
    rubric="groundedness",
    layer=Layer.GENERATION,
    scorer="openai:m",
    version="1",
    kind=Kind.JUDGE,
    inclusion_probability=0.5,
)
LOCAL = replace(
    JUDGED, scorer="Local", kind=Kind.MODEL, stream=Stream.PROXY, inclusion_probability=1.0
)


def write(store: Store, number: int, *scores: Score, later: int = 0) -> None:
    rows = TraceRows(FACTS, replica="r1", epoch=7)
    outcome = outcome_of(number, time_unix_nano=NOW + later * SECOND)
    rows.add(outcome)
    store.write(rows.take())
    key = (outcome.trace.trace_id, outcome.records[0].record.record_id)
    judged.write(store, [(judged.read(store, [key])[key], scores)], FACTS)


def found(store: Store) -> list[SeriesEstimate]:
    hour = NOW // SECOND // 3600 * 3600
    estimate_sums.recompute(store, [hour - 3600, hour, hour + 3600], NOW)
    return estimates(store, SINCE, hour + 7200)


def test_a_record_has_both_its_scores_and_an_unjudged_one_its_local(store: Store) -> None:
    write(store, 1, replace(JUDGED, value=0.5), replace(LOCAL, value=0.75))
    write(store, 2, replace(LOCAL, value=0.25))
    (row,) = found(store)
    assert (row.series.rubric, row.series.layer, row.series.segment) == (
        "groundedness",
        Layer.GENERATION,
        "r1 openai:m1",
    )
    assert (row.records, row.estimate.n, row.plain_mean) == (2, 1, 0.5)


def test_verdicts_of_an_older_judge_are_not_mixed_in(store: Store) -> None:
    old = replace(JUDGED, value=0.0, scorer="openai:old")
    write(store, 1, old, replace(LOCAL, value=0.5), later=-600)
    write(store, 2, replace(JUDGED, value=1.0), replace(LOCAL, value=0.5))
    (row,) = found(store)
    assert (row.records, row.estimate.n, row.estimate.mean) == (2, 1, 1.0)


def test_a_series_that_nobody_judged_has_no_estimate(store: Store) -> None:
    write(store, 1, replace(LOCAL, value=0.75))
    assert found(store) == []


def test_a_verdict_that_is_missing_is_no_score_of_0(store: Store) -> None:
    missing = replace(JUDGED, value=None, absent="judge")
    write(store, 1, missing, replace(LOCAL, value=0.75))
    assert found(store) == []


def test_suspicious_traces_are_not_in_the_estimate(store: Store) -> None:
    write(store, 1, replace(JUDGED, value=1.0))
    write(store, 2, replace(JUDGED, value=0.0, stream=Stream.SUSPICIOUS))
    (row,) = found(store)
    assert (row.estimate.mean, row.estimate.n) == (1.0, 1)


def test_records_that_look_better_than_the_judged_ones_raise_the_mean(store: Store) -> None:
    for number in range(12):
        value = number / 24
        write(store, number, replace(JUDGED, value=value), replace(LOCAL, value=value))
    for number in range(12, 24):
        write(store, number, replace(LOCAL, value=number / 24))
    (row,) = found(store)
    assert (row.records, row.estimate.n) == (24, 12)
    assert row.plain_mean == pytest.approx(5.5 / 24)
    assert row.estimate.mean == pytest.approx(11.5 / 24, abs=0.01)
    assert row.estimate.low < 11.5 / 24 < row.estimate.high


def test_hours_too_large_for_one_query_are_summed_by_halves(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And to the same sums as all at once."""
    write(store, 1, replace(JUDGED, value=0.5), replace(LOCAL, value=0.75))
    write(store, 2, replace(JUDGED, value=1.0), replace(LOCAL, value=0.5), later=-4000)
    hour = NOW // SECOND // 3600 * 3600
    hours = [hour - 3600, hour, hour - 7200]
    estimate_sums.recompute(store, hours, NOW)
    at_once = estimates(store, hour - 7200, hour + 3600)
    run, asked = store.run, []

    def limited(name: str, parameters: dict[str, object]) -> None:
        asked.append((int(str(parameters["end"])) - int(str(parameters["first"]))) // 3600)
        if asked[-1] > 1:
            raise QueryFailed("memory limit exceeded")
        run(name, parameters)

    monkeypatch.setattr(store, "run", limited)
    estimate_sums.recompute(store, hours, NOW + 1)
    assert asked == [3, 1, 1, 2, 1, 1, 1, 1]
    assert estimates(store, hour - 7200, hour + 3600) == at_once
    assert at_once
