"""Figures of a release with their intervals. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt

from ragvigil.model.wilson import wilson

Z = 1.96
TAIL = 0.95
LEAST_LATENCIES = 20
"""Fewer hold no 95th percentile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of `n` answers with its 95 % interval; `high` is None where nothing bounds it."""

    value: float
    low: float
    high: float | None
    n: int


def score_mean(n: int, total: float, squares: float) -> Figure | None:
    """The mean of values within 0..1; None of none.

    The variance has one more value at 0 and one at 1: three scores of 1.0 prove little.
    """
    if not n:
        return None
    mean = total / n
    variance = (squares + 1 - (total + 1) ** 2 / (n + 2)) / (n + 1)
    half = Z * sqrt(variance / n)
    return Figure(value=mean, low=max(0.0, mean - half), high=min(1.0, mean + half), n=n)


def money_mean(n: int, total: float, squares: float) -> Figure | None:
    """The mean of amounts of 0 or more; None of none. One amount has no upper bound."""
    if not n:
        return None
    mean = total / n
    if n == 1:
        return Figure(value=mean, low=0.0, high=None, n=n)
    half = Z * sqrt(max(0.0, squares - total**2 / n) / (n - 1) / n)
    return Figure(value=mean, low=max(0.0, mean - half), high=mean + half, n=n)


def share(count: int, n: int) -> Figure | None:
    """A share with Wilson's interval; None of none.

    >>> share(3, 100).value
    0.03
    """
    if not n:
        return None
    low, high = wilson(count, n)
    return Figure(value=count / n, low=low, high=high, n=n)


def tail(values: Sequence[float]) -> Figure | None:
    """The 95th percentile with its interval by order statistics; None of too few.

    >>> tail([float(number) for number in range(1, 1001)])
    Figure(value=950.0, low=936.0, high=964.0, n=1000)
    """
    n = len(values)
    if n < LEAST_LATENCIES:
        return None
    ordered = sorted(values)
    half = Z * sqrt(n * TAIL * (1 - TAIL))
    low, high = floor(n * TAIL - half), ceil(n * TAIL + half)
    return Figure(
        value=ordered[ceil(n * TAIL) - 1],
        low=ordered[max(1, low) - 1],
        high=ordered[high - 1] if high <= n else None,
        n=n,
    )
