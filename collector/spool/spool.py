"""The spool's writer: `append` returns when the request's frame is durable.

Appends that arrive during a sync share the next sync, so that a slow disk makes larger groups
instead of longer queues.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from collector.spool.directory import SpoolError, SpoolFull
from collector.spool.files import Files, RealFiles
from collector.spool.frames import Frame
from collector.spool.journal import SEGMENT_BYTES, Journal
from collector.spool.recovery import Recovery
from ragvigil.model.span import Signal

__all__ = ["SpoolError", "SpoolFull", "SpoolWriter"]

GROUP_BYTES: Final = 1 << 20
LONGEST_RUN_NAME: Final = 256
LARGEST_PAYLOAD: Final = 1 << 31


@dataclass(slots=True)
class _PendingFrame:
    frame: Frame
    done: asyncio.Future[int]


class SpoolWriter:
    """Appends frames. One writer per directory, on one event loop; created by `open`."""

    def __init__(self, journal: Journal, *, linger_seconds: float, group_bytes: int) -> None:
        self._journal = journal
        self._linger_seconds = linger_seconds
        self._group_bytes = group_bytes
        self._waiting: list[_PendingFrame] = []
        self._waiting_bytes = 0
        self._is_full = asyncio.Event()
        # A thread, since fdatasync blocks; only one, since `Journal` takes one caller at a time.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spool")
        self._committing: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        directory: Path,
        *,
        files: Files | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        linger_seconds: float = 0.0,
        group_bytes: int = GROUP_BYTES,
        least_seq: int = 1,
    ) -> SpoolWriter:
        """Recovers what is in `directory` and starts; see `recovery`.

        The first append of a group waits at most `linger_seconds` for others, and no longer once
        `group_bytes` are waiting. No seq is below `least_seq`. Raises OSError only if `directory`
        cannot be created or listed.
        """
        journal = await asyncio.to_thread(
            Journal,
            files or RealFiles(),
            directory,
            segment_bytes=segment_bytes,
            least_seq=least_seq,
        )
        return cls(journal, linger_seconds=linger_seconds, group_bytes=group_bytes)

    @property
    def recovery(self) -> Recovery:
        """What the start found."""
        return self._journal.recovery

    async def append(
        self,
        payload: bytes,
        *,
        signal: Signal,
        items: int,
        received_unix_nano: int,
        backfill: str = "",
    ) -> int:
        """Returns the frame's seq once it is durable.

        `items` counts the payload's spans or log records. Raises SpoolFull or SpoolError if the
        frame is not durable and must not be acknowledged. Raises ValueError if an argument does
        not fit into a frame: then only this append fails.
        """
        _require(payload, items, received_unix_nano, backfill)
        frame = Frame(
            seq=0,
            signal=signal,
            items=items,
            received_unix_nano=received_unix_nano,
            backfill=backfill,
            payload=payload,
        )
        waiting = _PendingFrame(frame, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._waiting_bytes += len(payload)
        if self._waiting_bytes >= self._group_bytes:
            self._is_full.set()
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit_all())
        return await waiting.done

    async def end_segment(self) -> None:
        """Ends the segment being written: its disk space is free once it is consumed."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._journal.end_segment)

    async def close(self) -> None:
        """Finishes the appends in progress and closes the segment."""
        if self._committing is not None:
            await self._committing
        self._thread.shutdown()
        self._journal.close()

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                await self._linger()
                await self._commit(self._take_group())
        finally:
            self._committing = None

    async def _commit(self, group: list[_PendingFrame]) -> None:
        loop = asyncio.get_running_loop()
        frames = [waiting.frame for waiting in group]
        try:
            seqs = await loop.run_in_executor(self._thread, self._journal.commit, frames)
        except SpoolError as error:
            _refuse(group, error)
            return
        except BaseException as error:  # may not be durable: no sender may wait for ever
            _refuse(group, SpoolError(f"the spool cannot take frames: {error!r}"))
            raise
        for waiting, seq in zip(group, seqs, strict=True):
            if not waiting.done.done():  # done means cancelled: the sender left, the frame stays
                waiting.done.set_result(seq)

    async def _linger(self) -> None:
        if self._linger_seconds and not self._is_full.is_set():
            try:
                await asyncio.wait_for(self._is_full.wait(), self._linger_seconds)
            except TimeoutError:
                return

    def _take_group(self) -> list[_PendingFrame]:
        size = count = 0
        while count < len(self._waiting) and size < self._group_bytes:
            size += len(self._waiting[count].frame.payload)
            count += 1
        group, self._waiting = self._waiting[:count], self._waiting[count:]
        self._waiting_bytes -= size
        if self._waiting_bytes < self._group_bytes:
            self._is_full.clear()
        return group


def _require(payload: bytes, items: int, received_unix_nano: int, backfill: str) -> None:
    """Raises ValueError if a frame has no room for the arguments.

    Checked before the append joins a group: in `encode` it would fail the whole group.
    """
    if len(backfill) > LONGEST_RUN_NAME:
        raise ValueError(f"a backfill's name has at most {LONGEST_RUN_NAME} characters")
    if len(payload) > LARGEST_PAYLOAD:
        raise ValueError(f"a payload of {len(payload)} bytes is above {LARGEST_PAYLOAD}")
    if not (0 <= items < 1 << 32 and 0 <= received_unix_nano < 1 << 64):
        raise ValueError(f"{items} items received at {received_unix_nano} do not fit into a frame")


def _refuse(group: list[_PendingFrame], error: SpoolError) -> None:
    """Fails every append of a group, each with its own exception object."""
    for waiting in group:
        if not waiting.done.done():
            waiting.done.set_exception(type(error)(*error.args))
