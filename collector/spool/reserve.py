"""The part of the disk that the spool leaves to the store, which must write to make room."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RESERVE_SHARE, RESERVE_BYTES = 0.05, 512 << 20
LARGEST_SHARE = 0.5
"""Of a file system on which RESERVE_BYTES would be more than that."""
RESUME_FACTOR = 1.1
"""Requests are taken again once so many times the reserve is free: else the first of them would end
it again."""
CHECK_SECONDS = 0.1
"""A full gigabit link brings 12 MB between two looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Bytes of a file system: what this process may still write, and all."""

    free: int
    total: int


def space_of(folder: Path) -> Space:
    """The space of the file system that holds `folder`. Raises OSError if that is gone."""
    usage = shutil.disk_usage(folder)
    return Space(free=usage.free, total=usage.total)


def reserve_of(total: int, setting: int | None) -> int:
    """The reserve of a file system of `total` bytes: 5 %, at least 512 MB, at most half of it."""
    if setting is not None:
        return setting
    return int(min(max(RESERVE_SHARE * total, RESERVE_BYTES), LARGEST_SHARE * total))


class DiskReserve:
    """Says whether the spool must stop growing. For one event loop.

    `space` looks at the disk; a look that fails keeps the last answer. `setting` is the reserve in
    bytes, None for the usual one, 0 for none. `clock` is monotonic, in seconds.
    """

    def __init__(
        self, space: Callable[[], Space], setting: int | None, clock: Callable[[], float]
    ) -> None:
        self._space, self._setting, self._clock = space, setting, clock
        self._looked: float | None = None
        self._is_touched = False

    def is_touched(self) -> bool:
        """Whether only the reserve is left; looks at the disk ten times a second at most."""
        now = self._clock()
        if self._looked is None or now - self._looked >= CHECK_SECONDS:
            self._looked = now
            self._look()
        return self._is_touched

    def _look(self) -> None:
        try:
            space = self._space()
        except OSError:
            return
        reserve = reserve_of(space.total, self._setting)
        self._is_touched = space.free < reserve * (RESUME_FACTOR if self._is_touched else 1)
