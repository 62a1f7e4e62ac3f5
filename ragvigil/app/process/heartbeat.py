"""What the core works on and that it gets on, in memory shared with the intake (ADR 21).

It is a mapped file: what was written last is still there when the core has been killed, and when
the whole daemon has. Writing is a copy of some bytes, and never waits for the disk.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

NAME = "core.heartbeat"
MOST_TRACES = 256
"""Traces that may be in work together."""
_HEAD = struct.Struct("<QHH")
_BEAT = struct.Struct("<Q")
_ID = 16
_SIZE = _HEAD.size + MOST_TRACES * _ID


class Phase(IntEnum):
    """What the core's pipeline is doing.

    UNWATCHED is everything that may take long without a fault: the start, a wait for the store or
    the disk.
    """

    UNWATCHED = 0
    IDLE = 1
    FRAME = 2
    TRACES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The state at one moment: `beat` grows while the core gets on.

    `units` are what is in work: `frame SEQ`, or `trace ID` for each trace of a batch.
    """

    beat: int
    phase: Phase
    units: tuple[str, ...] = ()


def frame_unit(seq: int) -> str:
    """The name of a frame in work."""
    return f"frame {seq}"


def trace_unit(trace_id: str) -> str:
    """The name of a trace in work."""
    return f"trace {trace_id}"


class Heartbeat:
    """The core's pipeline thread writes, the intake reads. There is one in a data directory."""

    def __init__(self, data_dir: Path) -> None:
        """Raises OSError if the file cannot be made."""
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(data_dir / NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(descriptor).st_size < _SIZE:
                # Zeros instead of a hole: storing into a hole of a full disk is a SIGBUS.
                os.pwrite(descriptor, bytes(_SIZE), 0)
            self._shared = mmap.mmap(descriptor, _SIZE)
        finally:
            os.close(descriptor)
        self._beat = _BEAT.unpack_from(self._shared)[0]

    def beat(self) -> None:
        """Says that the work in hand gets on."""
        self._beat += 1
        _BEAT.pack_into(self._shared, 0, self._beat)

    def idle(self) -> None:
        """Says that there was nothing to do."""
        self._enter(Phase.IDLE)

    def unwatched(self) -> None:
        """Says that what comes now may take long: nothing is in work."""
        self._enter(Phase.UNWATCHED)

    @contextmanager
    def reads(self, seq: int) -> Iterator[None]:
        """Says that the block decodes the frame `seq`. One that raises has ended in it."""
        self._enter(Phase.FRAME, seq.to_bytes(_ID, "little"))
        yield
        self.unwatched()

    @contextmanager
    def scores(self, trace_ids: Sequence[str]) -> Iterator[None]:
        """Says that the block scores these traces, at most MOST_TRACES; as `reads` does."""
        self._enter(Phase.TRACES, bytes.fromhex("".join(trace_ids)))
        yield
        self.unwatched()

    def work(self) -> Work:
        """What the core works on now or, if it has ended, what it ended in."""
        beat, phase, count = _HEAD.unpack_from(self._shared)
        if phase not in list(Phase) or count > MOST_TRACES:  # the file of another version
            return Work(beat=beat, phase=Phase.UNWATCHED)
        ids = [
            self._shared[start : start + _ID]
            for start in range(_HEAD.size, _HEAD.size + count * _ID, _ID)
        ]
        if phase == Phase.FRAME:
            units = [frame_unit(int.from_bytes(name, "little")) for name in ids]
        else:
            units = [trace_unit(name.hex()) for name in ids]
        return Work(beat=beat, phase=Phase(phase), units=tuple(units))

    def _enter(self, phase: Phase, ids: bytes = b"") -> None:
        self._beat += 1
        # In this order: a core that is killed between two lines names nothing that it did not do.
        _HEAD.pack_into(self._shared, 0, self._beat, Phase.UNWATCHED, 0)
        self._shared[_HEAD.size : _HEAD.size + len(ids)] = ids
        _HEAD.pack_into(self._shared, 0, self._beat, phase, len(ids) // _ID)
