"""Which connections go when a listener is full."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Generic, TypeVar

Connection = TypeVar("Connection")

GRACE_SECONDS = 1.0
"""Who sent no whole request yet, and no byte for this long, will hardly send one."""
AT_ONCE = 16
"""Silent connections closed together: ranking all of them for each new one would cost too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting(Generic[Connection]):
    """A connection whose client has the turn: it may be closed without loss of our work.

    `since` is the time of its last byte; `is_proven` says that one of its requests was answered.
    """

    connection: Connection
    peer: str
    since: float
    is_proven: bool

    def is_silent(self, now: float) -> bool:
        """Whether it will hardly ever send a request."""
        return not self.is_proven and now - self.since > GRACE_SECONDS


def first_to_go(
    waiting: Collection[Waiting[Connection]], now: float, most: int = AT_ONCE
) -> list[Connection]:
    """The connections to close so that a new one has room; none if `waiting` is empty.

    Those go first that never made a request and have been silent for GRACE_SECONDS, whoever they
    are; then those of the peer with most of them, the unproven before the proven, the longest
    silent first. A connection that made requests before goes alone: its client may be about to
    send the next.
    """
    of_peer = Counter(each.peer for each in waiting)

    def rank(each: Waiting[Connection]) -> tuple[bool, int, bool, float]:
        return (not each.is_silent(now), -of_peer[each.peer], each.is_proven, each.since)

    ranked = heapq.nsmallest(most, waiting, key=rank)
    unproven = [each for each in ranked if not each.is_proven]
    return [each.connection for each in unproven or ranked[:1]]
