"""Answers of reads that cost much, for pages that ask again within half a minute."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock, Timer
from typing import Any, TypeVar

import structlog

from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.scope import QueryScope, current_scope

log = structlog.get_logger()

GIVEN_TIMES = 6
"""An answer this many times as old as a new one is still given, and read anew meanwhile."""
COST_TIMES = 100
"""An answer passes for new so many times as long as it took: a quick one is hardly ever old, and to
read one anew takes a hundredth of the time."""
SLOW_SECONDS = 120.0
"""For so long at most an answer about a day or more passes for new, if its reader says so."""
RENEW_AFTER_SECONDS = 0.5
"""Whoever gets an older answer is served first: reading it anew would take their CPU."""
MOST = 64
"""Answers that are kept, those that were asked for last."""

Answer = TypeVar("Answer")


@dataclass(slots=True)
class _Entry:
    """An answer, when it was read, and for how long it is new.

    Who reads it holds `lock`, and `is_due` is held until it has been read anew, so that this is
    done once. `lasts`: no act of a person changes it.
    """

    lock: Lock
    is_due: Lock
    lasts: bool
    answer: Any = None
    read: float = float("-inf")
    new_seconds: float = 0.0


class Kept:
    """Keeps answers by key. Safe from any thread.

    An answer passes for new for `new_seconds` at most; 0 keeps none. Who finds none waits for
    whoever reads it already. `clock` gives seconds that never run backwards. `give_way` is called
    before an answer is read anew.
    """

    def __init__(
        self,
        new_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        self._new_seconds, self._clock, self._give_way = new_seconds, clock, give_way
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = Lock()

    def of(
        self,
        key: Hashable,
        read: Callable[[], Answer],
        *,
        lasts: bool = False,
        new_seconds: float = 0.0,
        most_seconds: float = 0.0,
    ) -> Answer:
        """The answer of `key`, by `read` where none is kept. Raises what `read` raises.

        Readers share the answer: it is not to be changed. `lasts`: no act of a person changes it,
        so that `forget` leaves it. For what is of hours, and changes slowly: `new_seconds`, if
        given, is how long it passes for new, `most_seconds` how long at most where it cost much.
        """
        if not self._new_seconds:
            return read()
        entry = self._entry(key, lasts)
        most = max(self._new_seconds, most_seconds)

        def new_for(cost: float) -> float:
            return new_seconds or min(most, cost * COST_TIMES)

        age = self._clock() - entry.read
        if age > entry.new_seconds * GIVEN_TIMES:
            self._read(entry, read, new_for)
        elif age > entry.new_seconds and entry.is_due.acquire(blocking=False):
            renewal = Timer(RENEW_AFTER_SECONDS, self._renew, (entry, read, new_for))
            renewal.name, renewal.daemon = "kept answer", True
            renewal.start()
        answer: Answer = entry.answer
        return answer

    def moving(self, seconds: float) -> int:
        """A time as part of a key, to the minute; it may move with the clock, as *a day ago* does.

        So a window until now has the same key from minute to minute.
        """
        return round((self._clock() - seconds) / 60)

    def forget(self) -> None:
        """Drops the answers that a person's act changes: there was such an act."""
        with self._lock:
            for key in [key for key, entry in self._entries.items() if not entry.lasts]:
                del self._entries[key]

    def clear(self) -> None:
        """Drops every answer: what they were read of was erased."""
        with self._lock:
            self._entries.clear()

    def _entry(self, key: Hashable, lasts: bool) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(key, _Entry(Lock(), Lock(), lasts))
            self._entries.move_to_end(key)
            while len(self._entries) > MOST:
                self._entries.popitem(last=False)
            return entry

    def _renew(
        self, entry: _Entry, read: Callable[[], Any], new_for: Callable[[float], float]
    ) -> None:
        """Reads it as a job does, and without the lock: pages go first and do not wait for it."""
        self._give_way()
        try:
            with QueryScope(Priority.SCAN).running():
                answer, read_at, cost = self._timed(read)
            with entry.lock:
                entry.answer, entry.read, entry.new_seconds = answer, read_at, new_for(cost)
        except StoreError as error:
            log.warning("an answer was not read anew", reason=str(error))
        finally:
            entry.is_due.release()

    def _read(
        self, entry: _Entry, read: Callable[[], Any], new_for: Callable[[float], float]
    ) -> None:
        """Reads the answer, unless that was done while this waited for the lock."""
        # As a page reads, also for a job: whoever asks next waits for the lock, maybe a page.
        with entry.lock, (current_scope() or QueryScope()).running():
            if self._clock() - entry.read > entry.new_seconds:
                entry.answer, entry.read, cost = self._timed(read)
                entry.new_seconds = new_for(cost)

    def _timed(self, read: Callable[[], Any]) -> tuple[Any, float, float]:
        """An answer, when it was there, and how many seconds it took."""
        begun = self._clock()
        answer = read()
        ended = self._clock()
        return answer, ended, ended - begun
