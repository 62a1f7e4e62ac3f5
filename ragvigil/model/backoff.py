"""Pauses between attempts that double, up to a longest one.

`Backoff` computes a pause from the number of failures; `Pause` also remembers the failures and
says when the next attempt is due. Both take the time as an argument: a clock that never runs
backwards, in seconds.

>>> backoff = Backoff(first_seconds=1.0, longest_seconds=60.0)
>>> [backoff.seconds(failures) for failures in (1, 2, 3, 7, 10_000)]
[1.0, 2.0, 4.0, 60.0, 60.0]
>>> pause = Pause(backoff)
>>> pause.failed(now=100.0)
1.0
>>> pause.is_over(now=100.5), pause.is_over(now=101.0)
(False, True)
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

MOST_DOUBLINGS = 60
"""2.0 ** 1024 overflows a float; after 60 doublings every pause is the longest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The pause after each failure in a row: `first_seconds`, doubled up to `longest_seconds`."""

    first_seconds: float
    longest_seconds: float

    def seconds(self, failures: int) -> float:
        """The pause after this many failures in a row, counted from 1."""
        doublings = min(max(failures, 1) - 1, MOST_DOUBLINGS)
        return min(self.first_seconds * 2.0**doublings, self.longest_seconds)

    def jittered_seconds(
        self, failures: int, *, requested: float | None, chance: random.Random
    ) -> float:
        """A random pause between zero and `seconds(failures)`, or the one the server requested.

        The whole span is random ("full jitter", AWS Architecture Blog, 2015). A `requested`
        pause is lengthened by up to a tenth, so that clients do not come back together, and is
        never longer than `longest_seconds`.

        >>> backoff = Backoff(first_seconds=0.5, longest_seconds=30.0)
        >>> backoff.jittered_seconds(1, requested=3600.0, chance=random.Random(1))
        30.0
        """
        if requested is not None:
            return min(requested * chance.uniform(1.0, 1.1), self.longest_seconds)
        return chance.uniform(0.0, self.seconds(failures))


class Pause:
    """Says when the next attempt is due. For one thread.

    Failures in a row are forgotten at `succeeded`, and by a failure that comes more than
    `healthy_seconds` after the last pause was over: what ran that long was not failing.
    """

    def __init__(self, backoff: Backoff, *, healthy_seconds: float = math.inf) -> None:
        self._backoff, self._healthy_seconds = backoff, healthy_seconds
        self._failures = 0
        self._until = -math.inf

    def failed(self, now: float) -> float:
        """An attempt failed; returns the seconds until the next one."""
        if now - self._until > self._healthy_seconds:
            self._failures = 0
        self._failures += 1
        seconds = self._backoff.seconds(self._failures)
        self._until = now + seconds
        return seconds

    def succeeded(self) -> None:
        """Forgets the failures: the next attempt is due at once."""
        self._failures, self._until = 0, -math.inf

    def is_over(self, now: float) -> bool:
        """Whether the next attempt is due."""
        return now >= self._until

    def remaining(self, now: float) -> float:
        """Seconds until the next attempt is due; 0 if it is."""
        return max(0.0, self._until - now)
