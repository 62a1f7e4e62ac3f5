"""How far the core is behind the spool, and how long it takes to be there."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import structlog

log = structlog.get_logger()

WINDOW_SECONDS = 30.0
"""The pace is that of so long: a batch of large traces, or a look at the store, takes seconds."""
LEAST_SECONDS = 3.0
"""A pace that was measured for a shorter time is not told."""
STEP_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """Spans that are not stored yet, and the seconds they take: None before that can be told.

    `is_restart`: they waited when this life of the core began, or came while it read those.
    """

    spans: int
    seconds: float | None = None
    is_restart: bool = False

    def is_over(self, seconds: float) -> bool:
        """Whether they take longer than `seconds`, or nobody can tell yet."""
        return self.seconds is None or self.seconds > seconds

    def __str__(self) -> str:
        """One line for people.

        >>> print(Lag(spans=48_033, seconds=41.3, is_restart=True))
        reading back: 48,033 spans to go, about 40 s
        >>> print(Lag(spans=1_200_000, seconds=1_260.0))
        behind: 1,200,000 spans to go, about 21 min
        """
        what = "reading back" if self.is_restart else "behind"
        about = "" if self.seconds is None else f", about {_rounded(self.seconds)}"
        return f"{what}: {self.spans:,} spans to go{about}"


def _rounded(seconds: float) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{max(10, round(seconds, -1)):.0f} s"


class CatchUp:
    """Measures the core's pace, from the first turn on; one thread.

    `lag` is None while the core is not behind. Any thread may read it.
    """

    def __init__(self, spans: int, *, is_behind: bool) -> None:
        """Begins with the spans that waited already when this life of the core began."""
        self._places: deque[tuple[float, int]] = deque()
        self.lag = Lag(spans=spans, is_restart=True) if is_behind else None
        if self.lag is not None:
            log.info("reading back what waited in the spool", spans=spans)

    def update(self, now: float, *, done: int, to_go: int, is_behind: bool) -> None:
        """Takes the spans stored since the spool began, and those to go, at the time `now`."""
        if self._places and now - self._places[-1][0] < STEP_SECONDS:
            return
        self._places.append((now, done))
        while now - self._places[0][0] > WINDOW_SECONDS:
            self._places.popleft()
        was_restart = self.lag is not None and self.lag.is_restart
        if is_behind:
            self.lag = Lag(spans=to_go, seconds=self._seconds(to_go), is_restart=was_restart)
            return
        self.lag = None
        if was_restart:
            log.info("read back")

    def _seconds(self, to_go: int) -> float | None:
        (began, first), (ended, last) = self._places[0], self._places[-1]
        if ended - began < LEAST_SECONDS or last <= first:
            return None
        return to_go * (ended - began) / (last - first)
