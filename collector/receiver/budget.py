"""Limits the bytes of requests that are in memory at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from collector.metrics import IN_FLIGHT
from collector.refusal import Refusal, Refused

RETRY_SECONDS = 2


class Hold:
    """The bytes that one request occupies; grows as its body arrives."""

    def __init__(self, budget: ByteBudget) -> None:
        self._budget = budget
        self.taken = 0
        self.has_given_way = False

    def grow(self, count: int) -> None:
        """Adds `count` bytes; raises Refused (OVERLOADED) if other requests occupy too many.

        Bodies still on their way that are larger than this one give way to it. A request alone
        in memory always passes: the size of a body has its own limit.
        """
        self._budget.make_room(self, count)
        self.taken += count
        self._budget.change(count)

    def give_back(self) -> None:
        """Returns all bytes."""
        self._budget.change(-self.taken)
        self.taken = 0

    def overloaded(self) -> Refused:
        """The refusal of a request that has no room beside others."""
        return Refused(
            Refusal.OVERLOADED,
            f"{self._budget.limit} bytes of requests are in memory already; retry later",
            retry_seconds=RETRY_SECONDS,
        )

    def give_way(self) -> None:
        """Ends the request if its body is still arriving, and returns its bytes."""
        stop = self._budget.arriving.pop(self, None)
        if stop is not None:
            self.has_given_way = True
            stop()
            self.give_back()

    @contextmanager
    def arriving(self, stop: Callable[[], None]) -> Iterator[None]:
        """While inside, `give_way` calls `stop`, which must end this request."""
        self._budget.arriving[self] = stop
        try:
            yield
        finally:
            self._budget.arriving.pop(self, None)


class ByteBudget:
    """A counter with a ceiling. Refuses instead of waiting: a refused client retries."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self.arriving: dict[Hold, Callable[[], None]] = {}

    def change(self, count: int) -> None:
        """Adds `count` bytes; a negative count gives bytes back."""
        self.used += count
        IN_FLIGHT.set(self.used)

    def make_room(self, hold: Hold, count: int) -> None:
        """Ends arriving bodies, the largest first, until `hold` can grow by `count`.

        Only those that are larger than `hold` then is: a client that sends slowly, or never ends,
        must not shut out the others. Raises Refused (OVERLOADED) if that is not enough.
        """
        while self.used > hold.taken and self.used + count > self.limit:
            others = (other for other in self.arriving if other is not hold)
            largest = max(others, key=lambda other: other.taken, default=hold)
            if largest.taken <= hold.taken + count:
                raise hold.overloaded()
            largest.give_way()

    @contextmanager
    def hold(self, count: int = 0) -> Iterator[Hold]:
        """Occupies `count` bytes; gives everything back at the end."""
        hold = Hold(self)
        try:
            if count:
                hold.grow(count)
            yield hold
        finally:
            hold.give_back()


@asynccontextmanager
async def giving_way(hold: Hold, seconds: float | None = None) -> AsyncIterator[None]:
    """While inside, the request's body arrives: a smaller request may need its room.

    Raises Refused (OVERLOADED) then, and TimeoutError after `seconds`.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds) as patience:
            with hold.arriving(lambda: patience.reschedule(loop.time())):
                yield
    except TimeoutError:
        if not hold.has_given_way:
            raise
        raise hold.overloaded() from None
