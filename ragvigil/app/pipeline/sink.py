"""Gathers outcomes into batches, writes them in order, and settles them once they are durable.

Nothing is counted as stored before the store says that it is durable.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

import structlog

from alerts.deltas.metrics import ScoreMetrics
from collector.assembly.refs import Closing
from collector.spool.frames import Frame
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.app.pipeline.ledger import Edge, FrameLedger, FrameRow
from ragvigil.app.pipeline.score import Unscored
from ragvigil.app.pipeline.summary import OutcomeSummary, Summarizer, gather
from ragvigil.model.outcome import Outcome
from ragvigil.store.engine.batch import Batch, QuarantinedRow, WriteResult
from ragvigil.store.engine.store import Store
from ragvigil.store.records import ledger
from ragvigil.store.records.traces import RubricFacts, TraceRows

log = structlog.get_logger()

KINDS = ("stored", "duplicate", "quarantined", "lost", "not_kept")
LOG_SECONDS = 10.0
"""Losses of so many seconds are one line of the log: a damaged disk brings many small ones."""
LARGEST = 4
"""While the core is behind, a batch may grow to this many times its usual size.

A span then takes 30 us to insert and 5 to merge, instead of 62 and 33 (ADR 17).
"""
LONGEST = 2
"""And its oldest row may wait this many times as long: four times as long saved no time."""


@dataclass(slots=True)
class _Pending:
    """What one batch makes durable, and the summaries of it."""

    summaries: list[OutcomeSummary] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    frames: list[FrameRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPlaces:
    """Where spans are at one moment: in durable ledger rows, or `waiting` for one.

    `read` counts the spans read from the spool since it began. `ahead` counts the spans of frames
    that have a row from an earlier life of this process, and that the replay has not reached yet.
    Every frame before `edge` has a durable row; `edge` is None before any frame was read.
    """

    stored: int
    duplicate: int
    quarantined: int
    lost: int
    not_kept: int
    waiting: int
    read: int
    ahead: int = 0
    edge: Edge | None = None


class Sink:
    """Takes outcomes, hands batches to the store, keeps the ledger. Not thread-safe.

    `settled` are the frames after the checkpoint that have a ledger row from an earlier life of
    this process, with their spans: a replay reads them again. `begin` is the place behind the
    checkpoint, where the checkpoint says it. `sums` counts the spans of all ledger rows by kind.
    `on_durable` gets the summary of outcomes once they are durable, before their spans are settled.
    """

    def __init__(
        self,
        store: Store,
        scores: ScoreMetrics,
        rubrics: Mapping[str, RubricFacts],
        *,
        settled: Mapping[int, int] | None = None,
        begin: Edge | None = None,
        sums: Mapping[str, int],
        dirty_minutes: DirtyMinutes,
        summarizer: Summarizer,
        on_durable: Callable[[OutcomeSummary], None],
        clock_unix: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._scores = store, scores
        self.erased, self.replica = store.erased, store.replica
        self._rows = TraceRows(rubrics, replica=store.replica, epoch=store.epoch)
        settled = settled or {}
        self._ledger = FrameLedger(settled, begin)
        self._settled_before = frozenset(settled)
        self._last_settled_before = max(settled, default=0)
        self._ahead = sum(settled.values())
        self._lost, self._lost_logged = 0, -LOG_SECONDS
        self._summarizer, self._on_durable = summarizer, on_durable
        self.dirty_minutes = dirty_minutes
        self._pending = _Pending()
        self._sent, self._frames_sent = float("-inf"), 0.0
        self._in_flight: deque[tuple[Future[WriteResult], _Pending]] = deque()
        self._clock_unix = clock_unix
        self._sums = Counter({kind: sums[kind] for kind in KINDS})
        # Other threads read it without a lock: it is frozen, and replaced as a whole.
        self.places = self._places_now(0)

    def opened(self, frame: Frame, arrived: int) -> None:
        """Opens a frame in the ledger; its spans beyond `arrived` were unreadable: quarantined."""
        if frame.seq in self._settled_before:
            self._ahead = max(0, self._ahead - frame.spans)
        if frame.seq >= self._last_settled_before:
            self._ahead = 0
        if not frame.spans:
            return
        self._lost += self._ledger.opened(
            frame.seq,
            spans=frame.spans,
            spans_before=frame.spans_before,
            received_unix_nano=frame.received_unix_nano,
        )
        self._ledger.count(quarantined=[frame.seq] * (frame.spans - arrived))

    def add(self, unscored: Sequence[Unscored], outcomes: Sequence[Outcome], now: float) -> None:
        """Adds the outcomes of closings to the next batch."""
        self._rows.note_erasures(self.erased.count)
        gather(unscored, outcomes, self._rows, self._summarizer, now)
        self._pending.closings += [closing for closing, _ in unscored]

    def absorb(
        self, closings: Sequence[Closing], batch: Batch, summary: OutcomeSummary, now: float
    ) -> None:
        """Adds to the next batch what a worker made of closings."""
        self._rows.absorb(batch, now)
        self._pending.summaries.append(summary)
        self._pending.closings += closings

    def send_if_it_holds(self, trace_ids: Collection[str]) -> None:
        """Sends the next batch now if it has one of these traces, so that a later read sees it."""
        if any(closing.trace_id in trace_ids for closing in self._pending.closings):
            self._send()

    @property
    def is_writing(self) -> bool:
        """Whether rows wait to be sent, or to be durable."""
        return bool(self._in_flight or self._pending.closings)

    def account(
        self,
        *,
        stored: Sequence[int] = (),
        duplicate: Sequence[int] = (),
        quarantined: Sequence[int] = (),
        not_kept: Sequence[int] = (),
        lost_before: Edge | None = None,
    ) -> None:
        """Accounts for spans that need no rows; each span is given by the seq of its frame.

        What should lie before `lost_before`, and was not read although everything was, is lost.
        """
        self._ledger.count(
            stored=stored, duplicate=duplicate, quarantined=quarantined, not_kept=not_kept
        )
        if lost_before is not None:
            self._lost += self._ledger.passed(lost_before, int(self._clock_unix() * 1e9))

    def advance(self, now: float, *, is_behind: bool = False, is_last: bool = False) -> bool:
        """Sends what is due and settles what is durable; returns whether anything became durable.

        While the core `is_behind`, batches are larger. If nothing more comes for now (`is_last`),
        the batch is sent without waiting for more rows, unless one has just been sent: at a request
        a second each would be the last.
        """
        settled = self._settle()
        self._log_losses(now)
        limits = self._store.settings
        # Back-pressure: the loop waits here while the store is slower than the scoring.
        while self._in_flight and self._rows.is_full(limits, LARGEST):
            wait([self._in_flight[0][0]], timeout=1.0)
            settled = self._settle() or settled
        is_alone = is_last and now - self._sent >= limits.linger
        times, waits = (LARGEST, LONGEST) if is_behind else (1, 0 if is_alone else 1)
        if not self._in_flight and self._rows.is_due(now, limits, times=times, waits=waits):
            self._send()
            self._sent = now
        if now - self._frames_sent >= limits.linger and self._send_frames():
            self._frames_sent = now
        return settled

    def finish(self, seconds: float) -> None:
        """Sends everything within `seconds`; what is not durable by then stays in the spool."""
        deadline = time.monotonic() + seconds
        if self._pending.closings:
            self._send()
        self._drain(deadline)
        # A frame is settled, and has a row, only once the spans of its traces are durable.
        self._send_frames()
        self._drain(deadline)

    def oldest_seq(self) -> int | None:
        """The first frame with something that is not durable yet."""
        batches = [pending for _, pending in self._in_flight] + [self._pending]
        seqs = [closing.first_seq for pending in batches for closing in pending.closings]
        seqs += [row.seq for pending in batches for row in pending.frames]
        return min((*seqs, *filter(None, [self._ledger.oldest_seq()])), default=None)

    def publish(self, spans_read: int) -> None:
        """Updates `places` for other threads."""
        self.places = self._places_now(spans_read)
        metrics.LOST_SPANS.set(self.places.lost)

    def _log_losses(self, now: float) -> None:
        if self._lost and now - self._lost_logged >= LOG_SECONDS:
            log.error(
                "acknowledged spans are lost: the spool counts them and no longer has them",
                spans=self._lost,
                see="spool/quarantine in data_dir, and the runbook under RagDataLost",
            )
            self._lost, self._lost_logged = 0, now

    def _places_now(self, spans_read: int) -> SpanPlaces:
        in_flight = [row for _, pending in self._in_flight for row in pending.frames]
        waiting = sum(row.spans for row in in_flight) + self._ledger.waiting_spans()
        sums = {kind: self._sums[kind] for kind in KINDS}
        edge = self._ledger.edge()
        return SpanPlaces(
            **sums,
            waiting=waiting,
            read=spans_read,
            ahead=self._ahead,
            edge=edge and min([edge, *(row.edge for row in in_flight)]),
        )

    def _send(self) -> None:
        pending, self._pending = self._pending, _Pending()
        pending.summaries.append(self._summarizer.take())
        self._in_flight.append((self._store.submit(self._rows.take()), pending))

    def _send_frames(self) -> bool:
        """Sends the rows of settled frames; returns whether there were any."""
        frames = self._ledger.settled()
        if frames:
            batch = ledger.batch(frames, replica=self._store.replica, epoch=self._store.epoch)
            self._in_flight.append((self._store.submit(batch), _Pending(frames=frames)))
        return bool(frames)

    def _drain(self, deadline: float) -> None:
        seconds = max(0.0, deadline - time.monotonic())
        wait([future for future, _ in self._in_flight], timeout=seconds)
        self._settle()

    def _settle(self) -> bool:
        settled = False
        while self._in_flight and self._in_flight[0][0].done():
            future, pending = self._in_flight[0]
            written = future.result()
            self._in_flight.popleft()
            self._durable(pending, written)
            settled = True
        return settled

    def _durable(self, pending: _Pending, written: WriteResult) -> None:
        self.dirty_minutes.add(written.minutes)
        # Before the spans are settled: the checkpoint must not pass outcomes that the judge was
        # not offered.
        for summary in pending.summaries:
            self._on_durable(summary)
            self._count(summary)
        for row in pending.frames:
            self._sums.update({kind: getattr(row, kind) for kind in KINDS})
        refused = _refused(written.quarantined)
        gone: Counter[int] = sum((summary.gone for summary in pending.summaries), Counter())
        unkept: Counter[int] = sum((one.not_kept for one in pending.summaries), Counter())
        stored: list[int] = []
        not_kept: list[int] = []
        quarantined: list[int] = []
        lost: list[int] = []
        duplicate: list[int] = []
        for closing in pending.closings:
            # Nobody knows which frames brought the refused rows: the first spans of the trace
            # stand for them.
            refused_here = refused.get(closing.trace_id, 0)
            there, vanished = _parted(closing.stored, gone)
            there, left_out = _parted(there, unkept)
            not_kept += left_out
            stored += there[refused_here:]
            quarantined += there[:refused_here]
            lost += vanished
            duplicate += closing.duplicates
        self._lost += len(lost)
        metrics.DUPLICATE_SPANS.inc(len(duplicate))
        self._ledger.count(
            stored=stored,
            quarantined=quarantined,
            duplicate=duplicate,
            lost=lost,
            not_kept=not_kept,
        )

    def _count(self, summary: OutcomeSummary) -> None:
        self._scores.add(summary.counts)
        for outcome, number in summary.outcomes.items():
            metrics.RECORDS.labels(outcome.value).inc(number)
        now = self._clock_unix()
        for received in summary.received:
            metrics.STORED_AFTER.observe(max(0.0, now - received / 1e9))


def _refused(quarantined: tuple[QuarantinedRow, ...]) -> dict[str, int]:
    """How many span rows the database refused, by trace id."""
    return Counter(row.trace_id for row in quarantined if row.table == "spans")


def _parted(seqs: Iterable[int], gone: Counter[int]) -> tuple[list[int], list[int]]:
    """The spans that `gone` does not count by the seq of their frame, and those that it counts.

    Takes the latter out of `gone`.
    """
    there: list[int] = []
    vanished: list[int] = []
    for seq in seqs:
        is_gone = gone[seq] > 0
        gone[seq] -= is_gone
        (vanished if is_gone else there).append(seq)
    return there, vanished
