"""Searches the beginning of what is worse, as far back as sums are kept. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from alerts.deltas.windows import Floats, Ints
from alerts.signals.levels import latest_peak
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes


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
