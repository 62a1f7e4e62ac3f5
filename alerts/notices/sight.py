"""Detects fields that a route's requests always carried and lack now: nothing changed but sight."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from alerts.notices.rare import REFERENCE, Mark, Rare
from ragvigil.model.record import Absent

SELDOM = 0.05
"""Share of requests that may lack a field that a route always had."""
SAID_AFTER = 12
"""Requests since its beginning after which a lack is reported."""
SEEN_AGAIN = 30
"""Newest requests that all carry a field again, after which the lack is over: a lack of 30 % shows
in 99.998 % of as many requests."""
SILENT_NANOS = 24 * 3600 * 10**9
"""A lack ends with its route: after this long without a request."""
IMPLIED: Mapping[str, frozenset[str]] = {
    "retrieved": frozenset(
        {"document_texts", "retrieved_texts", "document_ids", "scores", "context"}
    ),
    "document_texts": frozenset({"retrieved_texts"}),
    "answer": frozenset({"citations"}),
    "model": frozenset({"answer", "citations", "prompt", "usage"}),
}
"""Fields that are lacking because another one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """A field that is not sent any more. `requests` and `lacking` count since its beginning.

    `until` is the first of the requests that carry it again, None while it lasts. `scopes` are
    those of the newest request that lacks it.
    """

    field: str
    reason: Absent
    since: Mark
    until: Mark | None = None
    requests: int = 0
    lacking: int = 0
    scopes: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of requests that lack it."""
        return self.lacking / self.requests if self.requests else 1.0


class Sight:
    """The fields that the requests of one route carry."""

    __slots__ = ("_again", "_lacks", "_newest", "_over", "_rares", "_requests")

    def __init__(self) -> None:
        self._rares: dict[str, Rare] = {}
        self._lacks: dict[str, Lack] = {}
        self._again: dict[str, deque[Mark]] = {}
        self._over: list[Lack] = []
        self._newest: Mark | None = None
        self._requests = 0

    def push(self, lacks: Mapping[str, Absent] | None, scopes: tuple[str, ...], mark: Mark) -> None:
        """Takes a request; None for one that failed and so tells nothing."""
        self._newest = mark
        if lacks is None:
            return
        if lacks or self._rares:
            self._compare(lacks, scopes, mark)
        self._requests += 1

    def resume(self, lack: Lack) -> None:
        """Goes on with a lack that was reported before a restart."""
        self._lacks.setdefault(lack.field, lack)
        self._rares.setdefault(lack.field, Rare())

    @property
    def open(self) -> tuple[Lack, ...]:
        """The lacks that last and are long enough to be said, without those that others imply."""
        said = {field: lack for field, lack in self._lacks.items() if lack.requests >= SAID_AFTER}
        implied = {other for field in said for other in IMPLIED.get(field, ())}
        return tuple(lack for field, lack in said.items() if field not in implied)

    def take_over(self) -> tuple[Lack, ...]:
        """The lacks that ended since the last call."""
        over, self._over = tuple(self._over), []
        return over

    def end_silent(self, now: int) -> None:
        """Ends the lacks of a route without a request for a day before `now` (nanoseconds)."""
        newest = self._newest
        if newest is None or now - newest.time_unix_nano < SILENT_NANOS:
            return
        self._over += [replace(lack, until=newest) for lack in self.open]
        self._lacks, self._again = {}, {}

    def _compare(self, lacks: Mapping[str, Absent], scopes: tuple[str, ...], mark: Mark) -> None:
        for field in lacks.keys() - self._rares.keys():
            # All requests before had it, so nothing was kept of them.
            self._rares[field] = Rare([False] * min(self._requests, REFERENCE))
        for field, rare in self._rares.items():
            reason = lacks.get(field)
            if field in self._lacks:
                self._go_on(field, reason, scopes, mark)
                continue
            usual = rare.usual
            first = rare.push(reason is not None, mark)
            if first is not None and reason is not None and usual <= SELDOM:
                count = mark.number - first.number + 1
                self._lacks[field] = Lack(
                    field=field, reason=reason, since=first, requests=count,
                    lacking=rare.newest(first), scopes=scopes,
                )  # fmt: skip
                self._again[field] = deque(maxlen=SEEN_AGAIN)

    def _go_on(
        self, field: str, reason: Absent | None, scopes: tuple[str, ...], mark: Mark
    ) -> None:
        lack = self._lacks[field]
        again = self._again.setdefault(field, deque(maxlen=SEEN_AGAIN))
        if reason is not None:
            again.clear()
            self._lacks[field] = replace(
                lack, requests=lack.requests + 1, lacking=lack.lacking + 1, reason=reason,
                scopes=scopes,
            )  # fmt: skip
            return
        again.append(mark)
        self._lacks[field] = replace(lack, requests=lack.requests + 1)
        if len(again) == SEEN_AGAIN:
            self._over.append(replace(lack, until=again[0]))
            del self._lacks[field], self._again[field]
            self._rares[field] = Rare([False] * SEEN_AGAIN)
