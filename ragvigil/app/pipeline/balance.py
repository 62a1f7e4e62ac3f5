"""The balance of spans: each is stored, a duplicate, quarantined, lost, left out by the
settings, or still in the spool."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from collector.spool.reader import SpoolReader
from ragvigil.app.pipeline.ledger import Edge
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.app.pipeline.sink import KINDS
from ragvigil.store.engine.store import Store
from ragvigil.store.records import ledger, traces

OUTCOMES = ("scored", "not_rag", "shed", "late", "unparseable", "offline")
HOUR = 3600


class SpanBalance:
    """Compares the ledger with the spool writer's own count.

    For any thread but the pipeline's, which writes what is read here.
    """

    def __init__(
        self,
        spool: Path,
        store: Store,
        pipeline: Pipeline,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._pipeline, self._clock = store, pipeline, clock
        self._reader = SpoolReader(spool)
        self._begin = self._next = Edge(pipeline.started_at + 1, pipeline.spans_before)
        self._checked = clock()

    def spans(self) -> dict[str, int]:
        """Spans acknowledged, stored, duplicate, quarantined, lost, not_kept, in_spool.

        The first is the sum of the others; `mismatch` compares it with the spool's own count.
        """
        places = self._pipeline.span_places
        unread = self._reader.mark().spans - places.read - places.ahead
        in_spool = places.waiting + max(0, unread)
        sums = {kind: getattr(places, kind) for kind in KINDS}
        return {"acknowledged": sum(sums.values()) + in_spool, **sums, "in_spool": in_spool}

    def records(self) -> dict[str, int]:
        """Closed traces by outcome."""
        return dict.fromkeys(OUTCOMES, 0) | traces.counts(self._store)

    def mismatch(self) -> int:
        """Spans that the spool counts in frames with durable rows, and that the rows do not show.

        Both sides end at the same frame, however fast spans arrive, and begin at a frame of the
        last two hours: older rows are deleted.
        """
        edge = self._pipeline.span_places.edge
        if edge is None:
            return 0
        begin = self._begin
        rows = ledger.spans_from(self._store, begin.seq, edge.seq)
        missing = edge.spans - begin.spans - rows
        now = self._clock()
        if not missing and now - self._checked >= HOUR:
            self._begin, self._next, self._checked = self._next, edge, now
        return missing

    def spool_bytes(self) -> int:
        """Size of the spool on disk."""
        return self._reader.usage().bytes

    def drop_segments(self, older_than_seconds: float) -> int:
        """Removes segments consumed at least this long ago; returns how many."""
        done = self._reader.checkpoint_of("core").seq
        return self._reader.drop_consumed(
            done + 1, older_than_seconds=older_than_seconds, now=self._clock()
        )
