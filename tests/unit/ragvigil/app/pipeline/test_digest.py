"""What is told of outcomes: everything is counted, and only what somebody wants is kept."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.app.pipeline.digest import Digesting
from ragvigil.model.outcome import Outcome, TraceOutcome
from tests.outcomes import outcome_of


def digesting(wanted: set[str], sampled: set[str]) -> Digesting:
    return Digesting(
        {},
        wants=lambda one: one.trace.trace_id in wanted,
        samples=lambda one: one.trace.trace_id in sampled,
    )


def trace_id(outcome: Outcome) -> str:
    return outcome.trace.trace_id


def test_all_are_counted_and_the_wanted_are_kept() -> None:
    first, second, third = (outcome_of(number) for number in (1, 2, 3))
    gathering = digesting({trace_id(first)}, {trace_id(first), trace_id(second)})
    for one in (first, second, third):
        gathering.add(one)
    digest = gathering.take()
    assert digest.outcomes == {TraceOutcome.SCORED: 3}
    assert digest.kept == [first]
    assert digest.left_out == len(second.records)
    assert len(digest.prints) == sum(len(one.records) for one in (first, second, third))
    assert sum(one.n for one in digest.counts.series.values()) > 0
    assert gathering.take().outcomes == {}


def test_records_that_were_counted_before_are_not_counted_again() -> None:
    outcome = outcome_of(1)
    gathering = digesting(set(), set())
    gathering.add(outcome, [one.record.record_id for one in outcome.records])
    assert gathering.take().counts.series == {}


def test_a_replayed_trace_says_nothing_of_how_long_it_waited() -> None:
    live = outcome_of(1)
    replayed = replace(outcome_of(2), trace=replace(outcome_of(2).trace, backfill="run"))
    gathering = digesting(set(), set())
    gathering.add(live)
    gathering.add(replayed)
    assert gathering.take().received == [live.trace.received_unix_nano]
