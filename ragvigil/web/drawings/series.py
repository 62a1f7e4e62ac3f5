"""A series over time: its past, its interval, what changed, and its last value at its end."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    line is in alarm.
    """
    low, high = _scale(means, past) if is_zoomed else (0.0, 1.0)

    def y(value: float) -> float:
        return round(height * (1 - (min(max(value, low), high) - low) / (high - low)), 2)

    def point(time: datetime, value: float | None) -> Point | None:
        return None if value is None else (axis.percent(time, since, until) * WIDTH / 100, y(value))

    line = [point(mean.time, mean.value) for mean in means]
    turn = _turn(means, onset)
    lower = [point(each.time, each.low) for each in past]
    upper = [point(each.time, each.high) for each in past]
    return Series(
        says=says,
        height=height,
        calm=path(line[:turn]),
        alarm=path(line[max(turn - 1, 0) :]) if turn < len(line) else "",
        interval=ribbon(
            [point(mean.time, mean.high) for mean in means],
            [point(mean.time, mean.low) for mean in means],
        ),
        past=ribbon(upper, lower),
        past_edges=(path(upper), path(lower)),
        end=_end(means, line, is_alarm=turn < len(line)),
        levels=tuple(
            Placed(x=0.0, y=y(level), words=f"{level:.{1 if high - low > 0.5 else 2}f}")
            for level in (high, (low + high) / 2, low)
        ),
        marks=axis.time_marks(since, until),
        changes=tuple(_placed(change, since, until) for change in changes),
        events=_apart([_placed(event, since, until) for event in events]),
        data=_data(means, since, until, low, high),
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


def _placed(event: Event, since: datetime, until: datetime) -> Placed:
    x = axis.percent(event.time, since, until)
    return Placed(x=x, words=event.words, is_alarm=event.is_alarm)


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
    """From a round tenth below everything that is drawn to one above, within 0 and 1."""
    ends = [end for mean in means for end in (mean.value, mean.low, mean.high) if end is not None]
    ends += [end for each in past for end in (each.low, each.high)]
    if not ends:
        return 0.0, 1.0
    low, high = max(int(10 * min(ends)) / 10, 0.0), min(-int(-10 * max(ends) - 0.999) / 10, 1.0)
    return (low, high) if high - low >= LEAST_SPAN else (max(high - LEAST_SPAN, 0.0), high)


def _data(means: Sequence[Mean], since: datetime, until: datetime, low: float, high: float) -> str:
    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 3)

    return json.dumps(
        {
            "from": int(since.timestamp()),
            "to": int(until.timestamp()),
            "scale": [low, high],
            "time": [int(mean.time.timestamp()) for mean in means],
            "value": [rounded(mean.value) for mean in means],
            "low": [rounded(mean.low) for mean in means],
            "high": [rounded(mean.high) for mean in means],
            "n": [mean.n for mean in means],
        },
        separators=(",", ":"),
    )
