"""The core's loop: frames from the spool, traces, records, scores, rows, checkpoint.

Everything it holds can be rebuilt from the spool and the store, so it may end at any line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from threading import Event

from collector.assembly import Closing
from collector.feedback import told_of
from collector.fetch import TraceFetcher
from collector.record.route import RouteCap, RouteRules
from collector.records import records
from collector.spool.reader import SpoolReader
from ragvigil.app import memory
from ragvigil.app import pipeline_metrics as metrics
from ragvigil.app.clustering_child import ClusteringChild
from ragvigil.app.explaining import Explaining
from ragvigil.app.exporting import Exporting
from ragvigil.app.golden_job import GoldenJob
from ragvigil.app.issue_job import IssueJob
from ragvigil.app.later import Later
from ragvigil.app.runs import Runs
from ragvigil.app.sink import Sink
from ragvigil.app.topic_job import TopicJob
from ragvigil.app.watching import Watching
from ragvigil.llm.guard import is_own
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Closed, Trace
from ragvigil.store.traces import StoredTrace
from scorers.record_shape import measure
from scorers.runner import Runner

FRAMES_A_TURN = 16
BEHIND_SPANS, BEHIND_CLOSINGS = 2_000, 256
"""With more spans unread, or traces to score at once, there is no time for local models."""
CLOSINGS_A_TURN = 64
IDLE_SECONDS = 0.02
MEMORY_LOOK_SECONDS = 1.0
CHECKPOINT_SECONDS = 5.0
FINISH_SECONDS = 10.0
AHEAD_NANOS = 600 * 10**9
BEHIND_NANOS = 24 * 3600 * 10**9

LookUp = Callable[[Iterable[str]], Mapping[str, StoredTrace]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the pipeline is made of; the composition root fills it in."""

    reader: SpoolReader
    fetcher: TraceFetcher
    runs: Runs
    runner: Runner
    rules: RouteRules
    routes: RouteCap
    sink: Sink
    look_up: LookUp
    later: Later
    exporting: Exporting
    watching: Watching
    issues: IssueJob
    clusters: ClusteringChild
    explaining: Explaining
    topics: TopicJob
    golden: GoldenJob

    def start(self) -> None:
        """Begins what has threads of its own."""
        self.later.start()
        self.exporting.start()

    def stop(self) -> None:
        """Ends them within seconds."""
        self.clusters.stop()
        self.explaining.stop()
        self.later.stop()
        self.exporting.stop()
        self.watching.stop()


