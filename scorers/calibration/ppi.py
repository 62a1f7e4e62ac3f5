"""Estimates the level that people would find: a judge on many records, labels on some. Pure.

PPI++ (Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient Prediction-Powered Inference", arXiv
2311.01453): the mean of the labels, corrected by the judge,
`θ = mean(label) - λ (mean(judge, labelled) - mean(judge, unlabelled))`, with the λ of the narrowest
interval, so that a useless judge does no harm. If people did not label a random part of the records
but, say, failures, the level is that of their choice and not that of the service.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorers.calibration.kappa import Floats

LEAST_LABELS = 3
LEAST_TO_TUNE = 10
"""Least labels to fit λ; with fewer the judge is ignored."""
LEAST_SQUARES = 1.0
"""Least sum of squared residuals: a sample of equal labels would have an interval of width 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A mean in 0..1 with its 95 % interval.

    `judged` is the judge's own mean over all records. `weight` is λ (0..1): how much the judge
    corrects the mean of the labels.
    """

    mean: float
    low: float
    high: float
    judged: float
    labels: int
    records: int
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Number, sum and sum of squares of some values."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> Sums:
        """Sums these values."""
        return cls(n=len(values), total=sum(values), squares=sum(value**2 for value in values))

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            n=self.n + other.n,
            total=self.total + other.total,
            squares=self.squares + other.squares,
        )

    def __sub__(self, other: Sums) -> Sums:
        return self + Sums(n=-other.n, total=-other.total, squares=-other.squares)

    @property
    def mean(self) -> float:
        """The mean of the values; `n` must not be 0."""
        return self.total / self.n

    @property
    def variance(self) -> float:
        """The population variance of the values; `n` must not be 0."""
        return max(self.squares / self.n - self.mean**2, 0.0)


def debiased_level(
    labels: Sequence[float], judged: Sequence[float], unlabelled: Sums
) -> Level | None:
    """Estimates the mean label over all records; None with fewer than 3 labels.

    `judged` are the judge's scores of the labelled records, in the same order, `unlabelled` those
    of the others; all values are in 0..1. Raises ValueError if labels and judged differ in length.
    """
    if len(labels) != len(judged):
        raise ValueError(f"{len(labels)} labels against {len(judged)} judged")
    n = len(labels)
    if n < LEAST_LABELS:
        return None
    truth, predicted = np.asarray(labels, dtype=np.float64), np.asarray(judged, dtype=np.float64)
    weight = _tune_weight(truth, predicted, unlabelled)
    gap = predicted.mean() - unlabelled.mean if weight else 0.0
    mean = float(truth.mean() - weight * gap)
    freedom = n - 2 if weight else n - 1  # λ is estimated as well
    squares = float((truth - weight * predicted).var()) * n
    variance = max(squares / freedom / n, LEAST_SQUARES / (n * (n + 2)))
    if weight:  # the judge's mean over the unlabelled records has an error too
        variance += weight**2 * unlabelled.variance / (unlabelled.n - 1)
    half = student(freedom) * math.sqrt(variance)
    inside = min(max(mean, 0.0), 1.0)
    return Level(
        mean=inside,
        low=max(0.0, min(inside, mean - half)),
        high=min(1.0, max(inside, mean + half)),
        judged=(Sums.of(judged) + unlabelled).mean,
        labels=n,
        records=n + unlabelled.n,
        weight=weight,
    )


def _tune_weight(truth: Floats, predicted: Floats, unlabelled: Sums) -> float:
    """λ, the weight of the judge, 0..1; 0 if there are too few labels or the judge never varies."""
    n = len(truth)
    spread = (Sums.of(predicted.tolist()) + unlabelled).variance
    if n < LEAST_TO_TUNE or unlabelled.n < 2 or spread < 1e-9:
        return 0.0
    together = float(np.cov(truth, predicted)[0, 1])
    return min(max(together / ((1 + n / unlabelled.n) * spread), 0.0), 1.0)


def student(freedom: int) -> float:
    """The 0.975 quantile of Student's t, by Cornish-Fisher: within 1 % from 3 degrees of freedom.

    >>> [round(student(freedom), 2) for freedom in (1, 2, 10, 100)]
    [12.71, 4.3, 2.23, 1.98]
    """
    exact = {1: 12.706, 2: 4.303}
    if freedom in exact:
        return exact[freedom]
    z = 1.959964
    return (
        z
        + (z**3 + z) / 4 / freedom
        + (5 * z**5 + 16 * z**3 + 3 * z) / 96 / freedom**2
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / freedom**3
    )
