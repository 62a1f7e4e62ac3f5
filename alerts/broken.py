"""Broken: findings about rates on all traffic that are over their absolute ceilings. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from alerts.ceilings import (
    WINDOWS,
    Ceilings,
    Counted,
    Group,
    Scope,
    counted,
    groups,
    usual,
    wilson,
)
from alerts.signal_minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals import BY_SIGNAL, POOL, Accepted, finding_id, scope_of
from alerts.watch_settings import BrokenSettings
from alerts.windows import Floats
from ragvigil.model.finding import Finding, FindingKind

LEAST_FAILED = 4
"""Fewer prove nothing, whatever is usual; saves most of the work."""
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
        windows = [table.last(end, minutes) for minutes in WINDOWS]
        past = usual(table, end)
        standing: dict[Scope, int] = {}
        for group in found:
            for scope, one in self._over(group, windows, past, ceilings):
                if end <= self._cleared.get(scope, 0):
                    continue
                standing[scope] = self._standing.get(scope, 0) + 1
                if standing[scope] >= self._settings.stand_minutes:
                    onset = _onset(table, group, one, end)
                    finding = _opened(scope, group, one, onset, end)
                    self._open[scope] = _Open(finding=_seen(finding, one, end, ceilings), asked=end)
        self._standing = standing

    def _over(
        self, group: Group, windows: Sequence[Floats], past: Floats, ceilings: Ceilings
    ) -> Iterator[tuple[Scope, Counted]]:
        """What of a group is newly over: its routes together, else single ones.

        A route with a finding of its own says nothing of the others.
        """
        longest = windows[-1][1, list(group.places)]
        if longest.sum() < LEAST_FAILED or group.scope(POOL) in self._open:
            return
        free = [
            place
            for place, route in enumerate(group.routes)
            if group.scope(route) not in self._open
        ]
        pooled = self._proven(group, free, windows, past, ceilings) if len(free) > 1 else None
        if pooled is not None and pooled.is_shared:
            yield group.scope(POOL), pooled
            return
        for place in free:
            if longest[place] < LEAST_FAILED:
                continue
            single = self._proven(group, [place], windows, past, ceilings)
            if single is not None:
                yield group.scope(group.routes[place]), single

    def _proven(
        self,
        group: Group,
        places: Sequence[int],
        windows: Sequence[Floats],
        past: Floats,
        ceilings: Ceilings,
    ) -> Counted | None:
        """The counts of the shortest window that proves it, None where none does."""
        for sums in windows:
            one = counted(group, places, sums, past, ceilings)
            is_spread = len(places) == 1 or one.is_shared
            if one.n >= self._settings.fewest_requests and one.is_over and is_spread:
                return one
        return None

    def _go_on(
        self, table: SignalMinutes, found: Sequence[Group], now: int, ceilings: Ceilings
    ) -> Iterator[Finding]:
        """Newer numbers for what lasts; gives what cleared."""
        by_name = {(one.service, one.environment, one.signal): one for one in found}
        windows = [table.last(now, minutes) for minutes in CLEAR_WINDOWS]
        past = usual(table, now)
        for scope, one in list(self._open.items()):
            group = by_name.get(scope[:3])
            seen = self._now(group, scope, windows, past, ceilings) if group else None
            if seen is not None and seen.n:
                one.asked = now
            is_over = seen is not None and seen.n and seen.share > seen.ceiling
            is_expected = ceilings.is_accepted(scope) and not (seen is not None and seen.is_over)
            if is_over and seen is not None and not is_expected:
                one.under_since = None
                one.finding = _seen(one.finding, seen, now, ceilings)
                continue
            if seen is not None and seen.n and one.under_since is None:
                one.under_since = now
            if is_expected or self._is_over_with(one, now):
                del self._open[scope]
                self._cleared[scope] = now
                yield _cleared(one.finding, seen, now)

    def _now(
        self,
        group: Group,
        scope: Scope,
        windows: Sequence[Floats],
        past: Floats,
        ceilings: Ceilings,
    ) -> Counted | None:
        places = [place for place, route in enumerate(group.routes) if scope[3] in (route, POOL)]
        if not places:
            return None
        for sums in windows:
            one = counted(group, places, sums, past, ceilings)
            if one.n >= self._settings.fewest_requests:
                return one
        return one

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
    return end - (ONSET_MINUTES - int(np.argmax(since))) * MINUTE


def _opened(scope: Scope, group: Group, one: Counted, onset: int, end: int) -> Finding:
    service, environment, signal, route = scope
    rate = BY_SIGNAL[signal]
    pooled = one.routes if len(one.routes) > 1 else group.routes
    return Finding(
        finding_id=finding_id(FindingKind.BROKEN, service, environment, signal, route, onset),
        kind=FindingKind.BROKEN,
        service=service,
        environment=environment,
        routes=pooled if route == POOL else (route,),
        signal=signal,
        layer=rate.layer,
        causes=rate.causes,
        since_unix_nano=onset * 10**9,
        seen_unix_nano=end * 10**9,
    )


def _seen(finding: Finding, one: Counted, now: int, ceilings: Ceilings) -> Finding:
    """The same finding with the numbers of now; a pool keeps the routes that it had."""
    low, high = wilson(one.failed, one.n)
    routes = tuple(dict.fromkeys((*finding.routes, *one.routes)))
    return replace(
        finding,
        routes=routes,
        value=one.share,
        reference=one.ceiling,
        low=low - one.ceiling,
        high=high - one.ceiling,
        n=int(one.n),
        seen_unix_nano=now * 10**9,
        words=_words(finding, one, ceilings),
    )


def _words(finding: Finding, one: Counted, ceilings: Ceilings) -> str:
    """ "38 of 41 answers cite what is not there (93 %, ceiling 30 %)"."""
    scope = (finding.service, finding.environment, finding.signal, scope_of(finding.routes))
    what = BY_SIGNAL[finding.signal].words.format(seconds=ceilings.seconds(scope))
    share, ceiling = _percent(one.share), _percent(one.ceiling)
    return f"{one.failed:.0f} of {one.n:.0f} {what} ({share}, ceiling {ceiling})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _cleared(finding: Finding, one: Counted | None, now: int) -> Finding:
    if one is None or not one.n:
        words = f"no requests any more; last: {finding.words}"
    else:
        words = f"back under the ceiling: {_percent(one.share)} of {one.n:.0f}"
    return replace(finding, cleared_unix_nano=now * 10**9, words=words)
