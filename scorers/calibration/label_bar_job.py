"""Learns the bars of labels once a day, and keeps those that hold for who scores."""

from __future__ import annotations

import time

import structlog

from ragvigil.model.clock import Clock
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import label_bars as stored
from ragvigil.store.watch import incidents
from scorers.label_bars import LABELS, OF_EVERY_ANSWER, LabelBars, by_series
from scorers.settings import ScorersSettings

log = structlog.get_logger()

NANOS, DAY = 10**9, 86_400
KEPT_DAYS = 30
"""A bar that was not learned again for so long no longer speaks for its route."""


class LabelBarJob:
    """`learn` runs where one daemon does it for all, `refresh` on every daemon.

    `bars`, and those of them that are `of_every_answer`, are replaced as a whole, so that threads
    that score read them without a lock.
    """

    def __init__(self, store: Store, settings: ScorersSettings, clock: Clock = time.time) -> None:
        self._store, self._clock = store, clock
        self._fixed, self._days = dict(settings.label_below), settings.label_days
        self._use(LabelBars(fixed=self._fixed))

    def refresh(self) -> None:
        """Reads the bars that hold. Raises StoreError."""
        since = max(0, int(self._clock()) - KEPT_DAYS * DAY)
        found = stored.find(self._store, since) if self._days else []
        self._use(LabelBars(fixed=self._fixed, learned=by_series(found)))

    def learn(self) -> int:
        """Learns all bars if new ones would hold a day after the newest; how many were stored.

        Raises StoreError.
        """
        now = int(self._clock())
        self.refresh()
        newest = max(
            (each[-1].holds_from_unix_nano for each in self.bars.learned.values()), default=0
        )
        rubrics = LABELS.keys() - self._fixed
        if not self._days or not rubrics or newest > (stored.holds_from(now) - DAY) * NANOS:
            return 0
        since = max(0, now - self._days * DAY)
        past = incidents.find(self._store, incidents.IncidentFilter(since=since, limit=10_000))
        learned = stored.learn(self._store, rubrics, since, now, past)
        if learned:
            stored.write(self._store, learned, int(self._clock() * NANOS))
            log.info("bars of labels learned", bars=len(learned), days=self._days)
            self.refresh()
        return len(learned)

    def _use(self, bars: LabelBars) -> None:
        self.bars, self.of_every_answer = bars, bars.of(OF_EVERY_ANSWER)
