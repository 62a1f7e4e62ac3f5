"""A logistic fit of bad answers by all scores together. Pure.

scikit-learn is not part of every installation, and would take 60 MB of the daemon for a fit of a
dozen columns; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from ragvigil.evaluation.live.ranking import Interval, auroc

if TYPE_CHECKING:
    from ragvigil.evaluation.live.ranking import Flags, Floats, Ints

STEPS, SETTLED = 50, 1e-8
PENALTY = 1.0
"""Of the squared weights, as scikit-learn has it: weights stay finite where scores separate."""
FOLDS = 5
LEAST_EACH = 10
"""Answers of either kind for each column of a fit, by the usual rule of thumb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How much likelier an answer is bad per standard deviation that a score is lower.

    `odds` has a ratio of odds by rubric, each with the other rubrics held; `auroc` is of answers
    that the fit had not seen.
    """

    odds: Mapping[str, Interval]
    auroc: Interval
    n: int


def fit(
    scores: Mapping[str, Floats], is_bad: Flags, weight: Floats, question: Ints, z: float
) -> Fit | None:
    """Fits all rubrics that vary; an unknown score (NaN) counts as the rubric's mean.

    None where answers are too few: then the rubrics known on most answers are worth asking for
    alone. Answers to one question are in one fold.
    """
    names = [name for name, values in scores.items() if np.nanstd(values) > 0]
    enough = LEAST_EACH * (len(names) + 1)
    if not names or min(is_bad.sum(), (~is_bad).sum()) < enough:
        return None
    columns = np.stack([_standard(scores[name]) for name in names], axis=1)
    columns = np.hstack([np.ones((len(columns), 1)), columns])
    weights, information = _solve(columns, is_bad, weight)
    deviations = np.sqrt(np.diag(np.linalg.inv(information)))
    chances = _unseen_chances(columns, is_bad, weight, question % FOLDS)
    return Fit(
        odds=_odds(names, weights[1:], deviations[1:], z),
        auroc=auroc(-chances, is_bad, question, z),
        n=len(is_bad),
    )


def _unseen_chances(columns: Floats, is_bad: Flags, weight: Floats, folds: Ints) -> Floats:
    """For each answer, the log odds by a fit of the other folds."""
    chances = np.zeros(len(is_bad))
    for fold in range(FOLDS):
        inside = folds == fold
        if is_bad[~inside].any() and not is_bad[~inside].all():
            weights, _ = _solve(columns[~inside], is_bad[~inside], weight[~inside])
            chances[inside] = columns[inside] @ weights
    return chances


def _odds(
    names: Sequence[str], weights: Floats, deviations: Floats, z: float
) -> dict[str, Interval]:
    """A lower score is a larger chance, so that signs turn round."""
    return {
        name: Interval(
            value=exp(-weight), low=exp(-weight - z * deviation), high=exp(-weight + z * deviation)
        )
        for name, weight, deviation in zip(
            names, weights.tolist(), deviations.tolist(), strict=True
        )
    }


def _standard(values: Floats) -> Floats:
    known = np.where(np.isnan(values), np.nanmean(values), values)
    standard: Floats = (known - known.mean()) / np.nanstd(values)
    return standard


def _solve(columns: Floats, is_bad: Flags, weight: Floats) -> tuple[Floats, Floats]:
    """Weights and their information matrix, by Newton's steps; the constant is not penalised."""
    penalty = np.diag([0.0] + [PENALTY] * (columns.shape[1] - 1))
    weights = np.zeros(columns.shape[1])
    share = float((weight * is_bad).sum() / weight.sum())
    weights[0] = np.log(share / (1 - share))
    information = penalty
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        spread = weight * np.maximum(chance * (1 - chance), 1e-9)
        information = (columns * spread[:, None]).T @ columns + penalty
        slope = columns.T @ (weight * (is_bad - chance)) - penalty @ weights
        step = np.linalg.solve(information, slope)
        weights = weights + step
        if np.abs(step).max() < SETTLED:
            break
    return weights, information
