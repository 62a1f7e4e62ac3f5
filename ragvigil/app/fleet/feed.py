"""What an analyst takes from the store because other daemons scored it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from alerts.notices.job import NoticeJob, name_of, prints_of
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet.dirty import DirtyElsewhere
from ragvigil.store.watch import notices

SETTLED_SECONDS = 20.0
"""Answers of the last seconds wait: detectors need them in the order of their time, and edges store
them a few seconds after one another."""
ANSWERS_SECONDS = 10.0
EACH = 1000
"""Answers of a minute and route that the detectors see at most."""
REMEMBERED_SECONDS = 900.0
"""How long the name of an answer that was offered is kept: a trace is stored again within this."""


class Feed:
    """Brings the minutes that others changed to the roll-ups, and their answers to the notices.

    For one thread.
    """

    def __init__(
        self,
        store: Store,
        dirty: DirtyMinutes,
        noticing: NoticeJob,
        clock: Callable[[], float],
    ) -> None:
        self._store, self._clock = store, clock
        self._dirty, self._noticing = dirty, noticing
        self._elsewhere = DirtyElsewhere(store)
        self._changed: set[int] = set()
        self._offered: dict[str, float] = {}
        self._offered_at = -inf

    def run(self) -> None:
        """Takes the minutes, and every ANSWERS_SECONDS the answers. Raises StoreError."""
        self.take_minutes()
        if (now := self._clock()) - self._offered_at >= ANSWERS_SECONDS:
            self.offer_answers()
            self._offered_at = now

    def take_minutes(self) -> None:
        """Marks the minutes that others changed. Raises StoreError; the next call goes on."""
        minutes = self._elsewhere.take()
        self._dirty.add(minutes)
        self._changed |= minutes

    def offer_answers(self) -> None:
        """Offers the notices what others stored, oldest first. Raises StoreError."""
        now = self._clock()
        recent = {minute for minute in self._changed if minute > now - REMEMBERED_SECONDS}
        found = notices.elsewhere(self._store, recent, each=EACH)
        due = [each for each in found if each.time_unix_nano / 1e9 <= now - SETTLED_SECONDS]
        named = {name_of(each): each for each in due}
        fresh = {name: each for name, each in named.items() if name not in self._offered}
        self._noticing.offer(list(prints_of(self._store, list(fresh.values()))))
        self._offered |= dict.fromkeys(fresh, now)
        self._offered = {
            name: at for name, at in self._offered.items() if at > now - 2 * REMEMBERED_SECONDS
        }
        # A minute is read until nothing in it can be waiting for its time.
        self._changed = {minute for minute in recent if minute + 60 > now - SETTLED_SECONDS}
