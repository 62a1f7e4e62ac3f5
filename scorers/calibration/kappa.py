"""Cohen's kappa: agreement beyond chance, with a bootstrap interval. Pure.

    >>> people = ["pass"] * 25 + ["fail"] * 25
    >>> judge = ["pass"] * 20 + ["fail"] * 5 + ["pass"] * 10 + ["fail"] * 15
    >>> round(kappa(people, judge), 2)
    0.4

1 - observed / expected disagreement (Cohen 1960; weighted, 1968). Linear and quadratic weights are
for values on a scale; with quadratic weights, kappa is 2 cov / (var + var + squared difference of
means). The bar of 0.7 is that of scoring engines against people (Williamson, Xi and Breyer 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Verdict: TypeAlias = str | float

RESAMPLES = 2000
LEAST_RESAMPLES = 0.5
"""Share of the resamples in which kappa must be defined; with less there is no interval."""


class Weighting(StrEnum):
    """How much a disagreement counts, by the distance of the two verdicts."""

    NOMINAL = "nominal"
    """All disagreements count the same: categories without order."""
    LINEAR = "linear"
    QUADRATIC = "quadratic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Kappa of `n` pairs with its 95 % interval, -1..1.

    `value` is None where kappa is not defined: both sides always gave the same verdict, or there
    are no pairs.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def kappa(
    first: Sequence[Verdict], second: Sequence[Verdict], weighting: Weighting = Weighting.NOMINAL
) -> float | None:
    """Kappa of paired verdicts, -1..1; None where it is not defined.

    Raises ValueError if the two differ in length.
    """
    if not first and not second:
        return None
    table = _Table(first, second, weighting)
    point = float(table.kappas(np.ones((1, len(first))))[0])
    return None if np.isnan(point) else point


def kappa_with_interval(
    first: Sequence[Verdict],
    second: Sequence[Verdict],
    weighting: Weighting = Weighting.NOMINAL,
    *,
    seed: int = 0,
) -> Kappa:
    """Kappa with its percentile bootstrap interval; the same seed gives the same interval."""
    n = len(first)
    value = kappa(first, second, weighting)
    if value is None:
        return Kappa(n=n)
    chance = np.random.default_rng(seed)
    # Resampling pairs is the same as drawing how often each of them counts.
    counts = chance.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)
    kappas = _Table(first, second, weighting).kappas(counts)
    kappas = kappas[~np.isnan(kappas)]
    if len(kappas) < LEAST_RESAMPLES * RESAMPLES:
        return Kappa(n=n, value=value)
    low, high = np.quantile(kappas, [0.025, 0.975])
    return Kappa(n=n, value=value, low=float(low), high=float(high))


def kappa_gain(
    people: Sequence[Verdict], before: Sequence[Verdict], after: Sequence[Verdict], *, seed: int = 0
) -> Kappa:
    """How much larger kappa with people is after than before, on the same pairs, with its interval.

    Raises ValueError if they differ in length.
    """
    first, second = kappa(people, before), kappa(people, after)
    n = len(people)
    if first is None or second is None:
        return Kappa(n=n)
    chance = np.random.default_rng(seed)
    counts = chance.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)
    tables = [_Table(people, side, Weighting.NOMINAL) for side in (before, after)]
    gains = tables[1].kappas(counts) - tables[0].kappas(counts)
    gains = gains[~np.isnan(gains)]
    if len(gains) < LEAST_RESAMPLES * RESAMPLES:
        return Kappa(n=n, value=second - first)
    low, high = np.quantile(gains, [0.025, 0.975])
    return Kappa(n=n, value=second - first, low=float(low), high=float(high))


class _Table:
    """Paired verdicts as one-hot matrices, so that all resamples take a few matrix products."""

    def __init__(
        self, first: Sequence[Verdict], second: Sequence[Verdict], weighting: Weighting
    ) -> None:
        if len(first) != len(second):
            raise ValueError(f"{len(first)} verdicts against {len(second)}")
        levels, places = _levels(first, second, weighting)
        first_levels, other = places[: len(first)], places[len(first) :]
        self._distance = _distances(levels, weighting)
        self._apart = self._distance[first_levels, other]
        self._one, self._other = (np.eye(len(levels))[side] for side in (first_levels, other))

    def kappas(self, counts: Floats) -> Floats:
        """Kappa for each row of `counts`: how often each pair is drawn; NaN if undefined."""
        total = counts.sum(axis=1)
        observed = counts @ self._apart / total
        shares = (counts @ self._one / total[:, None], counts @ self._other / total[:, None])
        expected = ((shares[0] @ self._distance) * shares[1]).sum(axis=1)
        ratio = np.full(len(counts), np.nan)
        # Without expected disagreement kappa is undefined: NaN stays.
        np.divide(observed, expected, out=ratio, where=expected > 1e-12)
        return np.asarray(np.clip(1 - ratio, -1.0, 1.0))


def _levels(
    first: Sequence[Verdict], second: Sequence[Verdict], weighting: Weighting
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    kind: type = str if weighting is Weighting.NOMINAL else float
    verdicts = np.array([kind(verdict) for verdict in (*first, *second)])
    levels, places = np.unique(verdicts, return_inverse=True)
    return levels, places.reshape(-1)


def _distances(levels: NDArray[Any], weighting: Weighting) -> Floats:
    if weighting is Weighting.NOMINAL:
        return np.asarray(1 - np.eye(len(levels)))
    gaps = np.abs(levels[:, None] - levels[None, :])
    return np.asarray(gaps**2 if weighting is Weighting.QUADRATIC else gaps)
