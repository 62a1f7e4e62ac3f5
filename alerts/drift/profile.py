"""The usual level of a series by hour of the day, and how much its hours vary. Pure.

Days are added at midnight (UTC) with a memory of two weeks. A day that ends half way to an alarm
waits: it is left out if the alarm comes, since a drop must not become the usual level by lasting,
and added if it does not. Leaving it out either way would leave out low days alone: the usual level
would come out too high, and its variation too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alerts.drift.state import BETS, DAY, HOURS, DriftState, Floats, States

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
LEAST_BLOCKS = 6
"""Blocks that must have shown how much a busy series varies: 300 alike answers are half an hour."""
AGED_SECONDS, LEAST_AGED = 18 * HOUR_SECONDS, 25
"""A small series is followed from its first day on: its large allowance keeps it quiet."""


@dataclass(frozen=True, slots=True)
class Usual:
    """The usual level of some series in one hour; arrays of the shape (rows,).

    `allowance` is how far the true level may lie under `level`, which is an estimate itself. A
    level that `is_known` tells how blocks vary; drops are looked for once that `is_ready`, too.
    """

    level: Floats
    allowance: Floats
    is_known: NDArray[np.bool_]
    is_ready: NDArray[np.bool_]


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
    """φ >= 1: how much more the means of blocks vary than chance explains.

    Where a level wanders for hours, a block is like the one before it and tells little that is new:
    products of neighbours count twice (Newey and West, with one lag) beyond two standard errors.
    """
    today = _is_new(states)
    spread = states["spread"] + today * states["today_spread"]
    blocks = states["blocks"] + today * states["today_blocks"]
    by_chance = 2 * spread / np.sqrt(np.maximum(blocks, 1.0))
    lasting = states["lasting"] + today * states["today_lasting"] - by_chance
    spread = spread + 2 * np.maximum(lasting, 0.0)
    return np.asarray(np.maximum((spread + PRIOR_BLOCKS) / (blocks + PRIOR_BLOCKS), 1.0))


def tempering(states: States, threshold: float) -> Floats:
    """What evidence is divided by: φ, and more where few blocks tell of it.

    The factor turns a threshold for a normal variable into that of Student's t.
    """
    today = _is_new(states) * states["today_blocks"]
    # Blocks weighted by age tell as much as so many of one weight.
    blocks = (states["blocks"] + today) ** 2 / np.maximum(states["weights"] + today, 1e-9)
    doubt = 2 * threshold / (blocks + PRIOR_BLOCKS)
    return np.asarray(overdispersion(states) * np.expm1(doubt) / doubt)


def statistic(states: States) -> Floats:
    """The alarm statistic: the logarithm of the mean evidence over all bets."""
    evidence = states["evidence"]
    return np.asarray(np.logaddexp.reduce(evidence, axis=1) - np.log(len(BETS)))


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
    phi = overdispersion(states)
    prior = states["variance"] * phi / HOUR_SPREAD**2
    has_own = states["days"][:, hour] >= SEEN_DAYS
    own = (total[:, hour] + prior * level) / (n[:, hour] + prior)
    error = np.sqrt(states["variance"] * phi / np.maximum(count, 1))
    is_aged = (tick - states["first"] >= AGED_SECONDS) & (count >= LEAST_AGED)
    blocks = states["blocks"] + states["today_blocks"]
    return Usual(
        level=np.where(has_own, own, level),
        allowance=np.maximum(error - SURE, 0.0)
        + states["uncertain"]
        + np.where(has_own, 0.0, FLAT_ALLOWANCE),
        is_known=(count >= LEAST_SCORES) | is_aged,
        is_ready=((count >= LEAST_SCORES) & (blocks >= LEAST_BLOCKS)) | is_aged,
    )


def learn(states: States, tick: int, n: Floats, total: Floats, squares: Floats) -> None:
    """Adds the scores of a tick to today's."""
    hour = (tick - 1) // HOUR_SECONDS % HOURS
    states["today_n"][:, hour] += n
    states["today_total"][:, hour] += total
    states["today_squares"] += squares


def _is_new(states: States) -> NDArray[np.bool_]:
    """Whether the blocks of today count as well: later ones might be those of a drop."""
    return np.asarray(states["blocks"] < LEAST_BLOCKS)


def _was_down(states: States, threshold: float) -> NDArray[np.bool_]:
    in_alarm = np.isin(states["state"], (DriftState.ALARM, DriftState.SHIFTED))
    return np.asarray(in_alarm | (states["peak"] >= threshold))


def _is_suspect(states: States, threshold: float) -> NDArray[np.bool_]:
    return _was_down(states, threshold) | (states["peak"] >= threshold / 2)


def _close_blocks(states: States, ended: NDArray[np.bool_]) -> None:
    expected = states["block_n"] * states["variance"]
    # The level that a block is held against is an estimate, too; a pool has none of its own.
    known = states["n"].sum(axis=1) + states["today_n"].sum(axis=1)
    expected *= 1 + np.where(known > 0, states["block_n"] / np.maximum(known, 1.0), 0.0)
    counts = ended & (expected > 0)
    block = states["block_residual"] / np.sqrt(np.where(counts, expected, 1.0))
    states["today_spread"] += np.where(counts, block**2, 0.0)
    states["today_lasting"] += np.where(counts, block * states["last_block"], 0.0)
    states["today_blocks"] += counts
    states["last_block"] = np.where(counts, block, states["last_block"])
    for name in ("block_residual", "block_n"):
        states[name] = np.where(ended, 0.0, states[name])


def _close_days(states: States, day: int, threshold: float) -> None:
    was_down = _was_down(states, threshold)
    waits = ~was_down & (statistic(states) >= threshold / 2)
    adds = ~was_down & ~waits
    decay = np.where(adds, DECAY ** np.clip(day - states["day"], 0, 365), 1.0)
    for name in ("total", "n"):
        states[name] = (states[name] + adds[:, None] * states[f"today_{name}"]) * decay[:, None]
    for name in ("squares", "spread", "lasting", "blocks"):
        states[name] = (states[name] + adds * states[f"today_{name}"]) * decay
    states["weights"] = (states["weights"] + adds * states["today_blocks"]) * decay**2
    states["days"] += adds[:, None] & (states["today_n"] > 0)
    states["uncertain"] *= decay
    for name in ("today_total", "today_n"):
        states[name] *= waits[:, None]
    for name in ("today_squares", "today_spread", "today_lasting", "today_blocks", "peak"):
        states[name] *= waits
