"""A change with its interval on a scale that is the same everywhere: -80 to +20 points."""

from __future__ import annotations

from dataclasses import dataclass

from ragvigil.model import figures

WIDTH = 160
INSET = 4
LOWEST, HIGHEST = -0.80, 0.20


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """Places on the scale, in px; None for what is unknown. `says` is the drawing in words."""

    says: str
    dot: float | None = None
    low: float | None = None
    high: float | None = None
    smallest: float | None = None
    is_alarm: bool = False
    zero: float = 0.0


def whisker(
    change: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    smallest_drop: float | None = None,
    is_alarm: bool = False,
) -> Whisker:
    """Draws a change of a share; `smallest_drop` is the smallest that would show, above 0.

    Beyond the scale it is clipped: its number stands beside it.

    >>> drawn = whisker(-0.56, -0.64, -0.48, smallest_drop=0.02, is_alarm=True)
    >>> drawn.dot, drawn.low, drawn.says
    (40.48, 28.32, '−56 points, between 48 and 64; the smallest drop that would show is 2 points')
    >>> whisker(None).says
    'not known yet'
    """
    return Whisker(
        says=_words(change, low, high, smallest_drop),
        dot=_place(change),
        low=_place(low) if change is not None else None,
        high=_place(high) if change is not None else None,
        smallest=_place(-smallest_drop) if smallest_drop is not None else None,
        is_alarm=is_alarm,
        zero=place(0.0),
    )


def place(change: float) -> float:
    """The x of a change, clipped to the scale."""
    part = (min(max(change, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
    return round(INSET + part * (WIDTH - 2 * INSET), 2)


def _place(change: float | None) -> float | None:
    return None if change is None else place(change)


def _words(
    change: float | None, low: float | None, high: float | None, smallest: float | None
) -> str:
    if change is None:
        return "not known yet"
    interval = f", {figures.between(low, high)}" if low is not None and high is not None else ""
    shows = f"; the smallest drop that would show is {figures.in_points(smallest)}"
    return f"{figures.points(change)} points{interval}{shows if smallest is not None else ''}"
