"""Keeps the sums that means are estimated by as new as the roll-ups."""

from __future__ import annotations

import math

from ragvigil.store.engine.store import Store
from ragvigil.store.scores import estimate_sums

HOUR = 3600
OFTEN_SECONDS = 30.0
"""The hour that has not ended is summed this often: all of its answers are read each time."""
HOURS_AT_ONCE = 24
"""Hours of a store without sums that one run catches up with."""


class SampleSums:
    """Sums the hours that changed, run after run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changed: set[int] = set()
        self._missing: list[int] | None = None
        self._running_summed = -math.inf

    def run(self, now: float, version: int, first: int) -> None:
        """Sums the hours whose roll-ups are newer than `version`, at `now` (seconds).

        Hours since `first` that were never summed follow, some a run. Raises StoreError; the next
        run goes on where one failed.
        """
        if self._missing is None:
            self._missing = estimate_sums.hours_without(self._store, first)
        self._changed |= estimate_sums.changed_hours(self._store, version)
        running = now - now % HOUR
        sums_running = now - self._running_summed >= OFTEN_SECONDS
        due = {hour for hour in self._changed if hour < running or sums_running}
        due |= set(self._missing[:HOURS_AT_ONCE])
        estimate_sums.recompute(self._store, due, int(now * 1e9))
        self._changed -= due
        self._missing = self._missing[HOURS_AT_ONCE:]
        if sums_running:
            self._running_summed = now
