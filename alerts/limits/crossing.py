"""Whether a window lies beyond a limit, at 95 %, and back within it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alerts.deltas.windows import Floats
from alerts.limits.settings import OwnLimit
from alerts.signals.ceilings import OVER, evidence
from ragvigil.model import figures
from ragvigil.model.wilson import wilson

BIN_SECONDS = 300
Place = tuple[str, str, str]
"""Service, environment and route; the route is `*` for all routes together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """Sums of one place by bins of BIN_SECONDS from `start` (seconds), each of shape (bins,)."""

    start: int
    n: Floats
    total: Floats
    squares: Floats

    def window(self, end: int, minutes: int) -> tuple[float, float, float]:
        """Sums of the `minutes` before `end`, seconds."""
        last = (end - self.start) // BIN_SECONDS
        part = slice(max(0, last - minutes * 60 // BIN_SECONDS), last)
        return (
            float(self.n[part].sum()),
            float(self.total[part].sum()),
            float(self.squares[part].sum()),
        )


def is_beyond(limit: OwnLimit, n: float, total: float, squares: float) -> bool:
    """Whether the 95 % interval of a window lies wholly beyond the limit, and n is enough."""
    if n < limit.least:
        return False
    if limit.is_share:
        hits, bound = (
            (total, limit.bound) if limit.above is not None else (n - total, 1 - limit.bound)
        )
        return evidence(hits, n, bound) >= OVER
    low, high = interval(limit, n, total, squares)
    return low > limit.bound if limit.above is not None else high < limit.bound


def is_within(limit: OwnLimit, n: float, total: float) -> bool:
    """Whether a window's value lies within the limit again; without values it is not known."""
    if not n:
        return False
    value = total / n
    return value <= limit.bound if limit.above is not None else value >= limit.bound


def interval(limit: OwnLimit, n: float, total: float, squares: float) -> tuple[float, float]:
    """The 95 % interval of a window's mean or share; n is at least 2."""
    if limit.is_share:
        return wilson(total, n)
    variance = max(0.0, squares - total * total / n) / (n - 1)
    half = 1.96 * float(np.sqrt(variance / n))
    return total / n - half, total / n + half


def words(limit: OwnLimit, n: float, total: float, squares: float) -> str:
    """ "refusal:refused is 41 of 60 answers (68 % [56, 79], your limit is 30 %)"."""
    low, high = interval(limit, n, total, squares)
    if limit.is_share:
        share, bound = figures.share_within(total / n, (low, high)), figures.share(limit.bound)
        return f"{limit.signal} is {total:.0f} of {n:.0f} answers ({share}, your limit is {bound})"
    return (
        f"{limit.signal} is {total / n:.3g} [{low:.3g}, {high:.3g}] over {n:.0f} answers, "
        f"your limit is {limit.bound:g}"
    )
