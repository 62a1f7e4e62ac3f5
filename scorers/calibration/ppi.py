"""The level that people would have found, from a judge on many records and labels on some. Pure.

PPI++ (Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient Prediction-Powered Inference", arXiv
2311.01453): the mean of the labels, corrected by the judge,
`θ = mean(label) - λ (mean(judge, labelled) - mean(judge, unlabelled))`, with the λ that makes the
interval narrowest, so that a useless judge costs nothing. Where people labelled what they liked
(failures, say) instead of a random part, the level is theirs, not that of the service.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorers.calibration.kappa import Floats

LEAST_LABELS = 3
LEAST_TO_TUNE = 10
LEAST_SQUARES = 1.0
"""Squared residuals that a sample has at least: equal labels prove little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A mean in 0..1 with its 95 % interval.

    `judged` is the plain mean of the judge over all records; `weight` is λ, 0 where the judge was
    of no use and 1 where it is taken at its word.
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
    """Values by their number, sum and sum of squares."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> Sums:
        """The sums of these values."""
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
        """Their mean; there must be one."""
        return self.total / self.n

    @property
    def variance(self) -> float:
        """Their mean squared distance from the mean."""
        return max(self.squares / self.n - self.mean**2, 0.0)


def debiased_level(
    labels: Sequence[float], judged: Sequence[float], unlabelled: Sums
) -> Level | None:
    """The level of the labels over all records; None with fewer than 3 labels.

    `judged` are the judge's scores of the labelled records, in the same order, `unlabelled` those
    of the others; all values are in 0..1. Raises ValueError where labels and judged differ in
    length.
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
    freedom = n - 2 if weight else n - 1
    squares = float((truth - weight * predicted).var()) * n
    variance = max(squares / freedom / n, LEAST_SQUARES / (n * (n + 2)))
    if weight:
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
    """λ: how far the judge is followed, 0..1."""
    n = len(truth)
    spread = (Sums.of(predicted.tolist()) + unlabelled).variance
    if n < LEAST_TO_TUNE or unlabelled.n < 2 or spread < 1e-9:
        return 0.0
    together = float(np.cov(truth, predicted)[0, 1])
    return min(max(together / ((1 + n / unlabelled.n) * spread), 0.0), 1.0)


def student(freedom: int) -> float:
    """Quantile 0.975 of Student's t; from 3 degrees of freedom within 1 % (Cornish-Fisher).

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
