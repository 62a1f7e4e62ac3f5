"""A share of the CPU for optional work.

>>> share = CpuShare(0.5, now=0.0)
>>> share.spend(40.0)
>>> share.may_run(10.0), share.may_run(21.0)
(False, True)
"""

from __future__ import annotations

import threading

SAVED_SECONDS = 60.0
"""How long unused time is saved: after a quiet minute a model can start (some 10 s of CPU)."""


class CpuShare:
    """A bucket of CPU seconds that fills with time; it starts full, and may be overdrawn.

    `now` is any clock that does not run backwards, in seconds. For any number of threads.
    """

    def __init__(self, share: float, *, now: float) -> None:
        self._share = share
        self._most = share * SAVED_SECONDS
        self._level = self._most
        self._at = now
        self._lock = threading.Lock()

    def spend(self, cpu_seconds: float) -> None:
        """Takes out what was used; the level may fall below zero."""
        with self._lock:
            self._level -= cpu_seconds

    def may_run(self, now: float) -> bool:
        """Whether anything is left at `now`."""
        with self._lock:
            self._level = min(self._most, self._level + max(0.0, now - self._at) * self._share)
            self._at = max(self._at, now)
            return self._level > 0
