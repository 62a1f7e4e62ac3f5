"""Moved: findings about numbers on all traffic that left their own past. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from alerts.deltas.windows import Floats, Ints
from alerts.signals.catalogue import BY_SIGNAL, POOL, Accepted, Number, number, scope_of
from alerts.signals.levels import Levels, Past, Shift, latest_peak, shift
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.moved_words import change_of, hour, opened, seen_again, shown
from alerts.signals.settings import MovedSettings
from ragvigil.model.finding import Finding, FindingKind

WINDOWS = (15, 30, 60)
"""Minutes that are looked at, shortest first."""
LOOK_SECONDS = 300
LEAST_Z = 4.75
"""Standard errors of a change: about one false move a week over 90 series and all looks."""
LEAST_AGREEMENT = 3.0
"""Standard errors from every single day, or hour, of the past."""
YOUNG = 1.5
"""How much more a number must change while it has no days to compare with."""
ONSET_MINUTES = 120
NEW_LEVEL_SECONDS = 25 * HOUR
"""A day as the new level, and the longest window: then yesterday agrees."""

Scope = tuple[str, str, str, str]


@dataclass(slots=True, kw_only=True)
class _Open:
    """`change` is that at opening, in the unit that is compared (logarithms where logged)."""

    finding: Finding
    change: float
    back_since: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """One number of a service, of one version: its routes, and their places among the series."""

    service: str
    environment: str
    number: Number
    routes: tuple[str, ...]
    places: Ints

    def scope(self, route: str) -> Scope:
        return (self.service, self.environment, self.number.signal, route)

    def chosen(self, scope: Scope) -> Ints:
        """Which of the routes a scope means."""
        named = [place for place, one in enumerate(self.routes) if scope[3] in (one, POOL)]
        return np.array(named, dtype=np.int64)


class Moved:
    """Opens and clears findings, look after look; `known` are the open ones of an earlier life."""

    def __init__(
        self, settings: MovedSettings, known: Sequence[Finding] = (), *, min_days: int = 3
    ) -> None:
        self._settings, self._min_days = settings, min_days
        self._open: dict[Scope, _Open] = {}
        for one in known:
            if one.kind is FindingKind.MOVED and one.is_open:
                scope = (one.service, one.environment, one.signal, scope_of(one.routes))
                self._open[scope] = _Open(finding=one, change=change_of(one))
        self._looked = 0

    def step(self, table: SignalMinutes, now: int, accepted: Accepted) -> tuple[Finding, ...]:
        """Looks at the windows that end at `now` (seconds), every five minutes.

        All findings that are open afterwards, and those that cleared now.
        """
        if now // LOOK_SECONDS <= self._looked // LOOK_SECONDS:
            return self.open
        self._looked = now
        levels = Levels(table, now, min_days=self._min_days, least_past=self._settings.least_past)
        windows = {minutes: table.last(now, minutes) for minutes in WINDOWS}
        found = _groups(table)
        cleared = tuple(self._go_on(found, levels, windows[WINDOWS[-1]], now, accepted))
        for group in found:
            self._look(table, group, levels, windows, now, accepted)
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
        self,
        table: SignalMinutes,
        group: _Group,
        levels: Levels,
        windows: dict[int, Floats],
        now: int,
        accepted: Accepted,
    ) -> None:
        if group.scope(POOL) in self._open:
            return
        free = [
            place
            for place, route in enumerate(group.routes)
            if group.scope(route) not in self._open
        ]
        tried = np.array(free, dtype=np.int64)
        for minutes, sums in windows.items():
            past = levels.past(group.places, minutes)
            for scope, found in self._moves(group, tried, sums[:, group.places], past, accepted):
                if scope in self._open:
                    continue
                onset = _onset(table, group, group.chosen(scope), past, found, now)
                routes = _concerned(group, tried, sums[:, group.places], past, found)
                finding = opened(scope, routes, group.number, onset)
                finding = seen_again(finding, group.number, found, now)
                self._open[scope] = _Open(finding=finding, change=found.change)
            if group.scope(POOL) in self._open:
                return

    def _moves(
        self, group: _Group, tried: Ints, now: Floats, past: Past, accepted: Accepted
    ) -> Iterator[tuple[Scope, Shift]]:
        """What of a group moved: its routes together, else single ones."""
        pooled = shift(now, past, tried) if len(tried) > 1 else None
        if (
            pooled is not None
            and self._has_moved(group, POOL, pooled, accepted)
            and len(_concerned(group, tried, now, past, pooled)) > 1
        ):
            yield group.scope(POOL), pooled
            return
        for place in tried:
            route = group.routes[place]
            found = shift(now, past, np.array([place]))
            if found is not None and self._has_moved(group, route, found, accepted):
                yield group.scope(route), found

    def _has_moved(self, group: _Group, route: str, found: Shift, accepted: Accepted) -> bool:
        floor = self._floor(group.number, found)
        if found.n < self._settings.fewest_requests or abs(found.change) < floor:
            return False
        if found.z < LEAST_Z or found.agreement < LEAST_AGREEMENT:
            return False
        return not _is_expected(group, route, found, floor, accepted)

    def _floor(self, signal: Number, found: Shift) -> float:
        """The smallest change that counts."""
        share = self._settings.least_change
        relative = log(1 + share) if signal.is_logged else share * abs(found.level)
        spread = self._settings.least_sds * found.sd
        floor = max(relative if signal.is_anchored else 0.0, spread)
        return floor if found.is_same_hours else YOUNG * floor

    def _go_on(
        self,
        found: Sequence[_Group],
        levels: Levels,
        sums: Floats,
        now: int,
        accepted: Accepted,
    ) -> Iterator[Finding]:
        """Newer numbers for what lasts; gives what cleared."""
        for scope, one in list(self._open.items()):
            groups = [group for group in found if group.scope(scope[3]) == scope]
            shifts = [(group, self._now(group, scope, one, levels, sums)) for group in groups]
            known = [(group, seen) for group, seen in shifts if seen is not None]
            words = ""
            if known:
                group, seen = max(known, key=lambda pair: pair[1].n)
                words = self._after(one, group, seen, now, scope, accepted)
            since = one.finding.since_unix_nano // 10**9
            if not words and now - since >= NEW_LEVEL_SECONDS:
                words = f"the new level since {hour(since)}: {one.finding.words}"
            if words:
                del self._open[scope]
                yield replace(one.finding, cleared_unix_nano=now * 10**9, words=words)

    def _now(
        self, group: _Group, scope: Scope, one: _Open, levels: Levels, sums: Floats
    ) -> Shift | None:
        since = one.finding.since_unix_nano // 10**9
        past = levels.past(group.places, WINDOWS[-1], until=since)
        found = shift(sums[:, group.places], past, group.chosen(scope))
        is_enough = found is not None and found.n >= self._settings.fewest_requests
        return found if is_enough else None

    def _after(
        self,
        one: _Open,
        group: _Group,
        seen: Shift,
        now: int,
        scope: Scope,
        accepted: Accepted,
    ) -> str:
        """Takes the numbers of now; the words of clearing, empty while it lasts."""
        if _is_expected(group, scope[3], seen, self._floor(group.number, seen), accepted):
            return "this level is expected"
        side = 1.0 if one.change >= 0 else -1.0
        if side * seen.change >= abs(one.change) / 2:
            one.back_since = None
            one.finding = seen_again(one.finding, group.number, seen, now)
            return ""
        one.back_since = now if one.back_since is None else one.back_since
        if now - one.back_since < self._settings.clear_minutes * MINUTE:
            return ""
        return f"back: {group.number.words} {shown(group.number, seen.level + seen.change)}"


def _groups(table: SignalMinutes) -> list[_Group]:
    """The numbers that a table holds, each with all its routes."""
    found: dict[tuple[str, str, str, str], list[int]] = {}
    for place, one in enumerate(table.series):
        if one.rubric not in BY_SIGNAL:
            key = (one.service, one.environment, one.rubric, one.segment)
            found.setdefault(key, []).append(place)
    return [
        _Group(
            service=key[0],
            environment=key[1],
            number=number(key[2]),
            routes=tuple(table.series[place].route for place in places),
            places=np.array(places, dtype=np.int64),
        )
        for key, places in found.items()
    ]


def _concerned(
    group: _Group, tried: Ints, now: Floats, past: Past, found: Shift
) -> tuple[str, ...]:
    """The routes that moved the same way by themselves, at least half as far."""
    own = [(group.routes[place], shift(now, past, np.array([place]))) for place in tried]
    return tuple(
        route
        for route, one in own
        if one is not None and one.z >= 1 and one.change / found.change >= 0.5
    )


def _is_expected(group: _Group, route: str, found: Shift, floor: float, accepted: Accepted) -> bool:
    level = accepted.get(group.scope(route))
    if level is None or (group.number.is_logged and level <= 0):
        return False
    expected = log(level) if group.number.is_logged else level
    return abs(found.level + found.change - expected) <= floor


def _onset(
    table: SignalMinutes, group: _Group, chosen: Ints, past: Past, found: Shift, now: int
) -> int:
    """Start of the minute from which on the new level explains the values best (CUSUM)."""
    minutes = table.by_minute(now, ONSET_MINUTES)[:, :, group.places[chosen]]
    side = 1.0 if found.change >= 0 else -1.0
    above = minutes[1] - minutes[0] * past.mean[chosen]
    gain = (side * above - minutes[0] * abs(found.change) / 2).sum(axis=1)
    since = np.cumsum(gain[::-1])[::-1]
    return now - latest_peak(since) * MINUTE
