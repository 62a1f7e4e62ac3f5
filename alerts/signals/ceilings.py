"""Compares rates with their ceilings: how many of how many requests, and is that too many. Pure.

A rate counts as over when two things hold in one of the windows. At 95 % it lies over its ceiling;
and under the route's usual rate so many failures would happen less than once in years of checks
every minute. Both use the Chernoff bound of the binomial tail, P(X >= k) <= exp(-n KL(k/n, p))
(Hoeffding 1963), which is never too small. Until a route has a past, its ceiling counts as usual.

A route that has lived near its ceiling, or over it, for days has a ceiling of its own: its past and
a margin. A rate that is over from its first hour on has no such past, so it is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from alerts.deltas.overdispersion import PRIOR_HOURS
from alerts.deltas.windows import Floats, ratio
from alerts.signals.catalogue import BY_SIGNAL, POOL, RATES, Accepted
from alerts.signals.minutes import HOUR, SignalMinutes
from alerts.signals.settings import BrokenSettings, RouteCeilings
from ragvigil.model.wilson import wilson

WINDOWS = (5, 10, 15, 30, 60, 120)
"""Lengths of the windows in minutes, shortest first."""
NEWEST = {60: 15, 120: 30}
"""The newest minutes of a long window that must be over, too: what is over by now is no news."""
OVER = log(20)
"""Evidence that the ceiling is exceeded: 95 %."""
UNUSUAL = log(1e7)
"""Evidence against the usual rate: enough for years of checks of some dozens of rates."""
USUAL_HOURS, USUAL_MARGIN, LEAST_USUAL = 168, 1.25, 0.005
MOST_CLUMPING, LEFT_OUT = 4.0, 0.05
"""The worst 5 % of a week's hours are incidents, not clumping, and are left out of its estimate.

The estimate is capped: a large one would hide every rate that is over."""
OWN_DAYS, OWN_REQUESTS, OWN_MARGIN = 3, 20, 0.1
"""Days, each of this many requests, after which a past makes a ceiling of its own: the median day
and this margin, which is at most half of the ceiling that is set."""
LEAST_MINUTES = 3
"""Minutes with failures that a finding needs: one person who asks again and again takes fewer."""
MOST_A_MINUTE = 3.0
"""A minute counts as at most this many usual minutes, for the same reason."""

Scope = tuple[str, str, str, str]
"""Service, environment, signal, route or POOL."""


def evidence(failed: float, n: float, rate: float) -> float:
    """n KL(failed/n, rate): the negative logarithm of the tail's bound; 0 at or under the rate.

    >>> round(evidence(5, 5, 0.2), 2), evidence(1, 10, 0.2)
    (8.05, 0.0)
    """
    if not n or failed <= n * rate:
        return 0.0
    if rate <= 0:
        return float("inf")
    share = failed / n
    rest = (1 - share) * log((1 - share) / (1 - rate)) if share < 1 else 0.0
    return n * (share * log(share / rate) + rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One rate of a service: its routes, and their positions among the series."""

    service: str
    environment: str
    signal: str
    routes: tuple[str, ...]
    places: tuple[int, ...]

    def columns(self, routes: Collection[str]) -> list[int]:
        """The positions among the series of those of these routes that the group has."""
        return [at for at, route in zip(self.places, self.routes, strict=True) if route in routes]

    def scope(self, route: str) -> Scope:
        """The scope of one route, or of all of them (POOL)."""
        return (self.service, self.environment, self.signal, route)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRate:
    """A rate in one window: `failed` of `n`; `routes` are those that are over by themselves.

    `usual` is at most the ceiling. `clumping`, at least 1, is how much more the failures of an hour
    vary than independent ones. `worst` is the most failures that one route has, and `worst_n` its
    requests.
    """

    n: float
    failed: float
    ceiling: float
    usual: float
    clumping: float
    routes: tuple[str, ...]
    worst: float
    worst_n: float

    @property
    def share(self) -> float:
        """Failed requests over all, 0 without requests."""
        return self.failed / self.n if self.n else 0.0

    @property
    def is_above(self) -> bool:
        """Whether the rate lies over its ceiling at 95 %, be it usual or not."""
        return evidence(self.failed, self.n, self.ceiling) >= OVER

    @property
    def is_over(self) -> bool:
        """Whether the rate is proven to be over its ceiling and unusual."""
        return self.is_over_of(1)

    def is_over_of(self, choices: float) -> bool:
        """The same for routes that were picked from this many choices."""
        unusual = evidence(self.failed, self.n, self.usual) / self.clumping
        return self.is_above and unusual >= UNUSUAL + log(choices)

    @property
    def is_shared(self) -> bool:
        """Whether the rate is over its ceiling even without the worst route."""
        rest = self.n - self.worst_n
        return rest > 0 and self.failed - self.worst > rest * self.ceiling


