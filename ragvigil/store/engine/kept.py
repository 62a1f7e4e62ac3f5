"""Answers of reads that cost much, for pages that ask again within half a minute."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, TypeVar

import structlog

from ragvigil.store.engine.errors import StoreError

log = structlog.get_logger()

GIVEN_TIMES = 6
"""An answer this many times as old as a new one is still given, and read anew meanwhile."""
MOST = 64
"""Answers that are kept, those that were asked for last."""

Answer = TypeVar("Answer")


@dataclass(slots=True)
class _Entry:
    """An answer and when it was read; while `lock` is held somebody reads it."""

    lock: Lock
    answer: Any = None
    read: float = float("-inf")


class Kept:
    """Keeps answers by key. Safe from any thread.

    An answer passes for new for `new_seconds`; 0 keeps none. Who finds none waits for whoever reads
    it already. `clock` gives seconds that never run backwards.
    """

    def __init__(self, new_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._new_seconds, self._clock = new_seconds, clock
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = Lock()

    def of(self, key: Hashable, read: Callable[[], Answer]) -> Answer:
        """The answer of `key`, by `read` where none is kept. Raises what `read` raises.

        Readers share the answer: it is not to be changed.
        """
        if not self._new_seconds:
            return read()
        entry = self._entry(key)
        age = self._clock() - entry.read
        if age > self._new_seconds * GIVEN_TIMES:
            with entry.lock:
                if self._clock() - entry.read > self._new_seconds:
                    self._read(entry, read)
        elif age > self._new_seconds and entry.lock.acquire(blocking=False):
            Thread(target=self._renew, args=(entry, read), name="kept answer", daemon=True).start()
        answer: Answer = entry.answer
        return answer

    def forget(self) -> None:
        """Drops every answer: somebody has changed what they say."""
        with self._lock:
            self._entries.clear()

    def _entry(self, key: Hashable) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(key, _Entry(Lock()))
            self._entries.move_to_end(key)
            while len(self._entries) > MOST:
                self._entries.popitem(last=False)
            return entry

    def _renew(self, entry: _Entry, read: Callable[[], Any]) -> None:
        try:
            self._read(entry, read)
        except StoreError as error:
            log.warning("an answer was not read anew", reason=str(error))
        finally:
            entry.lock.release()

    def _read(self, entry: _Entry, read: Callable[[], Any]) -> None:
        answer = read()
        entry.answer, entry.read = answer, self._clock()
