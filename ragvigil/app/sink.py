"""Where outcomes go: gathered into batches, written in order, and only then settled.

Nothing is counted as stored before the store says that it is durable.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from alerts.metrics import ScoreMetrics
from collector.assembly import Closing
from collector.frames import Frame
from ragvigil.app import pipeline_metrics as metrics
from ragvigil.app.frame_ledger import FrameLedger, FrameRow
from ragvigil.model.outcome import Outcome
from ragvigil.store import books, traces
from ragvigil.store.batch import Quarantined, Written
from ragvigil.store.store import Store
from ragvigil.store.traces import StoredTrace

IN_FLIGHT = 2
"""Batches that may wait for the store; more would only take memory."""


@dataclass(slots=True)
class _Gathering:
    """What goes into the next batch."""

    since: float
    outcomes: list[Outcome] = field(default_factory=list)
    closings: list[Closing] = field(default_factory=list)
    earlier: list[StoredTrace | None] = field(default_factory=list)
    frames: list[FrameRow] = field(default_factory=list)
    rows: int = 0


class Sink:
    """Takes outcomes, hands batches to the store, keeps the ledger. One thread."""

    def __init__(
        self,
        store: Store,
        scores: ScoreMetrics,
        *,
        fails_below: Mapping[str, float],
        settled_after: int,
        clock_unix: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._scores, self._fails_below = store, scores, fails_below
        self._ledger = FrameLedger(books.settled_seqs(store, settled_after))
        self._gathering = _Gathering(0.0)
        self._flying: deque[tuple[Future[Written], _Gathering]] = deque()
        self._clock_unix = clock_unix

    def opened(self, frame: Frame, arrived: int) -> None:
        """A frame was read; `arrived` of its items could be used, the rest is quarantined."""
        if not frame.spans:
            return
        self._ledger.opened(
            frame.seq,
            spans=frame.spans,
            spans_before=frame.spans_before,
            received_unix_nano=frame.received_unix_nano,
        )
        self._ledger.count(quarantined=[frame.seq] * (frame.spans - arrived))

    def add(self, closing: Closing, outcome: Outcome, earlier: StoredTrace | None) -> None:
        """Takes the outcome of a closing; `earlier` is what the store had of the trace."""
        gathering = self._gathering
        gathering.since = gathering.since or time.monotonic()
        gathering.outcomes.append(outcome)
        gathering.closings.append(closing)
        gathering.earlier.append(earlier)
        gathering.rows += len(outcome.trace.spans) + 6 * len(outcome.records) + 1

    def known(self, closing: Closing) -> None:
        """A closing that the store already has: only the books of its frames are kept."""
        self._ledger.count(stored=closing.stored, duplicate=closing.duplicates)

    def duplicates(self, seqs: list[int]) -> None:
        """Spans that came again long after their trace had closed."""
        metrics.DUPLICATE_SPANS.inc(len(seqs))
        self._ledger.count(duplicate=seqs)

    def advance(self, now: float) -> bool:
        """Sends what is due, settles what is durable; whether anything became durable."""
        settled = self._settle()
        self._gathering.frames += self._ledger.settled()
        settings, gathering = self._store.settings, self._gathering
        is_due = gathering.outcomes or gathering.frames
        if gathering.frames and not gathering.since:
            gathering.since = now
        if is_due and (
            gathering.rows >= settings.batch_rows or now - gathering.since >= settings.linger_seconds
        ):
            self._send()
        while len(self._flying) > IN_FLIGHT:
            wait([self._flying[0][0]], timeout=1.0)
            settled = self._settle() or settled
        return settled

    def finish(self) -> None:
        """Sends everything and waits until it is durable; ledger rows too."""
        for _ in range(2):  # outcomes first, then the rows of the frames that they settle
            self._gathering.frames += self._ledger.settled()
            if self._gathering.outcomes or self._gathering.frames:
                self._send()
            wait([future for future, _ in self._flying])
            self._settle()

    def oldest_seq(self) -> int | None:
        """The first frame with something that is not durable yet."""
        flying = [one for _, one in self._flying] + [self._gathering]
        seqs = [closing.first_seq for one in flying for closing in one.closings]
        seqs += [row.seq for one in flying for row in one.frames]
        return min((*seqs, *filter(None, [self._ledger.oldest_seq()])), default=None)

    def waiting_spans(self) -> int:
        """Spans read whose frame's ledger row is not durable yet."""
        flying = [one for _, one in list(self._flying)] + [self._gathering]
        rows = sum(row.spans for one in flying for row in list(one.frames))
        return rows + self._ledger.waiting_spans()

    def _send(self) -> None:
        gathering, self._gathering = self._gathering, _Gathering(0.0)
        batch = traces.batch(
            gathering.outcomes,
            earlier=gathering.earlier,
            frames=books.rows(gathering.frames),
            fails_below=self._fails_below,
        )
        self._flying.append((self._store.submit(batch), gathering))

    def _settle(self) -> bool:
        settled = False
        while self._flying and self._flying[0][0].done():
            future, gathering = self._flying.popleft()
            self._durable(gathering, future.result())
            settled = True
        return settled

    def _durable(self, gathering: _Gathering, written: Written) -> None:
        refused = _refused(written.quarantined)
        now_nanos = self._clock_unix() * 1e9
        for closing, outcome, earlier in zip(
            gathering.closings, gathering.outcomes, gathering.earlier, strict=True
        ):
            bad = refused.get(closing.trace_id, 0)
            seqs = list(closing.stored)
            self._ledger.count(
                stored=seqs[bad:], quarantined=seqs[:bad], duplicate=closing.duplicates
            )
            self._scores.add(outcome, earlier.record_ids if earlier else ())
            metrics.RECORDS.labels(outcome.outcome.value).inc()
            metrics.DUPLICATE_SPANS.inc(len(closing.duplicates))
            if not outcome.trace.backfill:
                received = outcome.trace.received_unix_nano
                metrics.STORED_AFTER.observe(max(0.0, (now_nanos - received) / 1e9))


def _refused(quarantined: tuple[Quarantined, ...]) -> dict[str, int]:
    """By trace id, how many span rows the database refused."""
    refused: dict[str, int] = {}
    for one in quarantined:
        if one.table == "spans":
            refused[one.trace_id] = refused.get(one.trace_id, 0) + 1
    return refused
