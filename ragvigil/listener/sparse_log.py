"""Warnings that a client causes: however many there are, one line a minute tells of each kind."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import structlog

log = structlog.get_logger()

SECONDS_BETWEEN_LINES = 60.0


class SparseLog:
    """Logs warnings with `times`, how often each came since its last line. For one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: Counter[str] = Counter()
        self._next_line_at: dict[str, float] = {}

    def warn(self, event: str, *, kind: str = "", **values: object) -> None:
        """Logs `event` unless one of its `kind` was logged in the last minute."""
        key, now = f"{event} {kind}", self._clock()
        self._times[key] += 1
        if now >= self._next_line_at.get(key, now):
            self._next_line_at[key] = now + SECONDS_BETWEEN_LINES
            log.warning(event, **values, times=self._times.pop(key))
