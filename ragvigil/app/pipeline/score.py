"""What becomes of closings: their traces, the answers in them, their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from collector.assembly.fetch import TraceFetcher
from collector.assembly.refs import Closing
from collector.record.build import records_of_each
from collector.record.feedback import feedback_of
from collector.record.route import RouteCap, RouteRules
from ragvigil.app.pipeline import metrics
from ragvigil.llm.guard import is_own
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Trace
from ragvigil.store.records.traces import StoredTrace
from scorers.record_shape import measure
from scorers.runner import Runner

AHEAD_NANOS = 600 * 10**9
BEHIND_NANOS = 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a record is named by beside its own spans: the routes that have a name of their own,
    and by service, environment and route the epoch of an index that its service does not say."""

    routes: RouteCap
    epochs: Mapping[tuple[str, str, str], str]


Fresh = tuple[Closing, StoredTrace | None]
"""A closing that is to be scored, and what the store has of its trace."""


class TraceScorer:
    """Turns closings into outcomes; `lean` leaves local models out. One thread."""

    def __init__(self, fetcher: TraceFetcher, runner: Runner, rules: RouteRules) -> None:
        self._fetcher, self._rules = fetcher, rules
        self._full, self._lean = runner, runner.lean()

    def outcomes(
        self, fresh: Sequence[Fresh], known: Known, *, lean: bool = False
    ) -> list[Outcome]:
        """The outcome of each closing.

        One step after another is taken with all of them, not all steps with one after another:
        that saves a fifth of the time (ADR 18).
        """
        traces = [self._trace(closing, earlier) for closing, earlier in fresh]
        found = self._records(traces, known)
        scored = iter(self._scored([one for some in found for one in some], lean=lean))
        return [
            _outcome(trace, earlier, tuple(islice(scored, len(some))))
            for trace, some, (_, earlier) in zip(traces, found, fresh, strict=True)
        ]

    def late(self, closing: Closing, earlier: StoredTrace) -> Outcome:
        """The outcome of spans that came to a trace after a later generation of it was stored."""
        trace = self._fetcher.fetch(closing)
        time_unix_nano = earlier.time_unix_nano
        return Outcome(
            trace=trace,
            outcome=TraceOutcome.LATE,
            time_unix_nano=time_unix_nano,
            feedback=feedback_of(trace),
        )

    def _trace(self, closing: Closing, earlier: StoredTrace | None) -> Trace:
        trace = self._fetcher.fetch(closing)
        if earlier is None:
            return trace
        # All generations lie in the partition of the first.
        return replace(trace, received_unix_nano=earlier.received_unix_nano)

    def _records(self, traces: Sequence[Trace], known: Known) -> list[list[RagRecord]]:
        # What asks a model for our own judge is traced where the provider does so: no loop.
        own = [is_own(trace.trace_id) for trace in traces]
        others = [trace for trace, is_ours in zip(traces, own, strict=True) if not is_ours]
        found = iter(records_of_each(others, self._rules))
        return [[] if is_ours else [_named(one, known) for one in next(found)] for is_ours in own]

    def _scored(self, found: Sequence[RagRecord], *, lean: bool) -> list[ScoredRecord]:
        for record in found:
            for what in record.truncated:
                metrics.TRUNCATED.labels(what).inc()
        if lean:
            metrics.LEAN.inc(len(found))
        every = (self._lean if lean else self._full).score_each(found)
        return [
            ScoredRecord(record=record, scores=scores, shape=measure(record))
            for record, scores in zip(found, every, strict=True)
        ]


def _outcome(
    trace: Trace, earlier: StoredTrace | None, scored: tuple[ScoredRecord, ...]
) -> Outcome:
    present = {one.record.record_id for one in scored}
    before = earlier.record_ids if earlier else ()
    return Outcome(
        trace=trace,
        outcome=_class_of(trace, scored),
        time_unix_nano=earlier.time_unix_nano if earlier else time_of(trace),
        records=scored,
        feedback=feedback_of(trace),
        gone=tuple(one for one in before if one not in present),
    )


def _named(found: RagRecord, known: Known) -> RagRecord:
    route = known.routes.admit(found.service, found.route)
    record = found if route == found.route else replace(found, route=route)
    epoch = known.epochs.get((record.service, record.environment, record.route))
    if not epoch or record.dimensions.index_epoch:
        return record
    return replace(record, dimensions=replace(record.dimensions, index_epoch=epoch))


def _class_of(trace: Trace, scored: tuple[ScoredRecord, ...]) -> TraceOutcome:
    if not trace.spans:
        return TraceOutcome.UNPARSEABLE
    return TraceOutcome.SCORED if scored else TraceOutcome.NOT_RAG


def time_of(trace: Trace) -> int:
    """The time by which windows count a trace, nanoseconds since the epoch.

    The end of its last span; the time of receipt where that lies more than 10 minutes ahead or
    24 hours back. A declared backfill keeps its own times.
    """
    ended = max((span.end_unix_nano for span in trace.spans), default=0)
    early, late = trace.received_unix_nano - BEHIND_NANOS, trace.received_unix_nano + AHEAD_NANOS
    if ended and (trace.backfill or early <= ended <= late):
        return ended
    metrics.CLOCK_SKEW.inc()
    return trace.received_unix_nano
