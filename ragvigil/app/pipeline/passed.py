"""Where the loop has stood, and the checkpoint that says how far nothing is needed any more."""

from __future__ import annotations

from collections import deque

import structlog

from collector.spool.reader import SpoolReader
from ragvigil.app.pipeline.ledger import Edge

log = structlog.get_logger()

CHECKPOINT_SECONDS = 5.0


class Passed:
    """The places that the loop has passed, every few seconds: a checkpoint says how many spans it
    covers, so that it lies at one of them. For one thread.
    """

    def __init__(self, reader: SpoolReader, place: Edge) -> None:
        self._reader = reader
        self._places = deque([place])
        self._written, self._error = 0.0, ""

    def is_due(self, now: float) -> bool:
        """Whether the last checkpoint is some seconds old; `now` is monotonic."""
        return now - self._written >= CHECKPOINT_SECONDS

    def write(self, now: float, place: Edge, needed: int) -> None:
        """Writes the last place before the frame `needed`; `place` is where the loop stands.

        One that fails is logged once; the next may succeed, and until then more is read again after
        a restart.
        """
        self._written = now
        if place.seq > self._places[-1].seq:
            self._places.append(place)
        while len(self._places) > 1 and self._places[1].seq <= needed:
            self._places.popleft()
        last = self._places[0]
        try:
            self._reader.checkpoint("core", last.seq - 1, last.spans)
            self._error = ""
        except OSError as error:  # a full disk
            if not self._error:
                log.error("the checkpoint cannot be written", error=str(error))
            self._error = str(error)
