"""Which drop the detector would see: the smallest that a day of usual traffic shows. Pure."""

from __future__ import annotations

import numpy as np

from alerts.drift.detect import DriftRules
from alerts.drift.profile import DECAY, tempering
from alerts.drift.state import DAY, DriftState, Floats, Ints, States


def look(states: States, pool: Ints, rules: DriftRules) -> None:
    """Brings `sees` up to date, as a share of 1: 0 where nothing would be seen.

    `pool` is the row of each series' pool, -1 for none.
    """
    daily = _daily_scores(states)
    pooled = np.flatnonzero(pool >= 0)
    np.add.at(daily, pool[pooled], daily[pooled])
    doubled = 2 * states["variance"] * tempering(states, rules.threshold) * rules.threshold
    sees = rules.slack + states["uncertain"] + np.sqrt(doubled / np.maximum(daily, 1e-9))
    is_blind = (states["state"] == DriftState.LEARNING) | (sees >= 1)
    states["sees"] = np.where(is_blind, 0.0, sees)


def _daily_scores(states: States) -> Floats:
    """Scores of a usual day; of its first day, those so far."""
    days = np.maximum(states["day"] - (states["first"] - 1) // DAY, 0)
    past = (DECAY - DECAY ** (days + 1)) / (1 - DECAY)
    usual = states["n"].sum(axis=1) / np.maximum(past, DECAY)
    return np.asarray(np.where(usual > 0, usual, states["today_n"].sum(axis=1)))
