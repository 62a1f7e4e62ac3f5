"""The core's loop: frames from the spool, traces, records, scores, rows, checkpoint.

Everything it holds can be rebuilt from the spool and the store, so it may end at any line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Event

import structlog

from collector.assembly.fetch import TraceFetcher
from collector.assembly.refs import Arrival, Closing, LogArrival
from collector.record.route import RouteCap
from collector.spool.frames import Frame
from collector.spool.reader import SpoolReader
from ragvigil.app.pipeline import metrics, worker_counters
from ragvigil.app.pipeline.assemblies import Assemblies
from ragvigil.app.pipeline.backlog import Backlog
from ragvigil.app.pipeline.catch_up import CatchUp, Lag
from ragvigil.app.pipeline.deferred_scoring import DeferredScoring
from ragvigil.app.pipeline.erased_traces import without_erased
from ragvigil.app.pipeline.joining import Joining
from ragvigil.app.pipeline.known import Lookup, is_part, is_stored, may_be_stored
from ragvigil.app.pipeline.ledger import Edge
from ragvigil.app.pipeline.noticing import Noticing
from ragvigil.app.pipeline.passed import Passed
from ragvigil.app.pipeline.pool import JOB_CLOSINGS, ScoringPool
from ragvigil.app.pipeline.quarantine import Quarantine
from ragvigil.app.pipeline.score import RecordContext, TraceScorer, Unscored
from ragvigil.app.pipeline.sink import Sink, SpanPlaces
from ragvigil.app.pipeline.worker import Job
from ragvigil.app.process.heartbeat import Heartbeat
from ragvigil.app.process.memory import Pressure
from ragvigil.app.process.precedence import PIPELINE_SECONDS, Precedence
from ragvigil.model.span import Closed
from ragvigil.store.records.traces import StoredTrace

log = structlog.get_logger()

FRAMES_A_TURN = 16
BEHIND_SPANS, BEHIND_CLOSINGS = 2_000, 256
"""With more spans unread, or more closed traces unscored, there is no time for local models."""
CLOSINGS_A_TURN = 128
READ_BELOW_CLOSINGS = 4_000
"""Below this backlog the loop reads on: a trace needs two seconds of quiet before it closes, and
that time passes while earlier ones are scored (ADR 17)."""
LOOK_SECONDS, IDLE_SECONDS, LOOKS_A_TURN = 0.1, 0.2, 5
"""Waits between two looks at the spool, while a trace is open and while none is, and the looks
without news before the next turn. A trace waits two seconds for its last span: ten looks a second
add little."""
JOIN_SECONDS = 1.0
"""While there is more to score, traces are joined once in so long: each time asks the store."""
FINISH_SECONDS, POOL_SECONDS, WAIT_SECONDS = 10.0, 3.0, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineParts:
    """What the loop reads, assembles, scores and writes with."""

    reader: SpoolReader
    fetcher: TraceFetcher
    assemblies: Assemblies
    routes: RouteCap
    lookup: Lookup
    scorer: TraceScorer
    pool: ScoringPool
    sink: Sink
    deferred: DeferredScoring
    noticing: Noticing
    heartbeat: Heartbeat
    precedence: Precedence
    quarantine: Quarantine
    joining: Joining


class Pipeline:
    """Runs until `stop` is set; one thread. Other threads read its attributes and properties.

    `started_at` is the checkpoint it began behind; `spans_before` and `spans_read` count the spans
    acknowledged up to there and up to the last frame read. `open_traces` counts the traces that
    waited for their last span at the end of the last turn. `is_behind` is true while the spool or
    the backlog of closed traces is too long to leave time for anything else.
    `memory_limit_bytes` defaults to the memory of the container or the machine.
    """

    def __init__(
        self,
        parts: PipelineParts,
        *,
        clock: Callable[[], float] = time.monotonic,
        memory_limit_bytes: int | None = None,
    ) -> None:
        self._parts = parts
        self._backlog = Backlog(parts.quarantine.is_suspect)
        self._clock = clock
        checkpoint = parts.reader.checkpoint_of("core")
        self.started_at, self._next_seq = checkpoint.seq, checkpoint.seq + 1
        spans_read = checkpoint.spans
        if spans_read is None:
            first = next(parts.reader.read(self._next_seq), None)
            spans_read = first.spans_before if first else parts.reader.mark().spans
        self.spans_before = self.spans_read = spans_read
        self._passed = Passed(parts.reader, self._place())
        parts.sink.publish(spans_read)
        self.is_behind = self._unread() > BEHIND_SPANS
        self._catch_up = CatchUp(self._unread(), is_behind=self.is_behind)
        # Frames up to here may have been scored by an earlier life of this process.
        self._replay_until = parts.reader.durable_seq
        self._memory = Pressure(memory_limit_bytes)
        self.open_traces, self._joined_at, self._is_last = 0, 0.0, False
        self._let_readers_go_first = parts.precedence.pauses(PIPELINE_SECONDS)

    @property
    def span_places(self) -> SpanPlaces:
        """Where the spans are, as of the end of the last turn."""
        return self._parts.sink.places

    @property
    def lag(self) -> Lag | None:
        """What it is behind by; None while fewer than BEHIND_SPANS wait to be scored."""
        return self._catch_up.lag

    def run(self, stop: Event) -> None:
        """Loops until `stop`; returns with every batch written and the checkpoint on disk."""
        while not stop.is_set():
            if not self.step():
                self._rest(stop)
        self._parts.heartbeat.unwatched()
        # The rest of the spool is for the next life: jobs need not wait for this one any more.
        self.is_behind = False
        self._collect(POOL_SECONDS)
        self._parts.sink.finish(FINISH_SECONDS)
        self._checkpoint(float("inf"))

    def step(self) -> bool:
        """One turn; returns whether there was anything to do. Its order:

        1. Read frames, then close traces: a span that is already in the spool joins its trace
           before the trace is judged quiet.
        2. Measure the backlog before scoring: it decides whether local models run, and whether
           the pool helps.
        3. Score and count duplicates before the sink advances: a frame can be settled once all
           of its spans are accounted for.
        4. Tell `noticing` whether the pool holds older records before the sink offers newer ones:
           it takes records in the order of their time.
        5. Advance the sink, then the checkpoint: it may pass what has just become durable.
        6. Publish last, so that other threads see the places of all spans read in this turn.
        """
        now = self._clock()
        parts = self._parts
        parts.heartbeat.unwatched()
        read = self._read(now) if len(self._backlog) < READ_BELOW_CLOSINGS else 0
        if read == FRAMES_A_TURN or (not read and self._unread()):
            parts.assemblies.wait(now)
        self._backlog.add(parts.assemblies.close(now, relieves=self._memory.is_high(now)))
        self._measure_backlog(now)
        is_busy = self._score_batch(now)
        is_busy = self._join(now, is_busy=is_busy) or is_busy
        duplicates = parts.assemblies.drain_duplicates()
        metrics.DUPLICATE_SPANS.inc(len(duplicates))
        parts.sink.account(duplicate=duplicates)
        # Other threads read the number: the assemblies change while they would count.
        self.open_traces = parts.assemblies.open_traces()
        has_jobs = next(parts.pool.closings(), None) is not None
        parts.noticing.is_held = has_jobs
        self._is_last = not (self.open_traces or self._backlog or has_jobs or self._unread())
        parts.sink.advance(now, is_behind=self.is_behind, is_last=self._is_last)
        self._checkpoint(now)
        parts.sink.publish(self.spans_read)
        metrics.OPEN_TRACES.set(self.open_traces)
        return bool(read) or is_busy

    def _rest(self, stop: Event) -> None:
        """Waits for what may come next: a turn takes ten times as long as a look for news."""
        self._parts.heartbeat.idle()
        is_busy = not self._is_last or self._parts.sink.is_writing
        for _ in range(1 if is_busy else LOOKS_A_TURN):
            if stop.wait(LOOK_SECONDS if is_busy else IDLE_SECONDS):
                return
            if self._parts.reader.durable_seq >= self._next_seq or self._parts.joining.is_waiting:
                return

    def _score_batch(self, now: float) -> bool:
        """Scores up to one batch of closed traces, in a worker if one helps.

        Returns whether any trace waited.
        """
        # The core scores beside the workers: it would only wait otherwise (ADR 17).
        pool, backlog = self._parts.pool, self._backlog
        helps = pool.helps(now, is_behind=self.is_behind, has_large=backlog.has_large)
        closings = backlog.next_batch(JOB_CLOSINGS if helps else CLOSINGS_A_TURN)
        if closings or backlog.has_large:  # before the first is in work: it takes a second
            self._parts.scorer.prepare(self._parts.heartbeat)
        if is_suspect := any(map(self._parts.quarantine.is_suspect, closings)):
            self._parts.sink.finish(FINISH_SECONDS)  # what ends the core then is the suspect
        if unscored := self._settle_stored(closings):
            with self._parts.quarantine.trial([closing for closing, _ in unscored]):
                (self._give_to_pool if helps and not is_suspect else self._score)(unscored)
        is_busy = self._score_large() or bool(closings)
        self._collect()
        return is_busy

    def _join(self, now: float, *, is_busy: bool) -> bool:
        """Scores traces anew whose spans came to several daemons; returns whether any was."""
        if is_busy and now - self._joined_at < JOIN_SECONDS:
            return False
        if not (taken := self._parts.joining.take()):
            return False
        self._joined_at = now
        self._flush(trace_id for trace_id, _ in taken)
        made = self._parts.joining.outcomes(taken, self._parts.scorer, self._context())
        self._parts.sink.add(*made, now)
        return bool(made[1])  # those that wait for the store let the pipeline rest

    def _score_large(self) -> bool:
        """Scores one large trace, in a worker where there is one; returns whether it did."""
        pool = self._parts.pool
        if pool.has_workers and not pool.takes_large():
            return False
        large = self._backlog.next_large({closing.trace_id for closing, _ in pool.closings()})
        if large is None:
            return False
        if unscored := self._settle_stored([large]):
            if pool.has_workers:
                self._give_to_pool(unscored, is_large=True)
            else:
                self._score(unscored)
        return True

    def _read(self, now: float) -> int:
        """Hands the next frames to the assemblies; returns how many."""
        read = 0
        for frame in self._parts.reader.read(self._next_seq):
            arrivals = self._arrivals(frame)
            self._parts.sink.opened(frame, len(arrivals))
            self._parts.assemblies.add(frame, arrivals, now)
            self._next_seq = frame.seq + 1
            self.spans_read = frame.spans_after
            read += 1
            if read == FRAMES_A_TURN:
                break
        self._pass_lost()
        metrics.SPOOL_BEHIND.set(self._unread())
        return read

    def _pass_lost(self) -> None:
        """Goes on to the end of the spool if everything there was read; what was not is lost."""
        end = self._parts.reader.caught_up
        if end and end.seq >= self._next_seq - 1 and end.spans > self.spans_read:
            self._next_seq, self.spans_read = end.seq + 1, end.spans
            self._parts.sink.account(lost_before=self._place())

    def _place(self) -> Edge:
        """The place before the next frame."""
        return Edge(self._next_seq, self.spans_read)

    def _arrivals(self, frame: Frame) -> list[Arrival | LogArrival]:
        """The frame's spans or log records; none if it is quarantined."""
        parts = self._parts
        if parts.quarantine.holds(frame):
            parts.quarantine.keep([frame.seq])
            return []
        if parts.quarantine.is_suspect(frame):
            parts.sink.finish(FINISH_SECONDS)
        with parts.quarantine.trial([frame]), parts.heartbeat.reads(frame.seq):
            return parts.fetcher.arrivals(frame)

    def _unread(self) -> int:
        """Spans acknowledged and not read yet."""
        return self._parts.reader.mark().spans - self.spans_read

    def _measure_backlog(self, now: float) -> None:
        """Updates `is_behind` and `lag`; pauses local models and the judge."""
        unread = self._unread()
        self.is_behind = unread > BEHIND_SPANS or len(self._backlog) > BEHIND_CLOSINGS
        is_lag = unread + self._backlog.spans() > BEHIND_SPANS
        waiting = self._parts.sink.places.waiting
        done, to_go = self.spans_read - waiting, unread + waiting
        self._catch_up.update(now, done=done, to_go=to_go, is_behind=is_lag)
        self._parts.deferred.give_way(self.lag, is_behind=self.is_behind)

    def _settle_stored(self, closings: list[Closing]) -> list[Unscored]:
        """Accounts for quarantined closings and those that the store has; returns the others."""
        until, ours = self._replay_until, self._parts.sink.replica
        unsure = [closing.trace_id for closing in closings if may_be_stored(closing, until)]
        self._flush(unsure)
        stored = self._parts.lookup(unsure) if unsure else {}
        if stored is None:  # the store is away: what it may hold waits for it
            self._backlog.put_back(closings)
            return []
        unscored = []
        for closing in without_erased(closings, self._parts.sink):
            metrics.TRACES_CLOSED.labels(closing.reason).inc()
            if closing.reason is Closed.LATE_SPAN:
                metrics.LATE_SPANS.inc(len(closing.stored))
            if self._parts.quarantine.holds(closing):
                self._leave_out(closing)
                continue
            earlier = stored.get(closing.trace_id)
            if earlier and is_stored(closing, earlier, ours, until):
                self._settle_known(closing, earlier)
            else:
                unscored.append((closing, earlier))
        return unscored

    def _flush(self, trace_ids: Iterable[str]) -> None:
        """Has what pool and sink hold of these traces written, so that the store can be asked."""
        if not (in_question := frozenset(trace_ids)):
            return
        while any(closing.trace_id in in_question for closing, _ in self._parts.pool.closings()):
            self._collect(WAIT_SECONDS)
        self._parts.sink.send_if_it_holds(in_question)

    def _score(self, unscored: Sequence[Unscored]) -> None:
        with self._parts.heartbeat.scores([closing.trace_id for closing, _ in unscored]):
            started = time.perf_counter()
            context, lean = self._context(), self.is_behind
            outcomes = self._parts.scorer.outcomes(unscored, context, lean=lean, beat=self._beat)
            metrics.observe_scoring(time.perf_counter() - started, len(unscored))
            self._parts.sink.add(unscored, outcomes, self._clock())

    def _beat(self) -> None:
        """Says that the work gets on, and lets readers go first; called from trace to trace."""
        self._parts.heartbeat.beat()
        if not self.is_behind:
            self._let_readers_go_first()

    def _give_to_pool(self, unscored: list[Unscored], *, is_large: bool = False) -> None:
        # The worker admits routes on its own copy; `_collect` takes them over or rejects the job.
        context = replace(self._context(), routes=self._parts.routes.copy())
        rates = self._parts.deferred.rates
        job = Job(unscored=unscored, context=context, rates=rates, lean=self.is_behind)
        if not self._parts.pool.give(job, self._clock(), is_large=is_large):
            self._score(unscored)

    def _collect(self, seconds: float = 0.0) -> None:
        """Collects worker results; rescores jobs that failed or used a route we rejected.

        Waits up to `seconds` for the first result.
        """
        for unscored, result in self._parts.pool.finished(self._clock(), seconds):
            if result is None:
                for each in unscored:  # what the process was lost in is then alone in work
                    self._score([each])
                continue
            if not self._parts.routes.take(result.routes):
                self._score(unscored)
                continue
            worker_counters.add(result.counter_increases)
            metrics.observe_scoring(result.seconds, len(unscored))
            closings = [closing for closing, _ in unscored]
            self._parts.sink.absorb(closings, result.batch, result.summary, self._clock())

    def _context(self) -> RecordContext:
        parts = self._parts
        bars = parts.deferred.labelling.of_every_answer
        return RecordContext(routes=parts.routes, epochs=parts.noticing.epochs(), bars=bars)

    def _settle_known(self, closing: Closing, earlier: StoredTrace) -> None:
        """Accounts for a closing that is stored already: it must have no second effect."""
        if is_part(closing, earlier, self._parts.sink.replica, self._replay_until):
            with self._parts.heartbeat.scores([closing.trace_id]):
                late = self._parts.scorer.late(closing, earlier)
            self._parts.sink.add([(closing, earlier)], [late], self._clock())
            return
        metrics.REPLAYED.inc()
        # A crash may have come after the rows were durable and before anybody was told of them.
        self._parts.sink.dirty_minutes.add([earlier.minute])
        if self._parts.deferred.wants(closing.trace_id):
            with self._parts.heartbeat.scores([closing.trace_id]):
                outcomes = self._parts.scorer.outcomes([(closing, earlier)], self._context())
            self._parts.deferred.offer(outcomes)
        stored, left_out = earlier.parted(closing.stored)
        self._parts.sink.account(stored=stored, duplicate=closing.duplicates, not_kept=left_out)

    def _leave_out(self, closing: Closing) -> None:
        """Accounts for a quarantined closing, and keeps the requests that brought it."""
        self._parts.quarantine.keep(ref.seq for ref in closing.refs)
        self._parts.sink.account(quarantined=closing.stored, duplicate=closing.duplicates)

    def _checkpoint(self, now: float) -> None:
        """Writes, every few seconds, the last frame that nothing needs any more.

        A frame is needed while a trace in it is open, may still get a late span, or is not durable.
        """
        if not self._passed.is_due(now):
            return
        needed = [
            self._next_seq,
            self._parts.sink.oldest_seq(),
            self._parts.pool.oldest_seq(),
            self._backlog.oldest_seq(),
            self._parts.assemblies.oldest_seq(self._clock()),
        ]
        self._passed.write(now, self._place(), min(seq for seq in needed if seq is not None))