def groups(table: SignalMinutes) -> list[Group]:
    """Groups the rates of a table by service, each with all its routes."""
    places_by_rate: dict[tuple[str, str, str], list[int]] = {}
    for place, series in enumerate(table.series):
        if series.rubric in BY_SIGNAL:
            places_by_rate.setdefault(
                (series.service, series.environment, series.rubric), []
            ).append(place)
    return [
        Group(
            service=service,
            environment=environment,
            signal=signal,
            routes=tuple(table.series[place].route for place in places),
            places=tuple(places),
        )
        for (service, environment, signal), places in places_by_rate.items()
    ]


class Ceilings:
    """The ceilings that the settings and the accepted levels allow."""

    def __init__(self, settings: BrokenSettings, accepted: Accepted) -> None:
        self._settings, self._accepted = settings, accepted
        self._known: dict[Scope, float] = {}

    def of(self, scope: Scope) -> float:
        """The ceiling of one route; an accepted level only ever raises it."""
        if scope not in self._known:
            self._known[scope] = max(self._set(scope), self._accepted.get(scope, 0.0))
        return self._known[scope]

    def pooled(
        self, group: Group, routes: Mapping[str, float], ceilings: Mapping[str, float]
    ) -> float:
        """The ceiling of several routes together: the mean of theirs, weighted by requests."""
        total = sum(routes.values())
        weighted = (ceilings[route] * n for route, n in routes.items())
        mean = sum(weighted) / total if total else 1.0
        return max(mean, self._accepted.get(group.scope(POOL), 0.0))

    def own(self, scope: Scope, past: float) -> float:
        """The ceiling of one route whose median day had the rate `past`, NaN without such days."""
        ceiling = self._set(scope)
        known = max(past if past >= 0 else 0.0, self._accepted.get(scope, 0.0))
        return max(ceiling, min(1.0, known + min(OWN_MARGIN, ceiling / 2)))

    def is_accepted(self, scope: Scope) -> bool:
        """Whether somebody accepted another level here as expected."""
        return scope in self._accepted

    def seconds(self, scope: Scope) -> float:
        """Seconds that a request of a route may take; of all routes, the setting's."""
        named = (ceilings.latency_seconds for ceilings in self._overrides(scope))
        return next(
            (seconds for seconds in named if seconds is not None), self._settings.latency_seconds
        )

    def _set(self, scope: Scope) -> float:
        key = BY_SIGNAL[scope[2]].setting
        named = (getattr(ceilings, key) for ceilings in self._overrides(scope))
        ceiling = next(
            (value for value in named if value is not None), getattr(self._settings, key)
        )
        return float(ceiling)

    def _overrides(self, scope: Scope) -> Iterator[RouteCeilings]:
        service, _, _, route = scope
        # `service/route` goes before `route`; routes usually begin with the slash.
        joined = f"{service}{route}" if route.startswith("/") else f"{service}/{route}"
        for name in (joined, route):
            if name in self._settings.routes:
                yield self._settings.routes[name]


def by_signal(settings: BrokenSettings) -> dict[str, float]:
    """The ceiling of every rate, for gauges; routes may have others."""
    return {rate.signal: float(getattr(settings, rate.setting)) for rate in RATES}


