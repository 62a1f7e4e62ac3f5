"""The usual level of a series by hour of the day, and how much its hours vary. Pure.

Days are added at midnight (UTC) with a memory of two weeks. A day on which the detector was half
way to an alarm is left out: a drop must not become the usual level by lasting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alerts.drift.state import DAY, HOURS, DriftState, Floats, States

HOUR_SECONDS = 3600
DECAY = 0.93
"""Weight of a day's sums after a day more."""
SEEN_DAYS = 3
"""An hour has a level of its own once it was seen on so many days; before, all hours share one."""
HOUR_SPREAD = 0.012
"""Standard deviation of the levels of hours around the mean, which pulls hours with few scores."""
BLOCK_SECONDS = 2 * HOUR_SECONDS
"""Overdispersion is that of the means of two hours, since evidence gathers over hours and noise
lasts. With 2-point noise that lasts an hour, false alarms per 100 series-weeks are 1.3 with blocks
of one hour and 0.6 with three; a 10-point drop at 600 an hour takes 40 and 55 minutes."""
LEAST_IN_BLOCK = 50
"""Small series wait longer for a block: what comes in bursts of dozens would look like chance."""
PRIOR_BLOCKS = 6
"""Weight of the assumption that these means vary by chance alone."""
FLAT_ALLOWANCE = 0.015
"""How far an hour may lie under a level that all hours share."""
SURE = 0.0025
"""A standard error of the level that needs no allowance: the slack covers it."""
LEAST_SCORES = 300
AGED_SECONDS, LEAST_AGED = 18 * HOUR_SECONDS, 25
"""A small series is followed from its first day on: its large allowance keeps it quiet."""


@dataclass(frozen=True, slots=True)
class Usual:
    """The usual level of some series in one hour; arrays of the shape (rows,).

    `allowance` is how far the true level may lie under `level`, which is an estimate itself.
    """

    level: Floats
    allowance: Floats
    is_known: NDArray[np.bool_]


def roll(states: States, tick: int, threshold: float) -> None:
    """Closes the blocks and days that ended before the tick (its end, in seconds)."""
    block, day = (tick - 1) // BLOCK_SECONDS, (tick - 1) // DAY
    ends = (states["block"] != block) & (states["block_n"] >= LEAST_IN_BLOCK)
    _close_blocks(states, ends)
    states["block"] = np.where(ends | (states["block_n"] == 0), block, states["block"])
    is_next = (states["day"] != day) & (states["first"] > 0)
    if is_next.any():
        ended = states[is_next]
        _close_days(ended, day, threshold)
        states[is_next] = ended
    states["day"] = day
    states["first"] = np.where(states["first"] > 0, states["first"], tick)


def overdispersion(states: States) -> Floats:
    """φ >= 1: how much more the means of blocks vary than chance explains."""
    phi = (states["spread"] + PRIOR_BLOCKS) / (states["blocks"] + PRIOR_BLOCKS)
    return np.asarray(np.maximum(phi, 1.0))


def usual(states: States, tick: int, threshold: float) -> Usual:
    """The usual level in the hour of a tick, from the scores before it."""
    hour = (tick - 1) // HOUR_SECONDS % HOURS
    # In the first days the scores of today count as well, unless they look like a drop.
    young = (states["days"].max(axis=1) < SEEN_DAYS) & ~_is_suspect(states, threshold)
    total = states["total"] + young[:, None] * states["today_total"]
    n = states["n"] + young[:, None] * states["today_n"]
    squares = states["squares"] + young * states["today_squares"]
    count = n.sum(axis=1)
    level = (total.sum(axis=1) + 1e-9) / (count + 1e-9)
    # One score at 0 and one at 1 more: a few equal scores do not prove that all are.
    states["variance"] = (squares - level**2 * count + 0.5) / (count + 2)
    prior = states["variance"] / HOUR_SPREAD**2
    has_own = states["days"][:, hour] >= SEEN_DAYS
    own = (total[:, hour] + prior * level) / (n[:, hour] + prior)
    error = np.sqrt(states["variance"] * overdispersion(states) / np.maximum(count, 1))
    is_aged = (tick - states["first"] >= AGED_SECONDS) & (count >= LEAST_AGED)
    return Usual(
        level=np.where(has_own, own, level),
        allowance=np.maximum(error - SURE, 0.0)
        + states["uncertain"]
        + np.where(has_own, 0.0, FLAT_ALLOWANCE),
        is_known=(count >= LEAST_SCORES) | is_aged,
    )


def learn(states: States, tick: int, n: Floats, total: Floats, squares: Floats) -> None:
    """Adds the scores of a tick to today's."""
    hour = (tick - 1) // HOUR_SECONDS % HOURS
    states["today_n"][:, hour] += n
    states["today_total"][:, hour] += total
    states["today_squares"] += squares


def _is_suspect(states: States, threshold: float) -> NDArray[np.bool_]:
    in_alarm = np.isin(states["state"], (DriftState.ALARM, DriftState.SHIFTED))
    return np.asarray(in_alarm | (states["peak"] >= threshold / 2))


def _close_blocks(states: States, ended: NDArray[np.bool_]) -> None:
    expected = states["block_n"] * states["variance"]
    counts = ended & (expected > 0)
    squared = states["block_residual"] ** 2 / np.where(counts, expected, 1.0)
    states["today_spread"] += np.where(counts, squared, 0.0)
    states["today_blocks"] += counts
    for name in ("block_residual", "block_n"):
        states[name] = np.where(ended, 0.0, states[name])


def _close_days(states: States, day: int, threshold: float) -> None:
    adds = ~_is_suspect(states, threshold)
    decay = np.where(adds, DECAY ** np.clip(day - states["day"], 0, 365), 1.0)
    for name in ("total", "n"):
        states[name] = (states[name] + adds[:, None] * states[f"today_{name}"]) * decay[:, None]
    for name in ("squares", "spread", "blocks"):
        states[name] = (states[name] + adds * states[f"today_{name}"]) * decay
    states["days"] += adds[:, None] & (states["today_n"] > 0)
    states["uncertain"] *= decay
    for name in ("today_total", "today_n", "today_squares", "today_spread", "today_blocks", "peak"):
        states[name] = 0.0
