"""How well a score ranks bad answers below the others, with intervals. Pure.

Answers to the same question are one voice: variances are sums over questions, of the influence that
each has on the figure (Obuchowski 1997 for the area under the curve).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ragvigil.model.wilson import wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Ints = NDArray[np.int64]

MOST_VOICES = 3
"""An area of 0.5 is as certain as a share of three times the questions of the smaller class."""

WIDEST = 50.0
"""Of the logarithm of a lift: a float holds its exponential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure with its interval; `high` may be infinite."""

    value: float
    low: float
    high: float


def auroc(scores: Floats, is_bad: Flags, question: Ints, z: float) -> Interval:
    """The chance that a bad answer scores below another one; equal scores count half.

    0.5 is what chance does. All arrays have a row an answer; at least one is bad and one is not.
    `z` is the width of the interval in standard errors. Wilson's form keeps it within 0..1. Where
    the two hardly overlap, little variance can be seen: they count as MOST_VOICES at most.

    >>> flags = np.array([True, True, False, False])
    >>> auroc(np.array([0.1, 0.2, 0.2, 0.9]), flags, np.arange(4), 1.96).value
    0.875
    """
    bad, other = scores[is_bad], scores[~is_bad]
    above = _share_above(bad, other)
    below = 1 - _share_above(other, bad)
    value = float(above.mean())
    influence = np.empty(len(scores))
    influence[is_bad] = (above - value) / len(bad)
    influence[~is_bad] = (below - value) / len(other)
    variance = _variance(influence, question)
    fewer = min(len(np.unique(question[is_bad])), len(np.unique(question[~is_bad])))
    seen = value * (1 - value) / variance if variance > 1e-12 else inf
    n = min(seen, MOST_VOICES * fewer)
    low, high = wilson(value * n, n, z)
    return Interval(value=value, low=low, high=high)


def _share_above(these: Floats, others: Floats) -> Floats:
    """For each of these scores, the share of the others above it; equal ones count half."""
    ordered = np.sort(others)
    left, right = (np.searchsorted(ordered, these, side=side) for side in ("left", "right"))
    shares: Floats = 1 - (left + right) / (2 * len(others))
    return shares


def lift(fails: Flags, is_bad: Flags, weight: Floats, question: Ints, z: float) -> Interval | None:
    """How many times as often an answer that fails the rubric is bad as any answer is.

    1 is what chance does. `weight` is how many answers each stands for. None where nothing fails,
    or nothing is bad.
    """
    flagged, bad, every = weight[fails].sum(), weight[is_bad].sum(), weight.sum()
    if not flagged or not bad:
        return None
    base = bad / every
    both = weight[fails & is_bad].sum()
    if not both:
        return Interval(value=0.0, low=0.0, high=wilson(0, int(fails.sum()), z)[1] / base)
    value = float(both / flagged / base)
    influence = weight * ((fails & is_bad) / both - fails / flagged - is_bad / bad + 1 / every)
    width = min(z * sqrt(_variance(influence, question)), WIDEST)
    return Interval(value=value, low=exp(log(value) - width), high=exp(log(value) + width))


def _variance(influence: Floats, question: Ints) -> float:
    """The variance of a figure from the influence of each answer, summed by question."""
    _, groups = np.unique(question, return_inverse=True)
    sums = np.bincount(groups, weights=influence)
    return float((sums**2).sum() * len(sums) / max(1, len(sums) - 1))