class Pipeline:
    """Runs until told to stop; one thread.

    `started_at` is the checkpoint it began behind; `spans_before` and `spans_read` count the spans
    acknowledged up to there and up to the last frame read. `memory_limit_bytes` is the machine's
    unless given.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        clock: Callable[[], float] = time.monotonic,
        memory_limit_bytes: int | None = None,
    ) -> None:
        self.parts = parts
        self._lean, self._is_behind = parts.runner.lean(), False
        self._clock = clock
        self._next_seq = parts.reader.checkpoint_of("core") + 1
        self.started_at = self._next_seq - 1
        first = next(parts.reader.read(self._next_seq), None)
        spans_read = first.spans_before if first else parts.reader.mark().spans
        self.spans_before = self.spans_read = spans_read
        parts.sink.publish(spans_read)
        self._replay_until = parts.reader.durable_seq()
        self._memory_limit = memory_limit_bytes or memory.limit_bytes()
        self._looked_at_memory = 0.0
        self._checked = 0.0

    def run(self, stop: Event) -> None:
        """Loops until `stop`; returns with every batch written and the checkpoint on disk."""
        while not stop.is_set():
            if not self.step():
                stop.wait(IDLE_SECONDS)
        self.parts.sink.finish(FINISH_SECONDS)
        self._checkpoint(float("inf"))

    def step(self) -> bool:
        """One turn; whether there was anything to do."""
        now = self._clock()
        read = self._read(now)
        closings = self.parts.runs.close_due(now) + self._relieve(now)
        self._give_way(len(closings))
        for first in range(0, len(closings), CLOSINGS_A_TURN):
            self._settle(closings[first : first + CLOSINGS_A_TURN])
            self.parts.sink.advance(self._clock())
        self.parts.sink.duplicates(self.parts.runs.drain_duplicates())
        self.parts.sink.advance(now)
        self._checkpoint(now)
        self.parts.sink.publish(self.spans_read)
        metrics.OPEN_TRACES.set(self.parts.runs.open_traces())
        return bool(read or closings)

    def _read(self, now: float) -> int:
        read = 0
        for frame in self.parts.reader.read(self._next_seq):
            arrivals = self.parts.fetcher.arrivals(frame)
            self.parts.sink.opened(frame, len(arrivals))
            self.parts.runs.add(frame, arrivals, now)
            self._next_seq = frame.seq + 1
            self.spans_read = frame.spans_after
            read += 1
            if read == FRAMES_A_TURN:
                break
        metrics.SPOOL_BEHIND.set(self._unread())
        return read

    def _unread(self) -> int:
        """Spans acknowledged and not read yet."""
        return self.parts.reader.mark().spans - self.spans_read

    def _give_way(self, closings: int) -> None:
        """Whether what waits leaves time for local models, here and in their own thread."""
        self._is_behind = self._unread() > BEHIND_SPANS or closings > BEHIND_CLOSINGS
        self.parts.later.give_way(self._is_behind)

    def _relieve(self, now: float) -> list[Closing]:
        """Closes the oldest traces early while memory is short."""
        if now - self._looked_at_memory < MEMORY_LOOK_SECONDS:
            return []
        self._looked_at_memory = now
        return self.parts.runs.close_oldest(now) if memory.is_pressed(self._memory_limit) else []

    def _settle(self, closings: list[Closing]) -> None:
        unsure = [one.trace_id for one in closings if self._may_be_stored(one)]
        known = self.parts.look_up(unsure) if unsure else {}
        for closing in closings:
            metrics.TRACES_CLOSED.labels(closing.reason).inc()
            if closing.reason is Closed.LATE_SPAN:
                metrics.LATE_SPANS.inc(len(closing.stored))
            earlier = known.get(closing.trace_id)
            if earlier is not None and self._is_stored(closing, earlier):
                self._settle_known(closing, earlier)
            else:
                self._hand_on(closing, self._outcome(closing, earlier), earlier)

    def _hand_on(self, closing: Closing, outcome: Outcome, earlier: StoredTrace | None) -> None:
        told = told_of(outcome.trace)
        self.parts.sink.add(closing, outcome, earlier, self._clock(), told)

    def _may_be_stored(self, closing: Closing) -> bool:
        """Whether the store may hold this trace: after a late span, a lost root, a replay."""
        return closing.reason is not Closed.ROOT_ENDED or closing.first_seq <= self._replay_until

    def _is_stored(self, closing: Closing, earlier: StoredTrace) -> bool:
        """Whether the store has this generation; a late log record changes a trace all the same."""
        is_change = closing.reason is Closed.LATE_SPAN and closing.first_seq > self._replay_until
        return earlier.generation >= len(closing.refs) and not is_change

    def _settle_known(self, closing: Closing, earlier: StoredTrace) -> None:
        """The store has this generation or a later one: nothing of it may have a second effect."""
        if earlier.generation > len(closing.refs) and closing.first_seq > self._replay_until:
            trace = self.parts.fetcher.fetch(closing)
            outcome = Outcome(
                trace=trace, outcome=TraceOutcome.LATE, time_unix_nano=earlier.time_unix_nano
            )
            self._hand_on(closing, outcome, earlier)
            return
        metrics.REPLAYED.inc()
        if self.parts.later.wants(closing.trace_id):  # the crash may have come before the offer
            self.parts.later.offer([self._outcome(closing, earlier)])
        self.parts.sink.known(closing)

    def _outcome(self, closing: Closing, earlier: StoredTrace | None) -> Outcome:
        started = time.perf_counter()
        trace = self.parts.fetcher.fetch(closing)
        if earlier is not None:  # all generations lie in the partition of the first
            trace = replace(trace, received_unix_nano=earlier.received_unix_nano)
        # What asks a model for our own judge is traced where the provider does so: no loop.
        found = () if is_own(trace.trace_id) else records(trace, self.parts.rules)
        scored = tuple(self._scored(record) for record in found)
        metrics.SCORING.observe(time.perf_counter() - started)
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

    def _scored(self, found: RagRecord) -> ScoredRecord:
        route = self.parts.routes.admit(found.service, found.route)
        record = found if route == found.route else replace(found, route=route)
        record = self.parts.watching.dated(record)
        for what in record.truncated:
            metrics.TRUNCATED.labels(what).inc()
        if self._is_behind:
            metrics.LEAN.inc()
        scores = (self._lean if self._is_behind else self.parts.runner).score_all(record)
        return ScoredRecord(record=record, scores=scores, shape=measure(record))

    def _checkpoint(self, now: float) -> None:
        """Writes down, every few seconds, up to where nothing is needed any more."""
        if now - self._checked < CHECKPOINT_SECONDS:
            return
        self._checked = now
        needed = [
            self._next_seq,
            self.parts.sink.oldest_seq(),
            self.parts.runs.oldest_seq(self._clock()),
        ]
        self.parts.reader.checkpoint("core", min(seq for seq in needed if seq is not None) - 1)


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
