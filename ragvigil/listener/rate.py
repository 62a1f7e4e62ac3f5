"""Bounds how many requests a token makes: who sends too many waits, the others do not."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

BURST_SECONDS = 10.0
"""Who was quiet may send at once what the rate allows in this time: exporters send in bursts."""
MOST_NAMES = 10_000


class RateLimit:
    """A token bucket a name, full at first. `per_second` None bounds nobody. For one thread.

    >>> limit = RateLimit(0.1, clock=lambda: 0.0)
    >>> limit.wait_seconds("ada"), limit.wait_seconds("ada"), limit.wait_seconds("bob")
    (0.0, 10.0, 0.0)
    """

    def __init__(
        self, per_second: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second, self._clock = per_second, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_seconds(self, name: str) -> float:
        """Counts a request; 0 where it may go on, else the seconds after which another may."""
        if self._per_second is None:
            return 0.0
        most = max(1.0, self._per_second * BURST_SECONDS)
        now = self._clock()
        left, since = self._buckets.pop(name, (most, now))
        left = min(most, left + (now - since) * self._per_second)
        is_free = left >= 1.0
        self._buckets[name] = (left - is_free, now)
        if len(self._buckets) > MOST_NAMES:
            self._buckets.popitem(last=False)
        return 0.0 if is_free else (1.0 - left) / self._per_second
