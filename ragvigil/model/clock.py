"""The daemon's clock: the machine's time or, for rehearsals, a time that runs faster.

`RAGVIGIL_CLOCK=60@1767225600` makes each second of the machine a minute of the daemon, counted from
the moment (seconds since the epoch) at which both agree: a rehearsal of a day takes 24 minutes.
Both processes and all senders of spans must use the same value, and alerting rules must run at the
same factor. Timeouts of disks, sockets and models are not scaled.
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
    """How many times faster than the machine's the daemon's time runs, and since when.

    >>> Pace.parse("60@1767225600").at(1767225610)
    1767226200.0
    >>> Pace.parse("").at(1767225610.5)
    1767225610.5
    """

    factor: float = 1.0
    origin: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Pace:
        """Parses `FACTOR@SECONDS`; an empty text is the machine's time. Raises ValueError."""
        if not text:
            return cls()
        factor, _, origin = text.partition("@")
        parsed = cls(factor=float(factor), origin=float(origin))
        if not 1 <= parsed.factor <= 10_000:
            raise ValueError(f"{parsed.factor} is not between 1 and 10000")
        return parsed

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
    """`RAGVIGIL_CLOCK` has a wrong form; the message is one sentence."""


def pace(environment: Mapping[str, str] = os.environ) -> Pace:
    """The pace that the environment sets. Raises BadClock if its form is wrong."""
    text = environment.get(VARIABLE, "")
    try:
        return Pace.parse(text)
    except ValueError as error:
        raise BadClock(f"{VARIABLE}: {text} is not FACTOR@SECONDS: {error}") from error
