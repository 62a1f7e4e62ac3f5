"""The state of the detector: a row of numbers a series, about 1.4 KB. Pure.

A row changes only with a tick that has scores, so it is a function of those ticks alone: it may be
stored after any of them and taken up again, bit for bit.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
States = NDArray[Any]
"""Rows of STATE."""

BETS = np.array([0.1, 0.2, 0.4, 0.7, 1.1, 1.8])
"""How much each bet stakes on a drop; small stakes see small drops. The L of drift.md."""
HOURS, DAY = 24, 86_400


class DriftState(IntEnum):
    """What is known of a series."""

    LEARNING = 0
    """Its usual level is not known yet."""
    OK = 1
    SUSPECT = 2
    """Under its usual level, not surely so."""
    ALARM = 3
    RECOVERING = 4
    """Back at its usual level for less than a day: another alarm is the same drop."""
    SHIFTED = 5
    """In alarm for so long that its level may be the new usual; a person decides."""


STATE = np.dtype(
    [
        ("tick", "f8"),  # end of its last tick with scores, seconds since the epoch
        ("first", "f8"),  # end of its first
        ("block", "f8"),  # block of hours and day of `tick`, counted from the epoch
        ("day", "f8"),
        # Sums by hour of the day, of past days and of today; `days` on which an hour had scores.
        ("total", "f8", HOURS),
        ("n", "f8", HOURS),
        ("days", "f8", HOURS),
        ("today_total", "f8", HOURS),
        ("today_n", "f8", HOURS),
        ("squares", "f8"),
        ("today_squares", "f8"),
        ("variance", "f8"),  # of a single score
        # Overdispersion: squared deviations of blocks over what chance explains, and their number.
        ("spread", "f8"),
        ("blocks", "f8"),
        ("weights", "f8"),  # the sum of the squared weights of `blocks`
        ("today_spread", "f8"),
        ("today_blocks", "f8"),
        # How much blocks are like those before them: sums of products, and the last block.
        ("lasting", "f8"),
        ("today_lasting", "f8"),
        ("last_block", "f8"),
        ("block_residual", "f8"),
        ("block_n", "f8"),
        ("uncertain", "f8"),  # how far a level taken over from another judge may be wrong
        ("peak", "f8"),  # highest statistic of today
        ("evidence", "f8", len(BETS)),  # logarithms, as all evidence
        ("cusum", "f8", len(BETS)),
        ("zero", "f8", len(BETS)),  # the last tick without evidence in `cusum`
        ("anchored", "f8", len(BETS)),
        ("anchor", "f8"),  # time of the release that `anchored` tests, 0 for none
        # The last scores, weighted by age: their sum of weights, of squared weights, of residuals.
        ("recent_n", "f8"),
        ("recent_squares", "f8"),
        ("recent_residual", "f8"),
        ("recent_profile", "f8"),
        ("state", "f8"),
        ("onset", "f8"),
        ("alarmed", "f8"),
        ("cleared", "f8"),
        ("depth", "f8"),  # the lowest mean residual of the last scores while in alarm
        # The smallest drop that would be seen, 0 while unknown; the store's readers take the last.
        ("sees", "f8"),
    ]
)
WIDTH = STATE.itemsize // 8


def empty(rows: int) -> States:
    """States of series that nothing is known of."""
    states = np.zeros(rows, dtype=STATE)
    states["variance"] = 0.25
    return states


def numbers(states: States) -> Floats:
    """The states as plain numbers, shape (rows, WIDTH), to be stored."""
    return np.ascontiguousarray(states).view(np.float64).reshape(len(states), WIDTH)


def restored(rows: Floats) -> States:
    """The states of `numbers`."""
    plain = np.ascontiguousarray(rows, dtype=np.float64)
    return plain.reshape(-1, WIDTH).view(STATE).reshape(-1).copy()
