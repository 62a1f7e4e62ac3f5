"""The core's loop: frames from the spool, traces, records, scores, rows, checkpoint.

Everything it holds can be rebuilt from the spool and the store, so it may end at any line.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event

from alerts.watch.run import Watch
from clustering.grouping.process import ClusteringChild
from clustering.issues.job import IssueJob
from clustering.rca.job import RootCauseJob
from clustering.topics.job import TopicJob
from collector.assembly.fetch import TraceFetcher
from collector.assembly.refs import Closing
from collector.record.route import RouteCap
from collector.spool.reader import SpoolReader
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline import worker_counters as counted
from ragvigil.app.pipeline.assemblies import Assemblies
from ragvigil.app.pipeline.deferred_scoring import DeferredScoring
from ragvigil.app.pipeline.pool import JOB_CLOSINGS, ScoringPool
from ragvigil.app.pipeline.score import Fresh, Known, TraceScorer
from ragvigil.app.pipeline.sink import Sink
from ragvigil.app.pipeline.worker import Job
from ragvigil.app.process import memory
from ragvigil.model.span import Closed
from ragvigil.store.records.traces import StoredTrace
from scorers.export.queue import ExportQueue
from scorers.runner import Runner

FRAMES_A_TURN = 16
BEHIND_SPANS, BEHIND_CLOSINGS = 2_000, 256
"""With more spans unread, or traces to score at once, there is no time for local models."""
CLOSINGS_A_TURN = 128
TURN_BYTES = 16 << 20
READ_BELOW_CLOSINGS = 4_000
"""With fewer traces to score the next are read, so that some are complete when these are done."""
IDLE_SECONDS = 0.02
MEMORY_LOOK_SECONDS = 1.0
CHECKPOINT_SECONDS = 5.0
FINISH_SECONDS, POOL_SECONDS, WAIT_SECONDS = 10.0, 3.0, 0.1

LookUp = Callable[[Iterable[str]], Mapping[str, StoredTrace]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the pipeline is made of; the composition root fills it in."""

    reader: SpoolReader
    fetcher: TraceFetcher
    runs: Assemblies
    runner: Runner
    scoring: TraceScorer
    pool: ScoringPool
    routes: RouteCap
    sink: Sink
    look_up: LookUp
    later: DeferredScoring
    exporting: ExportQueue
    watching: Watch
    issues: IssueJob
    clusters: ClusteringChild
    explaining: RootCauseJob
    topics: TopicJob
    golden: GoldenJob

    def start(self) -> None:
        """Begins what has threads of its own."""
        self.later.start()
        self.exporting.start()

    def stop(self) -> None:
        """Ends them within seconds."""
        self.pool.stop()
        self.clusters.stop()
        self.explaining.stop()
        self.later.stop()
        self.exporting.stop()
        self.watching.stop()


