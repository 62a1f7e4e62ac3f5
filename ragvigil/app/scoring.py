"""What becomes of one closing: its trace, the answers in it, their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from collector.arrivals import Closing
from collector.fetch import TraceFetcher
from collector.record.route import RouteCap, RouteRules
from collector.records import records
from ragvigil.app import pipeline_metrics as metrics
from ragvigil.llm.guard import is_own
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Trace
from ragvigil.store.traces import StoredTrace
from scorers.record_shape import measure
from scorers.runner import Runner

AHEAD_NANOS = 600 * 10**9
BEHIND_NANOS = 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a record is named by beside its own spans: the routes that have a name of their own,
    and by service, environment and route the epoch of an index that its service does not say."""

    routes: RouteCap
    epochs: Mapping[tuple[str, str, str], str] = field(default_factory=dict)


class Scoring:
    """Turns closings into outcomes; `lean` leaves local models out. One thread."""

    def __init__(self, fetcher: TraceFetcher, runner: Runner, rules: RouteRules) -> None:
        self._fetcher, self._rules = fetcher, rules
        self._full, self._lean = runner, runner.lean()

    def outcome(
        self, closing: Closing, earlier: StoredTrace | None, known: Known, *, lean: bool = False
    ) -> Outcome:
        """The outcome of a closing; `earlier` is what the store has of its trace."""
        trace = self._fetcher.fetch(closing)
        if earlier is not None:  # all generations lie in the partition of the first
            trace = replace(trace, received_unix_nano=earlier.received_unix_nano)
        # What asks a model for our own judge is traced where the provider does so: no loop.
        found = () if is_own(trace.trace_id) else records(trace, self._rules)
        scored = tuple(self._scored(one, known, lean=lean) for one in found)
        present = {one.record.record_id for one in scored}
        return Outcome(
            trace=trace,
            outcome=_class_of(trace, scored),
            time_unix_nano=earlier.time_unix_nano if earlier else time_of(trace),
            records=scored,
            gone=tuple(
                one for one in (earlier.record_ids if earlier else ()) if one not in present
            ),
        )

    def late(self, closing: Closing, earlier: StoredTrace) -> Outcome:
        """The outcome of spans that came to a trace after a later generation of it was stored."""
        trace = self._fetcher.fetch(closing)
        time_unix_nano = earlier.time_unix_nano
        return Outcome(trace=trace, outcome=TraceOutcome.LATE, time_unix_nano=time_unix_nano)

    def _scored(self, found: RagRecord, known: Known, *, lean: bool) -> ScoredRecord:
        record = _named(found, known)
        for what in record.truncated:
            metrics.TRUNCATED.labels(what).inc()
        if lean:
            metrics.LEAN.inc()
        scores = (self._lean if lean else self._full).score_all(record)
        return ScoredRecord(record=record, scores=scores, shape=measure(record))


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
