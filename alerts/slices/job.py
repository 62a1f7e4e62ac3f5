"""The job of the slices: sums each hour by slices of the traffic once it is over."""

from __future__ import annotations

from alerts.slices.settings import SliceSettings
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import estimate_sums, slice_sums

HOUR, DAY = 3600, 86_400
PAST_DAYS = 9
"""Days that are summed where they never were: a day, and the week that it is compared with."""
HOURS_AT_ONCE = 2
"""Hours of a run; the others follow in the next ones."""
LATE_SECONDS = 300
"""How long after its end an hour is summed: judged scores come late, and are summed then too."""
SUMMED_SECONDS = 900
"""How long after its end an hour has been summed, if the job runs every five minutes."""
LAG_NANOS = 600 * 10**9
"""Roll-ups written this long before a run may have been half written when it read them."""
TOPIC_SECONDS = 2 * HOUR
"""Questions have their vectors by then: an hour is summed once more."""


class SliceJob:
    """Sums the hours that changed, run after run."""

    def __init__(self, store: Store, settings: SliceSettings) -> None:
        self._store, self._settings = store, settings
        self._due: set[int] | None = None
        self._again: set[int] = set()
        self._version = 0

    def run(self, now: float) -> int:
        """Sums some hours that are due at `now` (seconds); returns how many.

        Raises StoreError; the next run goes on where one failed.
        """
        if not self._settings.by:
            return 0
        if self._due is None:
            self._due = set(slice_sums.hours_without(self._store, int(now) - PAST_DAYS * DAY))
            self._version = int(now * 1e9) - LAG_NANOS
        self._due |= estimate_sums.changed_hours(self._store, self._version)
        self._version = max(self._version, int(now * 1e9) - LAG_NANOS)
        self._due |= {hour for hour in self._again if hour + HOUR + TOPIC_SECONDS <= now}
        over = sorted(hour for hour in self._due if hour + HOUR + LATE_SECONDS <= now)
        done = over[: -HOURS_AT_ONCE - 1 : -1]
        for hour in done:
            settings = self._settings
            slice_sums.recompute(self._store, hour, settings.by, settings.tiers, int(now * 1e9))
            self._due.discard(hour)
            self._wait_for_topics(hour, now)
        return len(done)

    def _wait_for_topics(self, hour: int, now: float) -> None:
        self._again.discard(hour)
        if "topic" in self._settings.by and hour + HOUR + TOPIC_SECONDS > now:
            self._again.add(hour)
