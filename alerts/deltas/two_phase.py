"""Estimates the judged mean with the help of a cheap score that every record has. Pure.

A cheap score x is known of all N records, the judge's score y of a sample, drawn with known
probabilities. The mean of y is corrected by how far the sample's x is from that of all records:
`mean = ȳ + b (x̄_all - x̄_sample)`, the regression estimator of two-phase sampling (Särndal,
Swensson and Wretman, Model Assisted Survey Sampling, ch. 9), with b fitted on the sample. What it
estimates is the mean of the process, of which the N records are a sample too. The effective n is
1 / (1 - ρ² (1 - f)) times that of the sample, ρ the correlation, f the share judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alerts.deltas.compute import student
from alerts.deltas.windows import Floats, Ints

LEAST_TO_FIT = 10
"""With fewer pairs, fitting a slope adds more variance than it removes."""
LEAST_FOR_AN_INTERVAL = 3
LEAST_SQUARES = 1.0
"""Smallest sum of squared residuals: equal scores prove little (as in `Counts.variance`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPhase:
    """A mean with its 95 % interval, both within 0..1.

    `n_effective` is the size of a plain uniform sample that would be as precise. `slope` is 0
    where the cheap score was of no use: too few pairs, or it does not vary.
    """

    mean: float
    low: float
    high: float
    n: int
    n_effective: float
    slope: float


def judged_mean(cheap: Floats, judged: Floats, place: Ints, probability: Floats) -> TwoPhase | None:
    """Estimates the mean of the judged score; None where nothing was judged.

    `cheap` has the shape (N,), NaN where it could not be computed; `judged`, `place` (positions
    in `cheap`) and `probability` (of being judged, over 0 to 1) have the shape (n,).
    """
    n = len(judged)
    if n == 0:
        return None
    values = cheap[~np.isnan(cheap)]
    # The estimator needs an x of every record: where the cheap score is missing, its mean is used.
    filled = np.where(np.isnan(cheap), values.mean() if len(values) else 0.0, cheap)
    weight = 1 / probability
    weight = weight / weight.sum()
    x = filled[place] - weight @ filled[place]
    y = judged - weight @ judged
    own = float(weight @ x**2)
    fits = n >= LEAST_TO_FIT and own > 1e-12
    slope = float(weight @ (x * y)) / own if fits else 0.0
    gap = filled.mean() - weight @ filled[place] if fits else 0.0
    mean = float(weight @ judged + slope * gap)
    # Calibrated weights include the cost of fitting the slope, leverages that of having few pairs.
    stretch = 1 + gap * x / own if fits else np.ones(n)
    leverage = weight * (1 + x**2 / own) if fits else weight
    rest = _variance(weight * stretch, y - slope * x, leverage)
    variance = rest + slope**2 * float(filled.var()) / len(filled)
    half = _half_width(variance, n, n - 1 - fits)
    inside = min(max(mean, 0.0), 1.0)
    return TwoPhase(
        mean=inside,
        low=max(0.0, min(mean - half, inside)),
        high=min(1.0, max(mean + half, inside)),
        n=n,
        n_effective=_single_variance(weight, y) / variance,
        slope=slope,
    )


def _variance(weight: Floats, residual: Floats, leverage: Floats) -> float:
    """Variance of a weighted mean from its residuals (HC2: each over 1 less its leverage)."""
    n = len(weight)
    variance = float(weight**2 @ (residual**2 / np.maximum(1 - leverage, 1 / n)))
    return max(variance, LEAST_SQUARES / (n * (n + 2)))


def _single_variance(weight: Floats, residual: Floats) -> float:
    """Variance of a single score."""
    n = len(weight)
    return max(float(weight @ residual**2) * n / max(n - 1, 1), LEAST_SQUARES / (n + 2))


def _half_width(variance: float, n: int, freedom: int) -> float:
    """Half the width of the interval; 1, all of the range, below LEAST_FOR_AN_INTERVAL scores."""
    if n < LEAST_FOR_AN_INTERVAL:
        return 1.0
    return float(student(np.array([float(freedom)]))[0]) * math.sqrt(variance)
