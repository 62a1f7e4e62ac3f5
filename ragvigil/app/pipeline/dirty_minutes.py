"""The minutes whose roll-ups are out of date."""

from __future__ import annotations

import threading
from collections.abc import Iterable


class DirtyMinutes:
    """Collects minutes (Unix time of their first second) until a roll-up takes them.

    The sink and deferred scoring add the minutes of scores that became durable; the roll-up job
    takes them all. For any number of threads.

    >>> dirty = DirtyMinutes()
    >>> dirty.add([60, 120])
    >>> sorted(dirty.take()), dirty.take()
    ([60, 120], set())
    """

    def __init__(self) -> None:
        self._minutes: set[int] = set()
        # Without it a minute added while `take` swaps the set would never be rolled up again:
        # the pipeline, the judge, local models and the job each have a thread.
        self._lock = threading.Lock()

    def add(self, minutes: Iterable[int]) -> None:
        """Marks minutes as out of date."""
        with self._lock:
            self._minutes.update(minutes)

    def take(self) -> set[int]:
        """Hands the minutes over; what the caller cannot roll up it adds again."""
        with self._lock:
            minutes, self._minutes = self._minutes, set()
        return minutes
