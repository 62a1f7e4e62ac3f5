"""A summary counts every outcome, and keeps only those that somebody may take."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.app.pipeline.summary import Summarizer
from ragvigil.model.outcome import Outcome, TraceOutcome
from tests.outcomes import outcome_of


def summarizer(wanted: set[str], sampled: set[str]) -> Summarizer:
    return Summarizer(
        {},
        wants=lambda outcome: outcome.trace.trace_id in wanted,
        samples=lambda outcome: outcome.trace.trace_id in sampled,
    )


def trace_id(outcome: Outcome) -> str:
    return outcome.trace.trace_id


def test_all_are_counted_and_the_wanted_are_kept() -> None:
    first, second, third = (outcome_of(number) for number in (1, 2, 3))
    summaries = summarizer({trace_id(first)}, {trace_id(first), trace_id(second)})
    for outcome in (first, second, third):
        summaries.add(outcome)
    summary = summaries.take()
    assert summary.outcomes == {TraceOutcome.SCORED: 3}
    assert summary.kept == [first]
    assert summary.left_out == len(second.records)
    assert len(summary.fingerprints) == sum(
        len(outcome.records) for outcome in (first, second, third)
    )
    assert sum(series.n for series in summary.counts.series.values()) > 0
    assert summaries.take().outcomes == {}


def test_records_that_were_counted_before_are_not_counted_again() -> None:
    outcome = outcome_of(1)
    summaries = summarizer(set(), set())
    summaries.add(outcome, [scored.record.record_id for scored in outcome.records])
    assert summaries.take().counts.series == {}


def test_a_replayed_trace_says_nothing_of_how_long_it_waited() -> None:
    live = outcome_of(1)
    replayed = replace(outcome_of(2), trace=replace(outcome_of(2).trace, backfill="run"))
    summaries = summarizer(set(), set())
    summaries.add(live)
    summaries.add(replayed)
    assert summaries.take().received == [live.trace.received_unix_nano]
