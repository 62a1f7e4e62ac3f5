"""Searches the beginning of what is worse, as far back as sums are kept. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from alerts.deltas.windows import Floats, Ints
from alerts.signals.levels import Past, Shift, latest_peak
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes

ONSET_SECONDS = 4 * HOUR
"""Seconds before now in which the onset is sought, compared with the same hours of the past."""


def best_start(
    table: SignalMinutes,
    places: Sequence[int] | Ints,
    end: int,
    likelihood: Callable[[Floats], Floats],
    *,
    earliest: int = 0,
) -> int:
    """Start, in seconds, of the minute or hour since which something has most likely changed.

    `likelihood` gets the sums from each start until `end`, shape (3, starts, places), and returns
    a number for each start. Starts are minutes as far as these are kept, hours before that, none
    before `earliest` (seconds); so a search costs a few hundred sums, however old the change is.
    """
    first = min(-(-table.oldest_minute // HOUR), end // HOUR) * HOUR
    hours = table.by_hour(first, max(0, (first - table.first_hour) // HOUR))[:, :, places]
    minutes = table.by_minute(end, (end - first) // MINUTE)[:, :, places]
    starts = np.concatenate(
        [
            np.arange(first - hours.shape[1] * HOUR, first, HOUR),
            np.arange(first, first + minutes.shape[1] * MINUTE, MINUTE),
        ]
    )
    is_near = starts >= min(earliest, end - MINUTE)
    bins = np.concatenate([hours, minutes], axis=1)[:, is_near]
    since = np.cumsum(bins[:, ::-1], axis=1)[:, ::-1]
    return int(starts[is_near][-latest_peak(likelihood(since))])


def start_of_move(
    table: SignalMinutes, places: Ints, chosen: Ints, past: Past, shift: Shift, now: int
) -> int:
    """Start of the minute since which some new level explains the values best.

    `chosen` are those of the series at `places`, which are in the order of `past`. The level is
    fitted for each minute (a generalised likelihood ratio): that of the newest values would date a
    change whose first values were less extreme too late.
    """
    side = 1.0 if shift.change >= 0 else -1.0

    def likelihood(sums: Floats) -> Floats:
        above = side * (sums[1] - sums[0] * past.mean[chosen]).sum(axis=1)
        return np.asarray(np.maximum(above, 0) ** 2 / np.maximum(sums[0].sum(axis=1), 1))

    # Other hours have other levels, where the past is that of the same hours.
    earliest = now - ONSET_SECONDS if past.is_same_hours else 0
    return best_start(table, places[chosen], now, likelihood, earliest=earliest)
