"""The daemon's clock: the time of the day, or for rehearsals one that runs faster.

`RAGVIGIL_CLOCK=60@1767225600` makes every second of the machine a minute of the daemon, counted
from the moment (seconds since the epoch) at which both agree: a rehearsal of a day takes 24
minutes. Both processes and whoever sends spans read it alike, and alerting rules have to run at
the same factor. Waits for disks, sockets and models stay as they are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

VARIABLE = "RAGVIGIL_CLOCK"

Clock: TypeAlias = Callable[[], float]
"""Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How much faster than the machine's the daemon's time runs, and since when.

    >>> Pace.parse("60@1767225600").at(1767225610)
    1767226200.0
    >>> Pace.parse("").at(1767225610.5)
    1767225610.5
    """

    factor: float = 1.0
    origin: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Pace:
        """Reads `FACTOR@SECONDS`; empty is the time of the day. Raises ValueError."""
        if not text:
            return cls()
        factor, _, origin = text.partition("@")
        made = cls(factor=float(factor), origin=float(origin))
        if not 1 <= made.factor <= 10_000:
            raise ValueError(f"{made.factor} is not between 1 and 10000")
        return made

    def at(self, machine: float) -> float:
        """The daemon's time when the machine's is `machine`."""
        return self.origin + (machine - self.origin) * self.factor

    def now(self) -> float:
        """The daemon's time."""
        return self.at(time.time())

    def now_nanos(self) -> int:
        """The daemon's time in nanoseconds."""
        return int(self.now() * 1e9) if self.factor != 1 else time.time_ns()


class BadClock(ValueError):
    """`RAGVIGIL_CLOCK` cannot be read; one sentence."""


def pace(environment: Mapping[str, str] = os.environ) -> Pace:
    """The pace that the environment asks for. Raises BadClock where it cannot be read."""
    text = environment.get(VARIABLE, "")
    try:
        return Pace.parse(text)
    except ValueError as error:
        raise BadClock(f"{VARIABLE}: {text} is not FACTOR@SECONDS: {error}") from error
