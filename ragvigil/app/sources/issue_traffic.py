"""The traffic around issues, read once a minute for all who ask: it is what costs most to count."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock, Thread

import structlog

from ragvigil.app.sources.issue_numbers import FailuresOutside
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import views

log = structlog.get_logger()

KEEP_SECONDS = 60.0
"""Roll-ups change once a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Failures outside of issues, and answers on the routes of each issue in the last 24 hours."""

    outside: FailuresOutside
    answers: Mapping[str, int]
    read: float


class IssueTraffic:
    """Keeps the numbers; who finds them old gets them once more, and they are read anew meanwhile.

    `clock` gives seconds since the epoch.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._reading = Lock()
        self._traffic: Traffic | None = None
        self._ids: tuple[str, ...] = ()

    def of(self, issue_ids: Iterable[str]) -> Traffic:
        """The numbers of the last minute or two, of at least these issues. Raises StoreError."""
        ids = tuple(issue_ids)
        traffic = self._traffic
        if traffic is None or not set(ids) <= set(self._ids):
            with self._reading:
                return self._read(tuple(dict.fromkeys((*self._ids, *ids))))
        if time.monotonic() - traffic.read > KEEP_SECONDS and self._reading.acquire(blocking=False):
            Thread(target=self._renew, name="issue traffic", daemon=True).start()
        return traffic

    def _renew(self) -> None:
        try:
            self._read(self._ids)
        except StoreError as error:
            log.warning("the traffic around issues was not read", reason=str(error))
        finally:
            self._reading.release()

    def _read(self, ids: Sequence[str]) -> Traffic:
        now = self._clock()
        traffic = Traffic(
            outside=FailuresOutside(self._store, now),
            answers=views.requests(self._store, now, ids),
            read=time.monotonic(),
        )
        self._ids, self._traffic = tuple(ids), traffic
        return traffic
