"""Limits the bytes of requests that are in memory at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from collector.metrics import IN_FLIGHT
from collector.refusal import Refusal, Refused

RETRY_SECONDS = 2


class Hold:
    """The bytes that one request occupies; grows as its body arrives."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self.taken = 0

    def grow(self, count: int) -> None:
        """Adds `count` bytes; raises Refused (OVERLOADED) if other requests occupy too many.

        A request alone in memory always passes: the size of a body has its own limit.
        """
        others = self._budget.used - self.taken
        if others and self._budget.used + count > self._budget.limit:
            raise Refused(
                Refusal.OVERLOADED,
                f"{self._budget.limit} bytes of requests are in memory already; retry later",
                retry_seconds=RETRY_SECONDS,
            )
        self.taken += count
        self._budget.change(count)


class ByteBudget:
    """A counter with a ceiling. Refuses instead of waiting: a refused client retries."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def change(self, count: int) -> None:
        """Adds `count` bytes; a negative count gives bytes back."""
        self.used += count
        IN_FLIGHT.set(self.used)

    @contextmanager
    def hold(self, count: int = 0) -> Iterator[Hold]:
        """Occupies `count` bytes; gives everything back at the end."""
        hold = Hold(self)
        try:
            hold.grow(count)
            yield hold
        finally:
            self.change(-hold.taken)
