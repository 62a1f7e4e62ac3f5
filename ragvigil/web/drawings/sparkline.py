"""A series as a small line with the band of its past, on a scale of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragvigil.web.drawings.path import Point, path

WIDTH, HEIGHT = 160, 36
INSET = 4
LEAST_SPAN = 0.4
"""Of a scale: the noise of a series that holds stays small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """Paths and places in px. `past` is the top and height of the band of its past."""

    says: str
    calm: str = ""
    alarm: str = ""
    end: Point | None = None
    past: tuple[float, float] | None = None
    changes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Counts by day. Each bar is its x, top and height; the last may be in alarm."""

    says: str
    bars: tuple[tuple[float, float, float], ...]
    is_alarm: bool = False


def sparkline(
    values: Sequence[float | None],
    *,
    says: str,
    past: tuple[float, float] | None = None,
    onset: float | None = None,
    changes: Sequence[float] = (),
) -> Sparkline:
    """Draws means of equal steps, oldest first, None where there is none.

    `past` is the usual range; `onset` and `changes` are places in time, 0 at the first value and
    1 at the last. From the onset on, the line is in alarm.

    >>> drawn = sparkline([1.0, 1.0, 1.0, 0.5, None], says="fell", onset=0.6)
    >>> drawn.calm, drawn.alarm, drawn.end
    ('M4 4L42 4L80 4', 'M80 4L118 32', (118.0, 32.0))
    """
    known = [value for value in values if value is not None]
    if not known:
        return Sparkline(says=says)
    low, span = _scale([*known, *(past or ())])
    step = (WIDTH - 2 * INSET) / max(len(values) - 1, 1)

    def y(value: float) -> float:
        return round(HEIGHT - INSET - (value - low) / span * (HEIGHT - 2 * INSET), 2)

    points = [
        None if value is None else (round(INSET + index * step, 2), y(value))
        for index, value in enumerate(values)
    ]
    turn = len(points) if onset is None else int(onset * (len(points) - 1) + 1e-9) + 1
    last = [point for point in points if point is not None][-1]
    return Sparkline(
        says=says,
        calm=path(points[:turn]),
        alarm=path(points[turn - 1 :]) if turn < len(points) else "",
        end=last,
        past=(y(past[1]), round(y(past[0]) - y(past[1]), 2)) if past else None,
        changes=tuple(round(INSET + part * (WIDTH - 2 * INSET), 2) for part in changes),
    )


def bars(counts: Sequence[int], *, says: str, is_alarm: bool = False) -> Bars:
    """Draws counts by day as bars of 8 in steps of 9, 24 high; a day without any is a thin line.

    >>> bars([0, 2, 4], says="grows").bars
    ((0.0, 23.0, 1.0), (9.0, 12.0, 12.0), (18.0, 0.0, 24.0))
    """
    most = max(counts, default=0) or 1
    heights = (max(round(24 * number / most, 1), 1.0) for number in counts)
    drawn = tuple((9.0 * index, 24 - height, height) for index, height in enumerate(heights))
    return Bars(says=says, bars=drawn, is_alarm=is_alarm)


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """The lowest value shown and the span, at least LEAST_SPAN wide around the middle."""
    low, high = min(values), max(values)
    missing = max(LEAST_SPAN - (high - low), 0.0)
    return low - missing / 2, high - low + missing
