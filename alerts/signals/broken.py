"""The detector of broken rates: findings where a rate on all traffic is over its ceiling. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from alerts.deltas.windows import Floats
from alerts.signals.broken_words import clear_finding, open_finding, with_numbers
from alerts.signals.catalogue import BY_SIGNAL, POOL, Accepted, scope_of
from alerts.signals.ceilings import (
    WINDOWS,
    Ceilings,
    Group,
    RecentMinutes,
    Scope,
    WindowRate,
    groups,
    usual,
    window_rate,
)
from alerts.signals.levels import latest_peak
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.settings import BrokenSettings
from ragvigil.model.finding import Finding, FindingKind

LEAST_FAILED = 4
"""Fewer failures prove nothing, whatever is usual; checked first, as it saves most of the work."""
MOST_PICKED = 50
"""Most routes of which a subset is tried: the evidence must also pay for the choice of it."""
CLEAR_WINDOWS = (15, 30, 60, 120)
"""Minutes; whether a rate is still over is read from the shortest that has enough requests."""
ONSET_MINUTES = 120
"""Minutes before now in which the onset is sought."""
SILENT_SECONDS = 24 * HOUR
"""A finding ends after this long without a request."""


@dataclass(slots=True, kw_only=True)
class _OpenRate:
    """An open finding; `last_request` and `under_since`, when the rate came back, in seconds."""

    finding: Finding
    last_request: int
    under_since: int | None = None


class BrokenDetector:
    """Opens and clears findings, step after step.

    `findings` are those that were open when an earlier process ended; they go on under their ids.
    """

    def __init__(self, settings: BrokenSettings, findings: Sequence[Finding] = ()) -> None:
        self._settings = settings
        self._open: dict[Scope, _OpenRate] = {}
        for finding in findings:
            if (
                finding.kind is FindingKind.BROKEN
                and finding.is_open
                and finding.signal in BY_SIGNAL
            ):
                scope = (
                    finding.service,
                    finding.environment,
                    finding.signal,
                    scope_of(finding.routes),
                )
                self._open[scope] = _OpenRate(
                    finding=finding, last_request=finding.seen_unix_nano // 10**9
                )
        self._minutes_over: dict[Scope, int] = {}
        self._cleared: dict[Scope, int] = {}

    def step(
        self, table: SignalMinutes, ends: Collection[int], accepted: Accepted
    ) -> tuple[Finding, ...]:
        """Checks the windows that end at `ends` (seconds, ascending); the last one is now.

        Returns the findings that are open afterwards, and those that cleared now. A window that
        ends before a finding cleared does not open it again.
        """
        if not ends:
            return self.open
        ceilings, all_groups = Ceilings(self._settings, accepted), groups(table)
        for end in ends:
            self._open_new(table, all_groups, end, ceilings)
        now = max(ends)
        cleared = tuple(self._update_open(table, all_groups, now, ceilings))
        self._cleared = {
            scope: time for scope, time in self._cleared.items() if now - time < SILENT_SECONDS
        }
        return (*self.open, *cleared)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that are open."""
        return tuple(broken.finding for broken in self._open.values())

    def put(self, finding: Finding) -> None:
        """Puts a fuller version of an open finding in its place."""
        for broken in self._open.values():
            if broken.finding.finding_id == finding.finding_id:
                broken.finding = finding

    def _open_new(
        self, table: SignalMinutes, all_groups: Sequence[Group], end: int, ceilings: Ceilings
    ) -> None:
        recent = RecentMinutes(table, end)
        minutes_over: dict[Scope, int] = {}
        for group in all_groups:
            for scope, rate in self._over(group, recent, ceilings):
                # Late records may change a window that ended before the finding cleared.
                if end <= self._cleared.get(scope, 0):
                    continue
                minutes_over[scope] = self._minutes_over.get(scope, 0) + 1
                if minutes_over[scope] >= self._settings.stand_minutes:
                    onset = _onset(table, group, rate, end)
                    finding = open_finding(scope, group, rate, onset, end)
                    self._open[scope] = _OpenRate(
                        finding=with_numbers(finding, rate, end, ceilings), last_request=end
                    )
        self._minutes_over = minutes_over

    def _over(
        self, group: Group, recent: RecentMinutes, ceilings: Ceilings
    ) -> Iterator[tuple[Scope, WindowRate]]:
        """Yields what of a group is newly over: its routes together, else single routes.

        Routes that have a finding of their own are left out.
        """
        longest = recent.windows[WINDOWS[-1]][1, list(group.places)]
        if longest.sum() < LEAST_FAILED or group.scope(POOL) in self._open:
            return
        free = [
            place
            for place, route in enumerate(group.routes)
            if group.scope(route) not in self._open
        ]
        pooled = self._proven(group, free, recent, ceilings) if len(free) > 1 else None
        if pooled is not None and pooled.is_shared:
            yield group.scope(POOL), pooled
            return
        for place in free:
            if longest[place] < LEAST_FAILED:
                continue
            single = self._proven(group, [place], recent, ceilings)
            if single is not None:
                yield group.scope(group.routes[place]), single

    def _proven(
        self, group: Group, places: Sequence[int], recent: RecentMinutes, ceilings: Ceilings
    ) -> WindowRate | None:
        """Returns the rate in the shortest window that proves it over, None if no window does.

        If several routes together do not prove it, those that are over by themselves are tried.
        """
        for length, sums in recent.windows.items():
            if not recent.is_spread([group.places[place] for place in places], length):
                continue
            rate = window_rate(group, places, sums, recent.past, ceilings)
            if self._is_proven(rate, 1, len(places)):
                return rate
            if 1 < len(rate.routes) < len(places) <= MOST_PICKED:
                over = [place for place in places if group.routes[place] in rate.routes]
                picked = window_rate(group, over, sums, recent.past, ceilings)
                # Routes picked by their result need more evidence: one of 2^n subsets (Bonferroni).
                if self._is_proven(picked, 2 ** len(places), len(over)):
                    return picked
        return None

    def _is_proven(self, rate: WindowRate, choices: int, routes: int) -> bool:
        is_enough = rate.n >= self._settings.fewest_requests
        return is_enough and rate.is_over_of(choices) and (routes == 1 or rate.is_shared)

    def _update_open(
        self, table: SignalMinutes, all_groups: Sequence[Group], now: int, ceilings: Ceilings
    ) -> Iterator[Finding]:
        """Updates the findings that last with the numbers of now, and yields those that cleared."""
        by_name = {(group.service, group.environment, group.signal): group for group in all_groups}
        windows = [table.last(now, minutes) for minutes in CLEAR_WINDOWS]
        past = usual(table, now)
        for scope, broken in list(self._open.items()):
            group = by_name.get(scope[:3])
            rate = self._now(group, broken.finding, windows, past, ceilings) if group else None
            if rate is not None and rate.n:
                broken.last_request = now
            is_over = rate is not None and rate.n and rate.share > rate.ceiling
            is_expected = ceilings.is_accepted(scope) and not (rate is not None and rate.is_over)
            if is_over and rate is not None and not is_expected:
                broken.under_since = None
                broken.finding = with_numbers(broken.finding, rate, now, ceilings)
                continue
            if rate is not None and rate.n and broken.under_since is None:
                broken.under_since = now
            if is_expected or self._is_over_with(broken, now):
                del self._open[scope]
                self._cleared[scope] = now
                yield clear_finding(broken.finding, rate, now)

    def _now(
        self,
        group: Group,
        finding: Finding,
        windows: Sequence[Floats],
        past: Floats,
        ceilings: Ceilings,
    ) -> WindowRate | None:
        """The rate of a finding's routes now: of all together, else of those still over."""
        places = [place for place, route in enumerate(group.routes) if route in finding.routes]
        if not places:
            return None
        together = self._enough(group, places, windows, past, ceilings)
        if len(places) == 1 or together.share > together.ceiling:
            return together
        # Some routes may be back while others are not: these must not hide behind the sum.
        still = [
            place
            for place in places
            if self._enough(group, [place], windows, past, ceilings).is_above
        ]
        return self._enough(group, still, windows, past, ceilings) if still else together

    def _enough(
        self,
        group: Group,
        places: Sequence[int],
        windows: Sequence[Floats],
        past: Floats,
        ceilings: Ceilings,
    ) -> WindowRate:
        """The rate in the shortest window with enough requests, else in the longest."""
        for sums in windows[:-1]:
            rate = window_rate(group, places, sums, past, ceilings)
            if rate.n >= self._settings.fewest_requests:
                return rate
        return window_rate(group, places, windows[-1], past, ceilings)

    def _is_over_with(self, broken: _OpenRate, now: int) -> bool:
        is_under = (
            broken.under_since is not None
            and now - broken.under_since >= self._settings.clear_minutes * MINUTE
        )
        return is_under or now - broken.last_request >= SILENT_SECONDS


def _onset(table: SignalMinutes, group: Group, rate: WindowRate, end: int) -> int:
    """Start of the minute since which the present rate explains the counts best (CUSUM).

    Each minute gains the log-likelihood ratio of the present rate over the usual one; the onset is
    where the gains from there until now are largest.
    """
    routes = rate.routes or group.routes
    places = [group.places[group.routes.index(route)] for route in routes]
    minutes = table.by_minute(end, ONSET_MINUTES)[:, :, places].sum(axis=2)
    # Bounded away from 0 and 1, and apart from each other, so that the logarithms stay finite.
    now = min(max(rate.share, 0.02), 0.98)
    before = min(max(rate.usual, 0.001), now / 2)
    gain = minutes[1] * log(now / before) + (minutes[0] - minutes[1]) * log(
        (1 - now) / (1 - before)
    )
    since = np.cumsum(gain[::-1])[::-1]
    return end - latest_peak(since) * MINUTE