def usual(table: SignalMinutes, end: int) -> Floats:
    """The week before the last two hours, shape (5, series).

    The rows are requests, failures, clumping, requests a minute (infinite where there were none),
    and the median of the days' rates, NaN with fewer than OWN_DAYS. Clumping is Pearson's statistic
    of the hourly failures over its degrees of freedom, as in a quasi-binomial model (McCullagh and
    Nelder 1989): a person who asks again and again fails again and again.
    """
    n, failed, _ = table.by_hour(end // HOUR * HOUR - HOUR, USUAL_HOURS)
    requests, failures = n.sum(axis=0), failed.sum(axis=0)
    share = np.clip(np.nan_to_num(ratio(failures, requests)), LEAST_USUAL, 1 - LEAST_USUAL)
    off = np.nan_to_num(ratio((failed - n * share) ** 2, n * share * (1 - share)))
    hours = (n > 0).sum(axis=0)
    # Sorted by size, so that the first rows of this mask drop the worst hours.
    is_kept = np.arange(USUAL_HOURS)[::-1, None] >= np.floor(LEFT_OUT * hours)
    settled = np.sort(off, axis=0) * is_kept
    clumping = (settled.sum(axis=0) + PRIOR_HOURS) / (hours + PRIOR_HOURS)
    a_minute = np.nan_to_num(ratio(requests, 60.0 * hours), nan=np.inf)
    own = _median_day(n, failed)
    return np.stack([requests, failures, np.clip(clumping, 1.0, MOST_CLUMPING), a_minute, own])


def _median_day(n: Floats, failed: Floats) -> Floats:
    """The median of the rates of single days, NaN where too few have enough requests.

    A day or two of an incident do not raise it.
    """
    requests, failures = (hours.reshape(7, 24, -1).sum(axis=1) for hours in (n, failed))
    days = np.where(requests >= OWN_REQUESTS, ratio(failures, requests), np.nan)
    is_known = np.isfinite(days).sum(axis=0) >= OWN_DAYS
    median = np.full(days.shape[1], np.nan)
    median[is_known] = np.nanmedian(days[:, is_known], axis=0)
    return median


class RecentMinutes:
    """The last minutes before `end` (seconds), bursts cut, and what is usual."""

    def __init__(self, table: SignalMinutes, end: int) -> None:
        self.end, self.past = end, usual(table, end)
        minutes = table.by_minute(end, WINDOWS[-1])[:2]
        most = np.maximum(2.0, MOST_A_MINUTE * self.past[3])
        # Requests and failures of a burst are scaled down together, so its share stays.
        self._minutes = minutes * np.minimum(1.0, most / np.maximum(minutes[0], 1.0))
        self.windows = {length: self._minutes[:, -length:].sum(axis=1) for length in WINDOWS}

    def is_over_still(self, places: Sequence[int], length: int, ceiling: float) -> bool:
        """Whether the newest part of a long window is over a ceiling, too."""
        newest = NEWEST.get(length)
        if newest is None:
            return True
        n, failed = self.windows[newest][:, list(places)].sum(axis=1)
        return bool(failed > ceiling * n)

    def is_spread(self, places: Sequence[int], length: int) -> bool:
        """Whether at least LEAST_MINUTES of the last `length` minutes hold failures."""
        failed = self._minutes[1, -length:][:, list(places)].any(axis=1)
        return int(failed.sum()) >= LEAST_MINUTES


def window_rate(
    group: Group, places: Sequence[int], sums: Floats, past: Floats, ceilings: Ceilings
) -> WindowRate:
    """The rate of some routes of a group together; `sums` are of one window, shape (2, series)."""
    n = {place: float(sums[0, group.places[place]]) for place in places}
    failed = {place: float(sums[1, group.places[place]]) for place in places}
    own = {
        place: ceilings.own(group.scope(group.routes[place]), float(past[4, group.places[place]]))
        for place in places
    }
    ceiling = own[places[0]]
    if len(places) > 1:
        requests = {group.routes[place]: n[place] for place in places}
        ceiling = ceilings.pooled(
            group, requests, {group.routes[place]: own[place] for place in places}
        )
    worst = max(places, key=lambda place: failed[place])
    total = sum(n.values())
    weighted = sum(_usual(past[:, group.places[place]], ceiling) * n[place] for place in places)
    clumped = sum(float(past[2, group.places[place]]) * n[place] for place in places)
    return WindowRate(
        n=total,
        failed=sum(failed.values()),
        ceiling=ceiling,
        usual=weighted / total if total else ceiling,
        clumping=clumped / total if total else 1.0,
        routes=tuple(
            group.routes[place] for place in places if failed[place] > n[place] * own[place]
        ),
        worst=failed[worst],
        worst_n=n[worst],
    )


def _usual(past: Floats, ceiling: float) -> float:
    # Upper 99 % bound of the past's share.
    high = wilson(float(past[1]), float(past[0]), z=2.33)[1]
    return min(ceiling, max(LEAST_USUAL, high * USUAL_MARGIN))
