"""The durable mark: 64 bytes of shared memory that say how far the segments are synced."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from collector.spool.directory import set_aside
from collector.spool.files import Files, SharedBytes, status_of

MARK_NAME = "durable.mark"
MARK_SIZE = 64
_MARK = struct.Struct("<QQQQQ")
_CHECKSUM = struct.Struct("<I")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far the spool is durable: the last synced frame and where it ends.

    `spans` and `logs` count everything acknowledged until now. `segment` is the first seq of the
    segment being written, `end` the offset behind its last synced frame.
    """

    seq: int = 0
    spans: int = 0
    logs: int = 0
    segment: int = 0
    end: int = 0


class SharedMark:
    """The mark's file as memory that both processes map.

    It is mapped again once another file has its name, or none, or it was cut: memory behind the
    end of a file must not be touched (SIGBUS).
    """

    def __init__(self, files: Files, directory: Path) -> None:
        """Raises OSError if the file cannot be made: a full disk, for instance."""
        self._files, self._path = files, directory / MARK_NAME
        self._shared = self._share()

    def write(self, mark: Mark) -> None:
        """Shows `mark` to the reading processes. Raises OSError."""
        self._follow()
        body = _MARK.pack(mark.seq, mark.spans, mark.logs, mark.segment, mark.end)
        self._shared[: _MARK.size + _CHECKSUM.size] = body + _CHECKSUM.pack(zlib.crc32(body))

    def read(self) -> Mark | None:
        """The mark; None while it is being written, or if it never was. Raises OSError."""
        self._follow()
        # A torn read shows as a wrong checksum, so that the two processes need no lock.
        data = bytes(self._shared[: _MARK.size + _CHECKSUM.size])
        body = data[: _MARK.size]
        if data[_MARK.size :] != _CHECKSUM.pack(zlib.crc32(body)):
            return None
        seq, spans, logs, segment, end = _MARK.unpack(body)
        return Mark(seq=seq, spans=spans, logs=logs, segment=segment, end=end)

    def _follow(self) -> None:
        status = status_of(self._files, self._path)
        if status is None or status.number != self._number or status.size < MARK_SIZE:
            self._shared = self._share()

    def _share(self) -> SharedBytes:
        try:
            shared = self._files.share(self._path, MARK_SIZE)
        except (IsADirectoryError, PermissionError):
            set_aside(self._files, self._path)
            shared = self._files.share(self._path, MARK_SIZE)
        status = status_of(self._files, self._path)
        self._number = status.number if status else 0
        return shared
