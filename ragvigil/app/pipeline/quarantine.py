"""Frames and traces that the core ended in: worked on alone, or left out (ADR 21)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from collector.assembly.refs import Closing
from collector.spool.directory import QUARANTINE, FrameGone
from collector.spool.files import RealFiles, write_durably
from collector.spool.frames import Frame
from collector.spool.reader import SpoolReader
from ragvigil.app.process.heartbeat import frame_unit, trace_unit
from ragvigil.app.process.suspects import Suspects

log = structlog.get_logger()

MOST_COPIES = 100
"""Requests kept for whoever looks for the fault: a service that makes many such answers would
fill the disk."""


class Quarantine:
    """What the suspects of earlier lives mean for frames and closings. One thread."""

    def __init__(self, suspects: Suspects, reader: SpoolReader, spool: Path) -> None:
        self._suspects, self._reader = suspects, reader
        self._folder = spool / QUARANTINE

    def is_suspect(self, item: Frame | Closing) -> bool:
        """Whether an earlier life of the core ended in it."""
        return self._suspects.is_suspect(_unit(item))

    def holds(self, item: Frame | Closing) -> bool:
        """Whether it is left out, because the core ended in it too often."""
        return self._suspects.is_quarantined(_unit(item))

    @contextmanager
    def trial(self, items: Sequence[Frame | Closing]) -> Iterator[None]:
        """What is suspected of these, and the block gets through, is suspected no longer.

        A suspect must be alone in work.
        """
        yield
        self._suspects.forgive(map(_unit, items))

    def keep(self, seqs: Iterable[int]) -> None:
        """Copies the requests of these frames to `quarantine/`, as they were acknowledged."""
        files = RealFiles()
        try:
            files.make_directory(self._folder)
            copies = len(files.entries(self._folder))
            for seq in sorted(set(seqs)):
                target = self._folder / f"frame-{seq:020d}.otlp"
                if not target.exists() and copies < MOST_COPIES:
                    write_durably(files, target, self._reader.get(seq).payload)
                    copies += 1
        except (OSError, FrameGone) as error:
            log.error("a quarantined request was not copied", reason=str(error))


def _unit(item: Frame | Closing) -> str:
    return frame_unit(item.seq) if isinstance(item, Frame) else trace_unit(item.trace_id)
