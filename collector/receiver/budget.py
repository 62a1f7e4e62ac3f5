"""The bytes that may be in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from collector.metrics import IN_FLIGHT
from collector.refusal import Refusal, Refused

RETRY_SECONDS = 2


class Hold:
    """The bytes that one request holds; grows as its body arrives."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self.taken = 0

    def grow(self, count: int) -> None:
        """Takes `count` bytes more; raises Refused (OVERLOADED) where others hold too many.

        A body alone in memory always passes: its size has a limit of its own.
        """
        others = self._budget.used - self.taken
        if others and self._budget.used + count > self._budget.limit:
            raise Refused(
                Refusal.OVERLOADED,
                f"{self._budget.limit} bytes of requests are in memory already; come back soon",
                retry_seconds=RETRY_SECONDS,
            )
        self.taken += count
        self._budget.change(count)


class ByteBudget:
    """A counter with a ceiling. Never waits: a client that waits times out, one told retries."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def change(self, count: int) -> None:
        """Counts bytes taken, or given back where negative."""
        self.used += count
        IN_FLIGHT.set(self.used)

    @contextmanager
    def hold(self, count: int = 0) -> Iterator[Hold]:
        """Takes bytes and gives all of them back at the end."""
        hold = Hold(self)
        try:
            hold.grow(count)
            yield hold
        finally:
            self.change(-hold.taken)
