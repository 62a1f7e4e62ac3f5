"""A series over time: its past, its interval, what changed, and its last value at its end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ragvigil.model import figures
from ragvigil.web.drawings import axis
from ragvigil.web.drawings.path import Point, path, ribbon

WIDTH = 1000
"""Of the part that is stretched to the width of the page."""
LEAST_SPAN = 0.1
"""Of a scale that is zoomed to its values."""
NEAR = 12.0
"""Percent between two events below which the words of the second would cover the first's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean of one step of time, None where there is none, with its interval at 95 %."""

    time: datetime
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The usual range at a time."""

    time: datetime
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened: a change with its letter, or a step of an incident."""

    time: datetime
    words: str
    is_alarm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Words at a place of the drawing: `x` in percent, `y` in px."""

    x: float
    words: str
    y: float = 0.0
    is_alarm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Paths over WIDTH x `height`, stretched to the page; places in percent.

    `data` is JSON for the script that shows single values: times in Unix seconds, values, ends of
    intervals, counts of answers, and the scale.
    """

    says: str
    height: int
    calm: str
    alarm: str
    interval: str
    past: str
    past_edges: tuple[str, str]
    end: Placed | None
    levels: tuple[Placed, ...]
    marks: tuple[axis.Mark, ...]
    changes: tuple[Placed, ...]
    events: tuple[Placed, ...]
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axes:
    """Where times and values lie; values beyond the scale lie at its ends."""

    since: datetime
    until: datetime
    low: float
    high: float
    height: int

    def y(self, value: float) -> float:
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.height * (1 - part), 2)

    def line(self, values: Iterable[tuple[datetime, float | None]]) -> list[Point | None]:
        return [
            None if value is None else (self.x(time) * WIDTH / 100, self.y(value))
            for time, value in values
        ]

    def x(self, time: datetime) -> float:
        return axis.percent(time, self.since, self.until)

    def placed(self, event: Event) -> Placed:
        return Placed(x=self.x(event.time), words=event.words, is_alarm=event.is_alarm)

    def levels(self) -> tuple[Placed, ...]:
        decimals = 1 if self.high - self.low > 0.5 else 2
        values = (self.high, (self.low + self.high) / 2, self.low)
        return tuple(Placed(x=0.0, y=self.y(each), words=f"{each:.{decimals}f}") for each in values)


def series(
    means: Sequence[Mean],
    since: datetime,
    until: datetime,
    *,
    says: str,
    past: Sequence[Past] = (),
    onset: datetime | None = None,
    changes: Sequence[Event] = (),
    events: Sequence[Event] = (),
    is_zoomed: bool = False,
    height: int = 160,
) -> Series:
    """Draws means, oldest first, on a scale of 0 to 1, or zoomed to what is known of them.

    `says` is the drawing in words. `changes` have their letters as words. From the onset on, the
    line is in alarm: it begins anew there, as a slope between two means would begin before it.
    """
    low, high = _scale(means, past) if is_zoomed else (0.0, 1.0)
    axes = _Axes(since=since, until=until, low=low, high=high, height=height)
    line = axes.line((mean.time, mean.value) for mean in means)
    lower = axes.line((each.time, each.low) for each in past)
    upper = axes.line((each.time, each.high) for each in past)
    lows = axes.line((mean.time, mean.low) for mean in means)
    highs = axes.line((mean.time, mean.high) for mean in means)
    turn = _turn(means, onset)
    return Series(
        says=says,
        height=height,
        calm=path(line[:turn]),
        alarm=path(line[turn:]) if turn < len(line) else "",
        interval=ribbon(highs, lows),
        past=ribbon(upper, lower),
        past_edges=(path(upper), path(lower)),
        end=_end(means, line, is_alarm=turn < len(line)),
        levels=axes.levels(),
        marks=axis.time_marks(since, until),
        changes=tuple(map(axes.placed, changes)),
        events=_apart(list(map(axes.placed, events))),
        data=_data(means, axes),
    )


def _turn(means: Sequence[Mean], onset: datetime | None) -> int:
    """The index of the first mean from the onset on; all of them are before it without one."""
    if onset is None:
        return len(means)
    return next((at for at, mean in enumerate(means) if mean.time >= onset), len(means))


def _end(means: Sequence[Mean], line: Sequence[Point | None], *, is_alarm: bool) -> Placed | None:
    for mean, place in zip(reversed(means), reversed(line), strict=True):
        if place is not None:
            words = figures.score(mean.value)
            return Placed(
                x=round(100 * place[0] / WIDTH, 2), y=place[1], words=words, is_alarm=is_alarm
            )
    return None


def _apart(events: Sequence[Placed]) -> tuple[Placed, ...]:
    """The events, without the words of those that stand too near to the one before."""
    shown: list[Placed] = []
    last = -NEAR
    for event in sorted(events, key=lambda event: event.x):
        is_clear = event.x - last >= NEAR
        last = event.x if is_clear else last
        words = event.words if is_clear else ""
        shown.append(Placed(x=event.x, words=words, is_alarm=event.is_alarm))
    return tuple(shown)


def _scale(means: Sequence[Mean], past: Sequence[Past]) -> tuple[float, float]:
    """From a round tenth below means and past to one above, within 0 and 1.

    Intervals are cut: that of a single score is as wide as the scale.
    """
    ends = [mean.value for mean in means if mean.value is not None]
    ends += [end for each in past for end in (each.low, each.high)]
    if not ends:
        return 0.0, 1.0
    low, high = max(int(10 * min(ends)) / 10, 0.0), min(-int(-10 * max(ends) - 0.999) / 10, 1.0)
    return (low, high) if high - low >= LEAST_SPAN else (max(high - LEAST_SPAN, 0.0), high)


def _data(means: Sequence[Mean], axes: _Axes) -> str:
    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 3)

    return json.dumps(
        {
            "from": int(axes.since.timestamp()),
            "to": int(axes.until.timestamp()),
            "scale": [axes.low, axes.high],
            "time": [int(mean.time.timestamp()) for mean in means],
            "value": [rounded(mean.value) for mean in means],
            "low": [rounded(mean.low) for mean in means],
            "high": [rounded(mean.high) for mean in means],
            "n": [mean.n for mean in means],
        },
        separators=(",", ":"),
    )
