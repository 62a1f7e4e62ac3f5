"""Traffic by the minute for tests of the detectors: no store, no chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from ragvigil.model.delta import Series
from ragvigil.store.watch.signals import Sums

START = 1_767_225_600
"""A full hour."""
Cell = tuple[float, float, float]
"""Number, sum and sum of squares."""


def named(signal: str, route: str = "/a", segment: str = "") -> Series:
    return Series(service="shop", environment="live", route=route, rubric=signal, segment=segment)


def sums(cells: Mapping[tuple[Series, int], Cell]) -> Sums:
    """The sums of these cells, by series and start of their bin."""
    series = tuple(dict.fromkeys(each for each, _ in cells))
    n, total, squares = np.array(list(cells.values()), dtype=np.float64).reshape(-1, 3).T
    return Sums(
        series=series,
        index=np.array([series.index(each) for each, _ in cells], dtype=np.int64),
        start=np.array([start for _, start in cells], dtype=np.int64),
        n=n,
        total=total,
        squares=squares,
    )


def rate(failed: float, n: float) -> Cell:
    """The cell of a rate: `failed` of `n` requests."""
    return n, failed, failed


def values(mean: float, n: float, sd: float) -> Cell:
    """The cell of `n` values with this mean and standard deviation."""
    return n, n * mean, n * (mean * mean + sd * sd)


def table(
    cells: Callable[[int], Mapping[Series, Cell]], minutes: int, *, start: int = START
) -> SignalMinutes:
    """A table of the minutes from `start`, each with the cells of its number."""
    filled = SignalMinutes()
    for place in range(minutes):
        add(filled, start + place * MINUTE, cells(place))
    return filled


def add(filled: SignalMinutes, minute: int, cells: Mapping[Series, Cell]) -> None:
    """Adds one minute."""
    filled.advance(minute + MINUTE)
    filled.put_minutes([sums({(series, minute): cell for series, cell in cells.items()})], [minute])


def hours(
    cells: Callable[[int], Mapping[Series, Cell]], count: int, *, start: int = START
) -> SignalMinutes:
    """A table of that many past hours, and none of the minutes after them."""
    filled = SignalMinutes()
    filled.advance(start + (count + 2) * HOUR + MINUTE)
    for place in range(count):
        hour = start + place * HOUR
        filled.put_hours(
            [sums({(series, hour): cell for series, cell in cells(place).items()})], [hour]
        )
    return filled
