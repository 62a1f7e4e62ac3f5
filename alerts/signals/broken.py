"""Broken: findings about rates on all traffic that are over their absolute ceilings. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from alerts.deltas.windows import Floats
from alerts.signals.broken_words import cleared_by, opened, seen_again
from alerts.signals.catalogue import BY_SIGNAL, POOL, Accepted, scope_of
from alerts.signals.ceilings import (
    WINDOWS,
    Ceilings,
    Counted,
    Group,
    Look,
    Scope,
    counted,
    groups,
    usual,
)
from alerts.signals.levels import latest_peak
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.settings import BrokenSettings
from ragvigil.model.finding import Finding, FindingKind

LEAST_FAILED = 4
"""Fewer prove nothing, whatever is usual; saves most of the work."""
MOST_PICKED = 50
"""Routes of which some are picked; of more there would be too many choices."""
CLEAR_WINDOWS = (15, 30, 60, 120)
"""Minutes; a rate is judged by the shortest of these that has enough requests."""
ONSET_MINUTES = 120
SILENT_SECONDS = 24 * HOUR
"""A finding ends when nobody has asked for so long."""


@dataclass(slots=True, kw_only=True)
class _Open:
    finding: Finding
    asked: int
    under_since: int | None = None


class Broken:
    """Opens and clears findings, step after step; `known` are the open ones of an earlier life."""

    def __init__(self, settings: BrokenSettings, known: Sequence[Finding] = ()) -> None:
        self._settings = settings
        self._open: dict[Scope, _Open] = {}
        for one in known:
            if one.kind is FindingKind.BROKEN and one.is_open and one.signal in BY_SIGNAL:
                scope = (one.service, one.environment, one.signal, scope_of(one.routes))
                self._open[scope] = _Open(finding=one, asked=one.seen_unix_nano // 10**9)
        self._standing: dict[Scope, int] = {}
        self._cleared: dict[Scope, int] = {}

    def step(
        self, table: SignalMinutes, ends: Collection[int], accepted: Accepted
    ) -> tuple[Finding, ...]:
        """Looks at the windows that end at `ends` (seconds, ascending); the last one is now.

        All findings that are open afterwards, and those that cleared now. A window that ends
        before a finding cleared does not open it again.
        """
        if not ends:
            return self.open
        ceilings, found = Ceilings(self._settings, accepted), groups(table)
        for end in ends:
            self._look(table, found, end, ceilings)
        now = max(ends)
        cleared = tuple(self._go_on(table, found, now, ceilings))
        self._cleared = {
            scope: time for scope, time in self._cleared.items() if now - time < SILENT_SECONDS
        }
        return (*self.open, *cleared)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that are open."""
        return tuple(one.finding for one in self._open.values())

    def put(self, finding: Finding) -> None:
        """Puts a fuller version of an open finding in its place."""
        for one in self._open.values():
            if one.finding.finding_id == finding.finding_id:
                one.finding = finding

    def _look(
        self, table: SignalMinutes, found: Sequence[Group], end: int, ceilings: Ceilings
    ) -> None:
        look = Look(table, end)
        standing: dict[Scope, int] = {}
        for group in found:
            for scope, one in self._over(group, look, ceilings):
                if end <= self._cleared.get(scope, 0):
                    continue
                standing[scope] = self._standing.get(scope, 0) + 1
                if standing[scope] >= self._settings.stand_minutes:
                    onset = _onset(table, group, one, end)
                    finding = opened(scope, group, one, onset, end)
                    self._open[scope] = _Open(
                        finding=seen_again(finding, one, end, ceilings), asked=end
                    )
        self._standing = standing

    def _over(
        self, group: Group, look: Look, ceilings: Ceilings
    ) -> Iterator[tuple[Scope, Counted]]:
        """What of a group is newly over: its routes together, else single ones.

        A route with a finding of its own says nothing of the others.
        """
        longest = look.windows[WINDOWS[-1]][1, list(group.places)]
        if longest.sum() < LEAST_FAILED or group.scope(POOL) in self._open:
            return
        free = [
            place
            for place, route in enumerate(group.routes)
            if group.scope(route) not in self._open
        ]
        pooled = self._proven(group, free, look, ceilings) if len(free) > 1 else None
        if pooled is not None and pooled.is_shared:
            yield group.scope(POOL), pooled
            return
        for place in free:
            if longest[place] < LEAST_FAILED:
                continue
            single = self._proven(group, [place], look, ceilings)
            if single is not None:
                yield group.scope(group.routes[place]), single

    def _proven(
        self, group: Group, places: Sequence[int], look: Look, ceilings: Ceilings
    ) -> Counted | None:
        """The counts of the shortest window that proves it, None where none does.

        Of several routes, where all together do not, those that are over by themselves.
        """
        for length, sums in look.windows.items():
            if not look.is_spread([group.places[place] for place in places], length):
                continue
            one = counted(group, places, sums, look.past, ceilings)
            if self._is_proven(one, 1, len(places)):
                return one
            if 1 < len(one.routes) < len(places) <= MOST_PICKED:
                some = [place for place in places if group.routes[place] in one.routes]
                picked = counted(group, some, sums, look.past, ceilings)
                if self._is_proven(picked, 2 ** len(places), len(some)):
                    return picked
        return None

    def _is_proven(self, one: Counted, choices: int, routes: int) -> bool:
        is_enough = one.n >= self._settings.fewest_requests
        return is_enough and one.is_over_of(choices) and (routes == 1 or one.is_shared)

    def _go_on(
        self, table: SignalMinutes, found: Sequence[Group], now: int, ceilings: Ceilings
    ) -> Iterator[Finding]:
        """Newer numbers for what lasts; gives what cleared."""
        by_name = {(one.service, one.environment, one.signal): one for one in found}
        windows = [table.last(now, minutes) for minutes in CLEAR_WINDOWS]
        past = usual(table, now)
        for scope, one in list(self._open.items()):
            group = by_name.get(scope[:3])
            seen = self._now(group, one.finding, windows, past, ceilings) if group else None
            if seen is not None and seen.n:
                one.asked = now
            is_over = seen is not None and seen.n and seen.share > seen.ceiling
            is_expected = ceilings.is_accepted(scope) and not (seen is not None and seen.is_over)
            if is_over and seen is not None and not is_expected:
                one.under_since = None
                one.finding = seen_again(one.finding, seen, now, ceilings)
                continue
            if seen is not None and seen.n and one.under_since is None:
                one.under_since = now
            if is_expected or self._is_over_with(one, now):
                del self._open[scope]
                self._cleared[scope] = now
                yield cleared_by(one.finding, seen, now)

    def _now(
        self,
        group: Group,
        finding: Finding,
        windows: Sequence[Floats],
        past: Floats,
        ceilings: Ceilings,
    ) -> Counted | None:
        """The routes of a finding now: together, else those among them that are still over."""
        places = [place for place, route in enumerate(group.routes) if route in finding.routes]
        if not places:
            return None
        together = self._enough(group, places, windows, past, ceilings)
        if len(places) == 1 or together.share > together.ceiling:
            return together
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
    ) -> Counted:
        """The counts of the shortest window with enough requests, else of the longest."""
        for sums in windows[:-1]:
            one = counted(group, places, sums, past, ceilings)
            if one.n >= self._settings.fewest_requests:
                return one
        return counted(group, places, windows[-1], past, ceilings)

    def _is_over_with(self, one: _Open, now: int) -> bool:
        is_under = (
            one.under_since is not None
            and now - one.under_since >= self._settings.clear_minutes * MINUTE
        )
        return is_under or now - one.asked >= SILENT_SECONDS


def _onset(table: SignalMinutes, group: Group, one: Counted, end: int) -> int:
    """Start of the minute from which on the present rate explains the counts best (CUSUM)."""
    routes = one.routes or group.routes
    places = [group.places[group.routes.index(route)] for route in routes]
    minutes = table.by_minute(end, ONSET_MINUTES)[:, :, places].sum(axis=2)
    now = min(max(one.share, 0.02), 0.98)
    before = min(max(one.usual, 0.001), now / 2)
    gain = minutes[1] * log(now / before) + (minutes[0] - minutes[1]) * log(
        (1 - now) / (1 - before)
    )
    since = np.cumsum(gain[::-1])[::-1]
    return end - latest_peak(since) * MINUTE
