"""Where outcomes go: gathered into batches, written in order, and only then settled.

Nothing is counted as stored before the store says that it is durable.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from alerts.deltas.metrics import ScoreMetrics
from collector.assembly.refs import Closing
from collector.spool.frames import Frame
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.digest import Digest, Digesting, gather
from ragvigil.app.pipeline.ledger import Edge, FrameLedger, FrameRow
from ragvigil.app.pipeline.score import Fresh
from ragvigil.model.outcome import Outcome
from ragvigil.store.engine.batch import Batch, Quarantined, Written
from ragvigil.store.engine.store import Store
from ragvigil.store.records import ledger
from ragvigil.store.records.traces import RubricFacts, TraceRows

KINDS = ("stored", "duplicate", "quarantined")
LARGEST = 4
"""While much waits a batch grows to so many times its usual size: that costs half as much a row,
to write and to merge."""


@dataclass(slots=True)
class _Gathering:
    """What the next batch will make durable, and what is told of then."""

    digests: list[Digest] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    frames: list[FrameRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPlaces:
    """Where spans are at one moment: in durable ledger rows, or `waiting` for one.

    `read` counts the spans read from the spool since it began; `ahead` of the others have a row
    from an earlier life, and come once more in a replay. Every frame before `edge` has a durable
    row; None before any was read.
    """

    stored: int
    duplicate: int
    quarantined: int
    waiting: int
    read: int
    ahead: int = 0
    edge: Edge | None = None


class Sink:
    """Takes outcomes, hands batches to the store, keeps the ledger. One thread.

    `settled` are the frames behind the checkpoint whose ledger row an earlier life of this process
    has written, `settled_spans` their spans, `placed` the sums of all rows. `placed`, the
    attribute, is for other threads: a whole value, replaced. `tell` hears of outcomes that are
    durable, before their spans are settled, in the words of `digesting`.
    """

    def __init__(
        self,
        store: Store,
        scores: ScoreMetrics,
        rubrics: Mapping[str, RubricFacts],
        *,
        settled: Collection[int] = (),
        settled_spans: int = 0,
        placed: Mapping[str, int],
        dirty_minutes: set[int] | None = None,
        digesting: Digesting,
        tell: Callable[[Digest], None],
        clock_unix: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._scores = store, scores
        self._rows = TraceRows(rubrics, replica=store.replica, epoch=store.epoch)
        self._ledger = FrameLedger(settled)
        self._settled, self._last_settled = frozenset(settled), max(settled, default=0)
        self._ahead = settled_spans
        self._digesting, self._tell = digesting, tell
        self._gathering = _Gathering()
        self._frames_since = 0.0
        self._flying: deque[tuple[Future[Written], _Gathering]] = deque()
        self._clock_unix = clock_unix
        self._sums = Counter({kind: placed[kind] for kind in KINDS})
        self.placed = self._place(0)
        self.dirty_minutes = set() if dirty_minutes is None else dirty_minutes

    def opened(self, frame: Frame, arrived: int) -> None:
        """A frame was read; `arrived` of its items could be used, the rest is quarantined."""
        if frame.seq in self._settled:
            self._ahead = max(0, self._ahead - frame.spans)
        if frame.seq >= self._last_settled:
            self._ahead = 0
        if not frame.spans:
            return
        self._ledger.opened(
            frame.seq,
            spans=frame.spans,
            spans_before=frame.spans_before,
            received_unix_nano=frame.received_unix_nano,
        )
        self._ledger.count(quarantined=[frame.seq] * (frame.spans - arrived))

    def add(self, fresh: Sequence[Fresh], outcomes: Sequence[Outcome], now: float) -> None:
        """Takes the outcomes of closings."""
        gather(fresh, outcomes, self._rows, self._digesting, now)
        self._gathering.closings += [closing for closing, _ in fresh]

    def absorb(self, closings: Sequence[Closing], batch: Batch, digest: Digest, now: float) -> None:
        """Takes what another process has made of closings."""
        self._rows.absorb(batch, now)
        self._gathering.digests.append(digest)
        self._gathering.closings += closings

    def send_if_it_holds(self, trace_ids: Collection[str]) -> None:
        """Sends what is gathered if it has one of these traces: a read then comes after it."""
        if any(one.trace_id in trace_ids for one in self._gathering.closings):
            self._send()

    def known(self, *, stored: Sequence[int] = (), duplicate: Sequence[int] = ()) -> None:
        """Spans, by their frames, of which the store needs nothing: only the books are kept."""
        self._ledger.count(stored=stored, duplicate=duplicate)

    def advance(self, now: float, *, is_behind: bool = False, is_last: bool = False) -> bool:
        """Sends what is due, settles what is durable; whether anything became durable.

        While much waits, here or for the store, batches are large; what is the last for now waits
        for nothing.
        """
        settled = self._settle()
        limits = self._store.settings
        while self._flying and self._rows.is_full(limits, LARGEST):
            wait([self._flying[0][0]], timeout=1.0)
            settled = self._settle() or settled
        times = LARGEST if is_behind else 0 if is_last else 1
        if not self._flying and self._rows.is_due(now, limits, times):
            self._send()
        is_due = is_last or now - self._frames_since >= limits.linger_seconds
        if is_due and self._send_frames():
            self._frames_since = now
        return settled

    def finish(self, seconds: float) -> None:
        """Sends everything, ledger rows too; what is not durable in time stays in the spool."""
        deadline = time.monotonic() + seconds
        if self._gathering.closings:
            self._send()
        self._drain(deadline)
        self._send_frames()
        self._drain(deadline)

    def oldest_seq(self) -> int | None:
        """The first frame with something that is not durable yet."""
        gatherings = [one for _, one in self._flying] + [self._gathering]
        seqs = [closing.first_seq for one in gatherings for closing in one.closings]
        seqs += [row.seq for one in gatherings for row in one.frames]
        return min((*seqs, *filter(None, [self._ledger.oldest_seq()])), default=None)

    def publish(self, spans_read: int) -> None:
        """Shows other threads where the spans are."""
        self.placed = self._place(spans_read)

    def _place(self, spans_read: int) -> SpanPlaces:
        flying = [row for _, one in self._flying for row in one.frames]
        waiting = sum(row.spans for row in flying) + self._ledger.waiting_spans()
        sums = {kind: self._sums[kind] for kind in KINDS}
        edge = self._ledger.edge()
        return SpanPlaces(
            **sums,
            waiting=waiting,
            read=spans_read,
            ahead=self._ahead,
            edge=edge and min([edge, *(row.edge for row in flying)]),
        )

    def _send(self) -> None:
        gathering, self._gathering = self._gathering, _Gathering()
        gathering.digests.append(self._digesting.take())
        self._flying.append((self._store.submit(self._rows.take()), gathering))

    def _send_frames(self) -> bool:
        """Sends the ledger's rows; whether there were any."""
        frames = self._ledger.settled()
        if frames:
            batch = ledger.batch(frames, replica=self._store.replica, epoch=self._store.epoch)
            self._flying.append((self._store.submit(batch), _Gathering(frames=frames)))
        return bool(frames)

    def _drain(self, deadline: float) -> None:
        left = max(0.0, deadline - time.monotonic())
        wait([future for future, _ in self._flying], timeout=left)
        self._settle()

    def _settle(self) -> bool:
        settled = False
        while self._flying and self._flying[0][0].done():
            future, gathering = self._flying[0]
            written = future.result()
            self._flying.popleft()
            self._durable(gathering, written)
            settled = True
        return settled

    def _durable(self, gathering: _Gathering, written: Written) -> None:
        self.dirty_minutes |= written.minutes
        for digest in gathering.digests:
            self._tell(digest)
            self._count(digest)
        for row in gathering.frames:
            self._sums.update({kind: getattr(row, kind) for kind in KINDS})
        refused = _refused(written.quarantined)
        stored: list[int] = []
        quarantined: list[int] = []
        duplicate: list[int] = []
        for closing in gathering.closings:
            bad = refused.get(closing.trace_id, 0)
            stored += closing.stored[bad:]
            quarantined += closing.stored[:bad]
            duplicate += closing.duplicates
        metrics.DUPLICATE_SPANS.inc(len(duplicate))
        self._ledger.count(stored=stored, quarantined=quarantined, duplicate=duplicate)

    def _count(self, digest: Digest) -> None:
        self._scores.add(digest.counts)
        for outcome, number in digest.outcomes.items():
            metrics.RECORDS.labels(outcome.value).inc(number)
        now = self._clock_unix()
        for received in digest.received:
            metrics.STORED_AFTER.observe(max(0.0, now - received / 1e9))


def _refused(quarantined: tuple[Quarantined, ...]) -> dict[str, int]:
    """By trace id, how many span rows the database refused."""
    refused: dict[str, int] = {}
    for one in quarantined:
        if one.table == "spans":
            refused[one.trace_id] = refused.get(one.trace_id, 0) + 1
    return refused
