"""Standard error that a full disk does not break: its log often lies on the disk that is full."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from typing import TextIO

KEPT_BYTES = 256 << 10
"""Lines that wait for room: some thousand. More would be memory that grows while nobody reads."""


class LogStream:
    """A text stream that never raises OSError.

    What cannot be written waits, and comes before the next line; beyond KEPT_BYTES lines are left
    out, and then counted in a line of their own. A stream without a descriptor is written as it is.
    Safe for threads.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._descriptor = stream, _descriptor_of(stream)
        self._kept: deque[bytes] = deque()
        self._bytes = self._left_out = 0
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Writes a line, or keeps it."""
        if self._descriptor is None:
            return self._stream.write(text)
        with self._lock:
            self._drained(self._descriptor)  # first: there may be room again, and then none is lost
            self._keep(text.encode("utf-8", "backslashreplace"))
            if self._drained(self._descriptor) and self._left_out:
                line = f"level=error event='lines of the log were left out' lines={self._left_out}"
                self._left_out = 0
                self._keep(f"{line}\n".encode())
                self._drained(self._descriptor)
        return len(text)

    def flush(self) -> None:
        """Writes what waits for room, as far as there is some now: at the end of a process."""
        if self._descriptor is None:
            with contextlib.suppress(ValueError):  # closed before the process ends
                self._stream.flush()
            return
        with self._lock:
            self._drained(self._descriptor)

    def _keep(self, line: bytes) -> None:
        if self._kept and self._bytes + len(line) > KEPT_BYTES:
            self._left_out += line.count(b"\n")
            return
        self._kept.append(line)
        self._bytes += len(line)

    def _drained(self, descriptor: int) -> bool:
        """Writes what waits; whether that is all."""
        while self._kept:
            line = self._kept[0]
            try:
                written = os.write(descriptor, line)
            except OSError:  # no room, or nobody reads: there is no other place to say so
                return False
            self._bytes -= written
            if written == len(line):
                self._kept.popleft()
            else:
                self._kept[0] = line[written:]
        return True


def _descriptor_of(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # one in memory, as in tests; or a closed one
        return None