class Pipeline:
    """Runs until told to stop; one thread.

    `started_at` is the checkpoint it began behind; `spans_before` and `spans_read` count the spans
    acknowledged up to there and up to the last frame read; `is_behind` says that more waits than
    leaves time for anything else. `memory_limit_bytes` is the machine's unless given.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        clock: Callable[[], float] = time.monotonic,
        memory_limit_bytes: int | None = None,
    ) -> None:
        self.parts = parts
        self._closed: deque[Closing] = deque()
        self.is_behind = False
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
        self.is_behind = False  # what still waits is for the next life: duties need not
        self._collect(POOL_SECONDS)
        self.parts.sink.finish(FINISH_SECONDS)
        self._checkpoint(float("inf"))

    def step(self) -> bool:
        """One turn; whether there was anything to do."""
        now = self._clock()
        read = self._read(now) if len(self._closed) < READ_BELOW_CLOSINGS else 0
        self._closed.extend(self.parts.runs.close_due(now) + self._relieve(now))
        self._give_way()
        is_busy = self._work_off(now)
        self._pass_over(self.parts.runs.drain_duplicates())
        opened = self.parts.runs.open_traces()
        in_work = next(self.parts.pool.closings(), None) is not None
        self.parts.watching.noticing.is_held = in_work
        is_last = not (opened or self._closed or in_work or self._unread())
        self.parts.sink.advance(now, is_behind=self.is_behind, is_last=is_last)
        self._checkpoint(now)
        self.parts.sink.publish(self.spans_read)
        metrics.OPEN_TRACES.set(opened)
        return bool(read) or is_busy

    def _work_off(self, now: float) -> bool:
        """Has some of the closings that wait scored, or scores them; whether any waited."""
        helps = self.parts.pool.helps(now, is_behind=self.is_behind)
        taken = self._take(JOB_CLOSINGS if helps else CLOSINGS_A_TURN)
        fresh = self._settle(taken)
        if fresh:
            (self._give if helps else self._score)(fresh)
        self._collect()
        return bool(taken)

    def _take(self, most: int) -> list[Closing]:
        """The next closings, each of another trace: a later generation looks for the one before.

        Fewer than `most` where they are large: what is made of a job is held in memory as a whole.
        """
        taken: dict[str, Closing] = {}
        size = 0
        while self._closed and len(taken) < most and size < TURN_BYTES:
            if self._closed[0].trace_id in taken:
                break
            closing = self._closed.popleft()
            taken[closing.trace_id] = closing
            size += sum(ref.size for ref in closing.refs)
        return list(taken.values())

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

    def _give_way(self) -> None:
        """Whether what waits leaves time for local models, here and in their own thread."""
        self.is_behind = self._unread() > BEHIND_SPANS or len(self._closed) > BEHIND_CLOSINGS
        self.parts.later.give_way(self.is_behind)

    def _relieve(self, now: float) -> list[Closing]:
        """Closes the oldest traces early while memory is short."""
        if now - self._looked_at_memory < MEMORY_LOOK_SECONDS:
            return []
        self._looked_at_memory = now
        return self.parts.runs.close_oldest(now) if memory.is_pressed(self._memory_limit) else []

    def _settle(self, closings: list[Closing]) -> list[Fresh]:
        """Those that are to be scored; of the others only the books are kept."""
        unsure = [one.trace_id for one in closings if self._may_be_stored(one)]
        known = self._look_up(unsure) if unsure else {}
        fresh = []
        for closing in closings:
            metrics.TRACES_CLOSED.labels(closing.reason).inc()
            if closing.reason is Closed.LATE_SPAN:
                metrics.LATE_SPANS.inc(len(closing.stored))
            earlier = known.get(closing.trace_id)
            if earlier is not None and self._is_stored(closing, earlier):
                self._settle_known(closing, earlier)
            else:
                fresh.append((closing, earlier))
        return fresh

    def _look_up(self, trace_ids: list[str]) -> Mapping[str, StoredTrace]:
        """What the store has of these traces, with what is on its way there."""
        wanted = frozenset(trace_ids)
        while any(one.trace_id in wanted for one, _ in self.parts.pool.closings()):
            self._collect(WAIT_SECONDS)
        self.parts.sink.send_if_it_holds(wanted)
        return self.parts.look_up(trace_ids)

    def _score(self, fresh: Sequence[Fresh]) -> None:
        started = time.perf_counter()
        outcomes = self.parts.scoring.outcomes(fresh, self._known(), lean=self.is_behind)
        _show_time(time.perf_counter() - started, len(fresh))
        self.parts.sink.add(fresh, outcomes, self._clock())

    def _give(self, fresh: list[Fresh]) -> None:
        known = replace(self._known(), routes=self.parts.routes.copy())
        job = Job(fresh=fresh, known=known, local_rate=self.parts.later.local.rate)
        self.parts.pool.give(job, self._clock())

    def _collect(self, seconds: float = 0.0) -> None:
        """Takes what others have scored; what they lost, or named otherwise, is scored here."""
        for fresh, made in self.parts.pool.finished(self._clock(), seconds):
            if made is None or not self.parts.routes.take(made.routes):
                self._score(fresh)
                continue
            counted.add(made.counted)
            _show_time(made.seconds, len(fresh))
            closings = [closing for closing, _ in fresh]
            self.parts.sink.absorb(closings, made.batch, made.digest, self._clock())

    def _known(self) -> Known:
        return Known(routes=self.parts.routes, epochs=self.parts.watching.noticing.epochs())

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
            late = self.parts.scoring.late(closing, earlier)
            self.parts.sink.add([(closing, earlier)], [late], self._clock())
            return
        metrics.REPLAYED.inc()
        if self.parts.later.wants(closing.trace_id):  # the crash may have come before the offer
            again = self.parts.scoring.outcomes([(closing, earlier)], self._known())
            self.parts.later.offer(again)
        self.parts.sink.known(stored=closing.stored, duplicate=closing.duplicates)

    def _pass_over(self, duplicates: list[int]) -> None:
        """Spans that came again long after their trace had closed."""
        metrics.DUPLICATE_SPANS.inc(len(duplicates))
        self.parts.sink.known(duplicate=duplicates)

    def _checkpoint(self, now: float) -> None:
        """Writes down, every few seconds, up to where nothing is needed any more."""
        if now - self._checked < CHECKPOINT_SECONDS:
            return
        self._checked = now
        needed = [
            self._next_seq,
            self.parts.sink.oldest_seq(),
            self.parts.pool.oldest_seq(),
            min((closing.first_seq for closing in self._closed), default=None),
            self.parts.runs.oldest_seq(self._clock()),
        ]
        self.parts.reader.checkpoint("core", min(seq for seq in needed if seq is not None) - 1)


def _show_time(seconds: float, traces: int) -> None:
    for _ in range(traces):
        metrics.SCORING.observe(seconds / traces)
