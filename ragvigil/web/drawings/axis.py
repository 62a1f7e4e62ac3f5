"""Marks of a time axis at round times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ragvigil.model import figures

MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440, 2880, 7200, 14_400)
MOST_MARKS = 6
EDGE = 3.0
"""Percent of the axis at either end that has no mark: its words would be cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A time on the axis: `x` in percent."""

    x: float
    time: datetime
    words: str


def time_marks(since: datetime, until: datetime) -> tuple[Mark, ...]:
    """At most MOST_MARKS round times, in UTC.

    >>> from datetime import timedelta
    >>> begin = datetime(2026, 11, 22, 1, 36, tzinfo=UTC)
    >>> [(mark.words, mark.x) for mark in time_marks(begin, begin + timedelta(hours=6))]
    [('02:00', 6.67), ('04:00', 40.0), ('06:00', 73.33)]
    """
    minutes = (until - since).total_seconds() / 60
    months = int(minutes / MOST_MARKS // MINUTES[-1] + 1) * MINUTES[-1]
    step = next((step for step in MINUTES if minutes / step < MOST_MARKS - 1), months)
    first = since.timestamp() // (60 * step) * 60 * step
    marks = (
        datetime.fromtimestamp(first + 60 * step * index, UTC) for index in range(MOST_MARKS + 2)
    )
    return tuple(
        Mark(x=place, time=time, words=_words(time, step))
        for time in marks
        if EDGE <= (place := percent(time, since, until)) <= 100 - EDGE
    )


def percent(time: datetime, since: datetime, until: datetime) -> float:
    """The place of a time between two, 0 to 100; times outside are at the ends."""
    span = (until - since).total_seconds() or 1.0
    return round(min(max((time - since).total_seconds() / span, 0.0), 1.0) * 100, 2)


def _words(time: datetime, step: int) -> str:
    return f"{time.day} {figures.MONTHS[time.month - 1]}" if step >= 1440 else f"{time:%H:%M}"
