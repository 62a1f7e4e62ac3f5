"""Takes the usual level of a series over to another version of judge or rubric. Pure.

Scores of two versions are never compared. What carries over is the shape of the day, how scores and
hours vary, and the level, moved by what the canary's frozen answers say of both versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from alerts.drift.state import DriftState, States, empty

LEAST_PAIRS = 20
UNLIKE = 0.5
"""Share of the shift that is doubted: frozen answers are good, bad and borderline in equal parts,
those of production mostly good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """How much higher another version scores the same answers, and the standard error of that."""

    shift: float
    error: float


def offset(before: Mapping[str, float], after: Mapping[str, float]) -> Offset | None:
    """The offset from scores of the same answers by id; None where both share too few.

    >>> before = {str(place): 0.8 for place in range(40)}
    >>> offset(before, {name: value - 0.1 for name, value in before.items()}).shift
    -0.1
    """
    shared = sorted(before.keys() & after.keys())
    if len(shared) < LEAST_PAIRS:
        return None
    shifts = np.array([after[name] - before[name] for name in shared])
    error = float(np.sqrt(shifts.var(ddof=1) / len(shifts)))
    return Offset(shift=round(float(shifts.mean()), 9), error=error)


def bridged(before: States, shift: Offset | None, tick: int) -> States:
    """States for the scores of another version, from those before it.

    Without an offset the level is learnt anew, within a day; only the spreads carry over.
    """
    after = empty(len(before))
    after["variance"] = before["variance"]
    for name in ("spread", "lasting", "blocks", "weights"):
        after[name] = before[name]
    if shift is None:
        return after
    count = before["n"].sum(axis=1)
    doubt = shift.error + UNLIKE * abs(shift.shift)
    # The old scores weigh as much as the offset is sure.
    weight = np.minimum(1.0, before["variance"] / max(doubt, 1e-3) ** 2 / np.maximum(count, 1))
    known = count > 0
    mean = before["total"] / np.maximum(before["n"], 1e-9)
    after["n"] = before["n"] * weight[:, None]
    after["total"] = np.clip(mean + shift.shift, 0.0, 1.0) * after["n"]
    level = after["total"].sum(axis=1) / np.maximum(after["n"].sum(axis=1), 1e-9)
    after["squares"] = (before["variance"] + level**2) * after["n"].sum(axis=1)
    after["days"] = before["days"]
    after["uncertain"] = np.where(known, doubt, 0.0)
    after["state"] = np.where(known, DriftState.OK, DriftState.LEARNING)
    after["first"] = np.where(known, before["first"], 0.0)
    after["block"], after["day"] = before["block"], before["day"]
    after["zero"] = tick
    return after
