"""Which value of a dimension a drop goes with: a model, a prompt version, a tenant. Pure.

A ridge baseline on the dimensions of the answers from before tells what each answer after the
onset should have scored; its residual is what the change did. Each value of a dimension is
contrasted with the answers after the onset that lack it, the strongest are fitted jointly, and
those whose partial t is sure remain. A value that nearly all answers got has no such control group:
it coincides with the drop, and whether it caused it cannot be told from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

LEAST_SIDE = 15
"""Fewest answers with a value, and fewest without it."""
LEAST_T = 3.5
"""The partial t from which a value is a suspect: of a hundred values none gets it by chance."""
FITTED = 6
"""Values that are fitted jointly."""
ALIKE = 0.9
"""Two values that go together so often cannot be separated."""
RIDGE = 5.0
"""The weight of the ridge, in answers: a value that few answers have hardly moves the baseline."""
NEW = 0.2
"""A value that fewer of the answers from before had is new where nearly all have it now."""

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """One answer: when it ended, its score (0..1), and its dimensions by name."""

    time_unix_nano: int
    value: float
    dimensions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionSuspect:
    """A value of a dimension that a drop goes with.

    `change` is how much lower its answers score than those without it (negative), `explains` the
    share of the drop, 0..1, `lag_seconds` how long after the onset it first appears. `coincides`:
    nearly all answers have it, so there is nothing to compare with. `inseparable` are the values
    that go with it so often that either may be meant, as `dimension value`.
    """

    dimension: str
    value: str
    change: float
    t: float
    explains: float
    lag_seconds: float
    coincides: bool = False
    inseparable: tuple[str, ...] = ()


def dimension_suspects(
    answers: Sequence[ScoredAnswer], onset_unix_nano: int
) -> tuple[DimensionSuspect, ...]:
    """The values that a drop since the onset goes with, the surest first; coincidences last."""
    before = [answer for answer in answers if answer.time_unix_nano < onset_unix_nano]
    after = [answer for answer in answers if answer.time_unix_nano >= onset_unix_nano]
    if min(len(before), len(after)) < 2 * LEAST_SIDE:
        return ()
    noise, residuals = _residuals(before, after)
    drop = float(residuals.mean() - noise.mean())
    if drop >= 0:
        return ()
    masks = _masks(after)
    lags = {key: (min(_times(after, mask)) - onset_unix_nano) / 1e9 for key, mask in masks.items()}
    compared = _compared(before, masks, residuals, drop, lags)
    together = _coinciding(before, masks, noise, residuals, drop, lags)
    return (*compared, *together)


Key = tuple[str, str]


def _residuals(
    before: Sequence[ScoredAnswer], after: Sequence[ScoredAnswer]
) -> tuple[Floats, Floats]:
    """The residuals of the answers from before and after, by the baseline of those from before."""
    keys = sorted({item for answer in before for item in answer.dimensions.items()})
    place = {key: number for number, key in enumerate(keys)}
    known, fresh = (_one_hot(answers, place) for answers in (before, after))
    values = np.array([answer.value for answer in before])
    mean = values.mean()
    weights = np.linalg.solve(
        known.T @ known + RIDGE * np.eye(len(keys)), known.T @ (values - mean)
    )
    scores = np.array([answer.value for answer in after])
    return values - mean - known @ weights, scores - mean - fresh @ weights


def _one_hot(answers: Sequence[ScoredAnswer], place: Mapping[Key, int]) -> Floats:
    rows = np.zeros((len(answers), len(place)))
    for row, answer in enumerate(answers):
        for key in answer.dimensions.items():
            if key in place:
                rows[row, place[key]] = 1.0
    return rows


def _masks(after: Sequence[ScoredAnswer]) -> dict[Key, Mask]:
    """Which answers have each value, for values that enough of them have."""
    masks: dict[Key, Mask] = {}
    for row, answer in enumerate(after):
        for key in answer.dimensions.items():
            masks.setdefault(key, np.zeros(len(after), dtype=bool))[row] = True
    return {key: mask for key, mask in sorted(masks.items()) if mask.sum() >= LEAST_SIDE}


def _times(after: Sequence[ScoredAnswer], mask: Mask) -> list[int]:
    return [answer.time_unix_nano for answer, has in zip(after, mask, strict=True) if has]


def _compared(
    before: Sequence[ScoredAnswer],
    masks: Mapping[Key, Mask],
    residuals: Floats,
    drop: float,
    lags: Mapping[Key, float],
) -> list[DimensionSuspect]:
    """The values with a control group, by partial t."""
    usable = {key: mask for key, mask in masks.items() if (~mask).sum() >= LEAST_SIDE}
    contrasts = {key: _contrast(residuals[mask], residuals[~mask]) for key, mask in usable.items()}
    worse = sorted((t, key) for key, (change, t) in contrasts.items() if change < 0)
    groups: dict[Key, list[str]] = {}
    for _, key in worse:
        twin = next((own for own in groups if _goes_with(usable[own], usable[key])), None)
        if twin is not None:
            groups[twin].append(" ".join(key))
        elif len(groups) < FITTED:
            groups[key] = []
    spreads = [_spread(usable[key], _count(before, key)) for key in groups]
    fits = _partial([usable[key] for key in groups], residuals, spreads)
    suspects = [
        DimensionSuspect(
            dimension=key[0],
            value=key[1],
            change=change,
            t=t,
            explains=min(1.0, max(0.0, change * float(usable[key].mean()) / drop)),
            lag_seconds=lags[key],
            inseparable=tuple(twins),
        )
        for (key, twins), (change, t) in zip(groups.items(), fits, strict=True)
        if t <= -LEAST_T
    ]
    return sorted(suspects, key=lambda suspect: suspect.t)


def _goes_with(first: Mask, second: Mask) -> bool:
    return bool(np.corrcoef(first, second)[0, 1] > ALIKE)


def _contrast(own: Floats, others: Floats) -> tuple[float, float]:
    """The difference of two means, and its Welch t."""
    change = float(own.mean() - others.mean())
    error = np.sqrt(own.var(ddof=1) / len(own) + others.var(ddof=1) / len(others))
    return change, change / max(float(error), 1e-9)


def _count(answers: Sequence[ScoredAnswer], key: Key) -> int:
    return sum(answer.dimensions.get(key[0]) == key[1] for answer in answers)


def _spread(mask: Mask, known: int) -> float:
    """How much wider a contrast is for the error of its baseline, which few answers may have made.

    The ridge gives a value that `known` answers have an error of known / (known + RIDGE)^2 of the
    variance of one; a value that none had has none.
    """
    return float(np.sqrt(1 + int(mask.sum()) * known / (known + RIDGE) ** 2))


def _partial(
    masks: Sequence[Mask], residuals: Floats, spreads: Sequence[float]
) -> list[tuple[float, float]]:
    """The change and the partial t of each value, all fitted jointly with a level."""
    if not masks:
        return []
    design = np.column_stack([np.ones(len(residuals)), *masks]).astype(float)
    inverse = np.linalg.pinv(design.T @ design)
    weights = inverse @ design.T @ residuals
    left = residuals - design @ weights
    variance = float(left @ left) / max(len(residuals) - design.shape[1], 1)
    errors = np.sqrt(np.maximum(variance * np.diag(inverse), 1e-18))
    return [
        (float(weight), float(weight / error / spread))
        for weight, error, spread in zip(weights[1:], errors[1:], spreads, strict=True)
    ]


def _coinciding(
    before: Sequence[ScoredAnswer],
    masks: Mapping[Key, Mask],
    noise: Floats,
    residuals: Floats,
    drop: float,
    lags: Mapping[Key, float],
) -> list[DimensionSuspect]:
    """New values that nearly all answers have, the one that came nearest to the onset first."""
    made = []
    for key, mask in masks.items():
        usual = _count(before, key) / len(before)
        change, t = _contrast(residuals[mask], noise)
        if (~mask).sum() < LEAST_SIDE and usual < NEW and t <= -LEAST_T:
            made.append(
                DimensionSuspect(
                    dimension=key[0],
                    value=key[1],
                    change=change,
                    t=t,
                    explains=min(1.0, change * float(mask.mean()) / drop),
                    lag_seconds=lags[key],
                    coincides=True,
                )
            )
    names = [" ".join((suspect.dimension, suspect.value)) for suspect in made]
    return [
        replace(suspect, inseparable=tuple(name for name in names if name != own))
        for suspect, own in sorted(
            zip(made, names, strict=True), key=lambda pair: abs(pair[0].lag_seconds)
        )
    ]
