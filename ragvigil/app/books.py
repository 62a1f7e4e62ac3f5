"""The books: every acknowledged span is stored, a duplicate, quarantined or still in the spool."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from collector.spool.reader import SpoolReader
from ragvigil.app.pipeline import Pipeline
from ragvigil.app.sink import KINDS
from ragvigil.store import ledger, traces
from ragvigil.store.store import Store

OUTCOMES = ("scored", "not_rag", "shed", "late", "unparseable")
TRIES = 5


class Books:
    """Reads the ledger, and holds it against the spool writer's own count. Any thread but one."""

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

    def spans(self) -> dict[str, int]:
        """acknowledged, stored, duplicate, quarantined, in_spool; the first is their sum."""
        placed = self._pipeline.parts.sink.placed
        unread = self._reader.mark().spans - placed.read - placed.ahead
        in_spool = placed.waiting + max(0, unread)
        sums = {kind: getattr(placed, kind) for kind in KINDS}
        return {"acknowledged": sum(sums.values()) + in_spool, **sums, "in_spool": in_spool}

    def records(self) -> dict[str, int]:
        """Closed traces by what became of them."""
        return dict.fromkeys(OUTCOMES, 0) | traces.counts(self._store)

    def mismatch(self) -> int:
        """Spans acknowledged since this process' checkpoint that the books cannot place.

        While spans arrive the two sides are read at different moments, so a difference counts
        only when it stays.
        """
        found = 0
        for _ in range(TRIES):
            found = self._difference()
            if not found:
                return 0
            time.sleep(0.2)
        return found

    def spool_bytes(self) -> int:
        """Size of the spool on disk."""
        return self._reader.usage().bytes

    def drop_segments(self, older_than_seconds: float) -> int:
        """Removes segments that were consumed so long ago; how many."""
        done = self._reader.checkpoint_of("core")
        return self._reader.drop_consumed(
            done + 1, older_than_seconds=older_than_seconds, now=self._clock()
        )

    def _difference(self) -> int:
        acknowledged = self._reader.mark().spans - self._pipeline.spans_before
        stored = ledger.spans_after(self._store, self._pipeline.started_at)
        return acknowledged - stored - self.spans()["in_spool"]
