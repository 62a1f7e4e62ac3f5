"""How many answers are made at once, and who waits how long for a turn."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MOST_WAIT_SECONDS = 5.0
"""A request that would wait longer is refused: its client would give up, and ask again."""
WEIGHT = 0.3
"""Share of the newest answer in the mean of its route's seconds."""
FIRST_GUESS_SECONDS = 0.1


class Busy(Exception):
    """A turn would come too late."""

    def __init__(self, wait_seconds: float) -> None:
        super().__init__(f"about {wait_seconds:.0f} s")
        self.retry_seconds = max(1, math.ceil(wait_seconds))


class Turns:
    """Gives out turns in the order in which they are asked for, `at_once` at a time.

    For one event loop. The wait is foreseen from what answers of each route took lately.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._at_once, self._clock = at_once, clock
        self._mean: dict[str, float] = {}
        self._waiting: list[str] = []
        self._running: list[tuple[str, float]] = []

    def wait_seconds(self) -> float:
        """Seconds until a turn that is asked for now is likely to come; 0 where one is free."""
        if len(self._waiting) + len(self._running) < self._at_once:
            return 0.0
        now = self._clock()
        # One that takes longer than usual is taken to need as much time again.
        left = [abs(self._usual(route) - (now - since)) for route, since in self._running]
        ahead = [self._usual(route) for route in self._waiting]
        return (sum(left) + sum(ahead)) / self._at_once

    @asynccontextmanager
    async def turn(self, route: str) -> AsyncIterator[None]:
        """Waits for a turn, which lasts as long as the block. Raises Busy."""
        wait = self.wait_seconds()
        if wait > MOST_WAIT_SECONDS:
            raise Busy(wait)
        self._waiting.append(route)
        try:
            await self._free.acquire()
        finally:
            self._waiting.remove(route)
        started = self._clock()
        running = (route, started)
        self._running.append(running)
        try:
            yield
            seconds = self._clock() - started
            before = self._mean.get(route, seconds)
            self._mean[route] = before * (1 - WEIGHT) + seconds * WEIGHT
        finally:
            self._running.remove(running)
            self._free.release()

    def _usual(self, route: str) -> float:
        return self._mean.get(route, FIRST_GUESS_SECONDS)
