"""Topics on a map of two dimensions: size is the share of traffic, hue the share that fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

WIDTH, HEIGHT = 640, 420
INSET = 48
LEAST, MOST = 6.0, 40.0
"""Radii in px."""
NAMED = 8
"""Topics whose names may stand in the map; all stand in the table beside it."""
NAME_LENGTH, LETTER, LINE = 28, 6.5, 28
"""Characters of a name that are shown, and px of a character and of a line."""
HUES = (0.02, 0.1, 0.25, 0.5)
"""Failing shares from which the hue is one step stronger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A topic to draw: `x` and `y` on any scale, shares 0 to 1; `failing` None for unknown."""

    name: str
    x: float
    y: float
    share: float
    failing: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Circle:
    """A topic as drawn, in px. `hue` is 0 to 4; `name` is empty where another's would cover it."""

    spot: Spot
    x: float
    y: float
    radius: float
    hue: int
    name: str = ""

    @property
    def name_y(self) -> float:
        """Where its name stands, under the circle."""
        return round(self.y + self.radius + 14, 1)


def topic_map(spots: Sequence[Spot]) -> tuple[Circle, ...]:
    """Draws topics, the largest first, so that no small one is hidden.

    >>> near = Spot(name="refunds", x=0, y=0, share=0.64, failing=0.3)
    >>> far = Spot(name="shipping", x=1, y=1, share=0.16, failing=0.0)
    >>> [(each.spot.name, each.x, each.y, each.radius, each.hue) for each in topic_map([far, near])]
    [('refunds', 48.0, 372.0, 33.2, 3), ('shipping', 592.0, 48.0, 19.6, 0)]
    """
    xs, ys = [spot.x for spot in spots], [spot.y for spot in spots]
    circles = [
        Circle(
            spot=spot,
            x=_place(spot.x, xs, WIDTH),
            y=round(HEIGHT - _place(spot.y, ys, HEIGHT), 1),
            radius=round(LEAST + (MOST - LEAST) * math.sqrt(max(spot.share, 0.0)), 1),
            hue=sum((spot.failing or 0.0) >= least for least in HUES),
        )
        for spot in sorted(spots, key=lambda spot: -spot.share)
    ]
    return (*_named(circles[:NAMED]), *circles[NAMED:])


def _named(circles: Sequence[Circle]) -> Iterator[Circle]:
    """The circles with their names, the larger first, where there is room for one."""
    named: list[Circle] = []
    for circle in circles:
        name = circle.spot.name
        short = name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"
        with_name = replace(circle, name=short)
        if not any(_cover(with_name, other) for other in named):
            named.append(with_name)
            yield with_name
        else:
            yield circle


def _cover(first: Circle, second: Circle) -> bool:
    width = (len(first.name) + len(second.name)) * LETTER / 2
    near = abs(first.name_y - second.name_y) < LINE
    return near and abs(first.x - second.x) < width


def _place(value: float, values: Sequence[float], length: int) -> float:
    low, high = min(values), max(values)
    part = (value - low) / (high - low) if high > low else 0.5
    return round(INSET + part * (length - 2 * INSET), 1)
