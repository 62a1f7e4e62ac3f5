"""Estimates the judged mean with the help of a cheap score that every record has. Pure.

A cheap score x is known of all N records, the judge's score y of a sample, drawn with known
probabilities. The mean of y is corrected by how far the sample's x is from that of all records:
`mean = ȳ + b (x̄_all - x̄_sample)`, the regression estimator of two-phase sampling (Särndal,
Swensson and Wretman, Model Assisted Survey Sampling, ch. 9), with b fitted on the sample. What it
estimates is the mean of the process, of which the N records are a sample too. The effective n is
1 / (1 - ρ² (1 - f)) times that of the sample, ρ the correlation, f the share judged.

Answers to which the rubric does not apply are part of the sample: the mean is a ratio, and x is
compared over the same records on both sides. All that it needs are sums, which add up over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alerts.deltas.quantiles import student
from alerts.deltas.windows import SUMS, TERMS, Floats, Ints

LEAST_TO_FIT = 10
"""With fewer pairs, fitting a slope adds more variance than it removes."""
LEAST_PAIRED = 0.9
"""Share of the judged records that must have a cheap score."""
LEAST_FOR_AN_INTERVAL = 3
LEAST_SQUARES = 1.0
"""Smallest sum of squared residuals: equal scores prove little (as in `Counts.variance`)."""
LEAST_SPREAD = 1e-9
"""Variance under which a cheap score does not vary: sums leave noise in their last digits."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """Means of the process; arrays of one shape, NaN where nothing was judged.

    `variance` is that of the mean, `spread` that of a single score. `slope` is 0 where the cheap
    score was of no use. `freedom` are the degrees of freedom of `variance`.
    """

    mean: Floats
    variance: Floats
    spread: Floats
    slope: Floats
    n: Floats
    freedom: Floats

    @property
    def n_effective(self) -> Floats:
        """The size of a plain uniform sample that would be as precise."""
        return np.asarray(self.spread / self.variance)


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


def estimates(sums: Floats) -> Estimates:
    """Estimates from sums of the shape (len(SUMS), ...)."""
    named = dict(zip(SUMS, sums, strict=True))
    n, weight = named["n"], named["w 1"]
    with np.errstate(divide="ignore", invalid="ignore"):
        applies, x = named["w a"] / weight, named["w x"] / weight
        mean = named["w ay"] / named["w a"]
        own = named["w xx"] / weight - x**2
        every = named["vx"] / named["v"]
        fits = (n >= LEAST_TO_FIT) & (named["paired"] >= LEAST_PAIRED * named["sampled"])
        fits &= (own > LEAST_SPREAD) & (named["cheap"] > 0)
        slope = np.where(fits, (named["w axy"] - mean * named["w ax"]) / weight / own, 0.0)
        gap = np.where(fits, every - x, 0.0)
        # As many records of equal weights would be as precise.
        kish = weight**2 / named["ww 1"]
        freedom = kish * applies - 1 - fits
        rest = _squares(named, mean, x, slope) / (weight * applies) ** 2
        # Calibrated weights include the cost of fitting the slope.
        rest *= (1 + np.where(fits, gap**2 / own, 0.0)) * (freedom + 1 + fits)
        rest /= np.maximum(freedom, 1)
        among = np.maximum(named["vxx"] / named["v"] - every**2, 0.0) / named["cheap"]
        variance = np.maximum(rest, LEAST_SQUARES / (n * (n + 2)))
        variance = variance + np.where(fits, slope**2 * among / applies**2, 0.0)
        spread = (named["w ayy"] / named["w a"] - mean**2) * n / np.maximum(n - 1, 1)
        spread = np.maximum(spread, LEAST_SQUARES / (n + 2))
        corrected = np.clip(mean + slope * gap / applies, 0.0, 1.0)
    return Estimates(corrected, variance, spread, slope, n, freedom)


def judged_mean(sums: Floats) -> TwoPhase | None:
    """The estimate from sums of the shape (len(SUMS),); None where nothing was judged."""
    if not sums[SUMS.index("n")]:
        return None
    one = estimates(sums)
    mean, n = float(one.mean), int(one.n)
    half = 1.0
    if n >= LEAST_FOR_AN_INTERVAL:
        half = float(student(one.freedom) * np.sqrt(one.variance))
    return TwoPhase(
        mean=mean,
        low=max(0.0, min(mean - half, mean)),
        high=min(1.0, max(mean + half, mean)),
        n=n,
        n_effective=float(one.n_effective),
        slope=float(one.slope),
    )


def sums_of(cheap: Floats, judged: Floats, place: Ints, probability: Floats) -> Floats:
    """The sums of records: what the store computes from its rows.

    `cheap` has the shape (N,), NaN where it could not be computed; `judged` (NaN where the rubric
    does not apply), `place` (positions in `cheap`) and `probability` (of being judged, over 0 to
    1) have the shape (n,).
    """
    known = cheap[~np.isnan(cheap)]
    own = cheap[place]
    x = np.where(np.isnan(own), known.mean() if len(known) else 0.0, own)
    a, y, w = (~np.isnan(judged)).astype(float), np.nan_to_num(judged), 1 / probability
    terms = np.array([np.ones(len(x)), x, x**2, a, a * x, a * y, a * y**2, a * x * y])
    counts: Sequence[float] = (len(x), np.sum(~np.isnan(own)), a.sum(), y.sum())
    every = (len(known), len(known), known.sum(), (known**2).sum())
    return np.concatenate([counts, terms @ w, terms @ w**2, every])


def _squares(named: dict[str, Floats], mean: Floats, x: Floats, slope: Floats) -> Floats:
    """The sum of squared weighted residuals: of y around its mean, less the slope of x."""
    ww = {term: named[f"ww {term}"] for term in TERMS}
    of_y = ww["ayy"] - 2 * mean * ww["ay"] + mean**2 * ww["a"]
    both = ww["axy"] - x * ww["ay"] - mean * ww["ax"] + mean * x * ww["a"]
    of_x = ww["xx"] - 2 * x * ww["x"] + x**2 * ww["1"]
    return np.maximum(of_y - 2 * slope * both + slope**2 * of_x, 0.0)
