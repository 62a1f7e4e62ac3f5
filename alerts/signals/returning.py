"""Whether a number that moved is back at its past: CUSUM of likelihoods. Pure.

Each minute gains the log-likelihood ratio of the past level over the moved one, for values of equal
variance (Page 1954). The turn is where the gains from there until now are largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from alerts.deltas.windows import Floats, Ints
from alerts.signals.levels import Past, latest_peak
from alerts.signals.minutes import MINUTE

PROVEN = log(200)
"""Evidence that a level is back: one lull in 200 is as long by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """Since when, in seconds, a number is back, and its change against the past since then."""

    since: int
    change: float


def return_of(minutes: Floats, past: Past, chosen: Ints, change: float, now: int) -> Return | None:
    """Returns when the chosen series came back from a `change`; None while it lasts.

    `minutes` are sums since the onset until `now`, oldest first, shape (3, minutes, series), in the
    order of `past`. A level nearer to the moved one than to the past is not back.
    """
    known = chosen[past.n[chosen] > 0]
    by_series = minutes[0][:, known]
    n = by_series.sum(axis=1)
    above = (minutes[1][:, known] - by_series * past.mean[known]).sum(axis=1)
    if not n.sum():
        return None
    # Of all together: a spread that the move itself has widened must not weigh a route down.
    weight = by_series.sum(axis=0) / n.sum()
    if past.is_of_label:
        usual = float(weight @ past.mean[known])
        gains = _of_label(n, above + n * usual, usual, usual + change)
        gains = gains / float(weight @ past.phi[known])
    else:
        variance = float(weight @ (past.variance[known] * past.phi[known]))
        gains = change * (n * change / 2 - above) / variance
    steps = latest_peak(np.cumsum(gains[::-1])[::-1])
    requests = float(n[-steps:].sum())
    if not requests or gains[-steps:].sum() < PROVEN:
        return None
    return Return(since=now - steps * MINUTE, change=float(above[-steps:].sum()) / requests)


def _of_label(n: Floats, labelled: Floats, usual: float, moved: float) -> Floats:
    """The gains of zeros and ones, which scatter by their share: less at the usual one."""
    moved = min(moved, 0.98)
    return np.asarray(
        labelled * log(usual / moved) + (n - labelled) * log((1 - usual) / (1 - moved))
    )
