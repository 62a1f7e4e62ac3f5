"""Searches the beginning of what is worse, as far back as sums are kept. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from alerts.deltas.windows import Floats, Ints
from alerts.signals.levels import Past, Shift, latest_peak
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes

ONSET_SECONDS = 4 * HOUR
"""Seconds before now in which the onset is sought, compared with the same hours of the past."""

CERTAIN = -log(1 - sqrt(0.95))
"""Log-likelihood, in nats, by which the true start falls short of the likeliest in 1 case of 20.

On both sides of a change the log-likelihood is about a Brownian motion with a drift of half its
variance downwards: its largest value is exponential on each side (Siegmund 1988, Confidence sets in
change-point problems)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Onset:
    """The likeliest start of a change, and the starts between which it lies at 95 %, in seconds."""

    start: int
    earliest: int
    latest: int

    def apart(self, time: int) -> int:
        """Seconds from a time to the interval, 0 inside it."""
        return max(0, self.earliest - time, time - self.latest)


def best_start(
    table: SignalMinutes,
    places: Sequence[int] | Ints,
    end: int,
    likelihood: Callable[[Floats], Floats],
    *,
    earliest: int = 0,
) -> Onset:
    """The start of the minute or hour since which something has most likely changed.

    `likelihood` gets the sums from each start until `end`, shape (3, starts, places), and returns
    the log-likelihood of each start, in nats. Minutes without requests are as likely as the one
    after them: what comes late may have begun in the silence before. Starts are minutes as far as
    these are kept, hours before that, none before `earliest` (seconds); so a search costs a few
    hundred sums, however old the change is.
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
    evidence = likelihood(np.cumsum(bins[:, ::-1], axis=1)[:, ::-1])
    near = starts[is_near]
    peak = len(near) - latest_peak(evidence)
    unlikely = np.flatnonzero(evidence < evidence[peak] - CERTAIN)
    before, after = unlikely[unlikely < peak], unlikely[unlikely > peak]
    return Onset(
        start=int(near[peak]),
        earliest=int(near[before[-1] + 1 if len(before) else 0]),
        latest=int(near[after[0] - 1 if len(after) else -1]),
    )


def start_of_move(
    table: SignalMinutes,
    places: Ints,
    chosen: Ints,
    past: Past,
    shift: Shift,
    now: int,
    *,
    after: int,
) -> Onset:
    """The minute since which some new level explains the values best, none before `after`.

    `chosen` are those of the series at `places`, which are in the order of `past`. The level is
    fitted for each minute (a generalised likelihood ratio): that of the newest values would date a
    change whose first values were less extreme too late.
    """
    side = 1.0 if shift.change >= 0 else -1.0
    n = np.maximum(past.n[chosen], 1)
    variance = float((past.variance[chosen] * past.phi[chosen]) @ n / n.sum())

    def likelihood(sums: Floats) -> Floats:
        above = side * (sums[1] - sums[0] * past.mean[chosen]).sum(axis=1)
        n = np.maximum(sums[0].sum(axis=1), 1)
        return np.asarray(np.maximum(above, 0) ** 2 / (2 * variance * n))

    # Other hours have other levels, where the past is that of the same hours.
    earliest = now - ONSET_SECONDS if past.is_same_hours else 0
    return best_start(table, places[chosen], now, likelihood, earliest=max(earliest, after))
