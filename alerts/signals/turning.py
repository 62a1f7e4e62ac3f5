"""When a rate began to be over its ceiling, and whether it is back: CUSUM of likelihoods. Pure.

Each bin of time gains the log-likelihood ratio of one rate over another (Page 1954). The turn is
where the gains from there until now are largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from alerts.deltas.windows import Floats
from alerts.signals.ceilings import OVER, Ceilings, Group, WindowRate, evidence
from alerts.signals.levels import latest_peak
from alerts.signals.minutes import MINUTE, MINUTES, SignalMinutes
from alerts.signals.onset import Onset, best_start
from ragvigil.model.finding import Finding

BACK = log(200)
"""Evidence that a rate is back: one lull in 200 is as long by chance."""
FEWEST_RARE = 5
"""Requests under the ceiling that end what is too rare for such evidence: one good answer at night
is no end."""
LOWEST, HIGHEST = 0.005, 0.98
"""Bounds of a rate, so that its logarithms stay finite."""


def onset(table: SignalMinutes, group: Group, rate: WindowRate, end: int, *, after: int) -> Onset:
    """The minute since which some higher rate explains the counts best, none before `after`.

    The rate is fitted for each minute (a generalised likelihood ratio): the newest one, which was
    extreme enough to be noticed, would date a change too late.
    """
    # Under the present rate, so that what was as high before the past began is followed, too.
    usual = min(max(rate.usual, 0.001), max(rate.share, 0.02) / 2)
    return best_start(
        table,
        group.columns(rate.routes or group.routes),
        end,
        lambda sums: _evidence(sums.sum(axis=2), usual) / rate.clumping,
        earliest=after,
    )


def _evidence(sums: Floats, usual: float) -> Floats:
    """By how much the rate of every column fits it better than the usual one, in nats.

    0 where it is not over the usual one.
    """
    requests, failed = sums[0], sums[1]
    return _gains(sums[:2], usual, np.clip(failed / np.maximum(requests, 1), usual, HIGHEST))


def _gains(bins: Floats, before: float, now: Floats | float) -> Floats:
    requests, failed = bins
    return np.asarray(
        failed * np.log(now / before) + (requests - failed) * np.log((1 - now) / (1 - before))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The minutes since which a finding's rate has more likely than not been under its ceiling.

    0 where it lasts; `is_back` says that it is over for sure.
    """

    minutes: int
    is_back: bool


def turn_of(
    table: SignalMinutes,
    group: Group,
    places: Sequence[int],
    finding: Finding,
    now: int,
    *,
    usual: float,
    ceilings: Ceilings,
) -> Turn:
    """When a finding's rate turned back to the usual one, and whether that is sure by `now`.

    It is back when a lower rate explains the counts much better than the finding's, and no route
    (`places` of the group) is over its ceiling since: what lasts must not hide in the sum.
    """
    span = min(MINUTES, max(1, (now - finding.since_unix_nano // 10**9) // MINUTE))
    minutes = table.by_minute(now, span)[:2][:, :, [group.places[place] for place in places]]
    together = minutes.sum(axis=2)
    ceiling = finding.reference or 0.0
    away = min(max(finding.value or 0.0, ceiling, 4 * LOWEST), HIGHEST)
    gains = _gains(together, away, max(LOWEST, min(usual, ceiling / 2, away / 2)))
    steps = latest_peak(np.cumsum(gains[::-1])[::-1])
    gain = float(gains[-steps:].sum())
    is_few = together[0].sum() < FEWEST_RARE
    is_rare = span == MINUTES and not is_few and together[1].sum() <= ceiling * together[0].sum()
    since = minutes[:, -steps:].sum(axis=1)
    is_under = since[1].sum() <= ceiling * since[0].sum()
    is_any_over = any(
        evidence(since[1, at], since[0, at], ceilings.of(group.scope(group.routes[place]))) >= OVER
        for at, place in enumerate(places)
    )
    is_back = (gain >= BACK or is_rare) and is_under and not is_any_over
    is_turning = is_back or (gain > 0 and is_under)
    return Turn(minutes=steps if is_turning else 0, is_back=is_back)


def lull_of(
    table: SignalMinutes, group: Group, among: Sequence[Group | None], finding: Finding, now: int
) -> Turn | None:
    """The end that many answers without a rating prove, from the newest that had one; else None.

    A fault may be what gives answers a rating: invented citations on a route that cites nothing,
    sentences in another language where numbers are right. Only answers count that could have one:
    by minute the fewest of the rates `among`, of which none may be unknown.
    """
    known = [each for each in among if each is not None]
    if not known or len(known) < len(among):
        return None
    span = min(MINUTES, max(1, (now - finding.since_unix_nano // 10**9) // MINUTE))
    requests = table.by_minute(now, span)[0]
    rated, *others = (
        requests[:, each.columns(finding.routes)].sum(axis=1) for each in (group, *known)
    )
    seen = np.flatnonzero(rated)
    if not len(seen):
        return None
    could, lull = np.min(others, axis=0), int(seen[-1]) + 1
    given = float(rated.sum())
    of = max(given, float(could[:lull].sum()))
    is_back = -_none_of(float(could[lull:].sum()), given=given, of=of) >= BACK
    return Turn(minutes=span - lull, is_back=True) if is_back else None


def _none_of(answers: float, *, given: float, of: float) -> float:
    """The log of how likely so many answers have no rating by chance, if `given` of `of` had one.

    Few answers tell little of their share, so it is not taken as known (Laplace's rule of
    succession).

    >>> [round(_none_of(2, given=n, of=n), 1) for n in (5, 50)]
    [-3.3, -7.2]
    """
    rest = of - given + 1
    return lgamma(rest + answers) - lgamma(rest) - lgamma(of + 2 + answers) + lgamma(of + 2)
