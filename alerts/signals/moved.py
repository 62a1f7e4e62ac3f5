"""The detector of moved numbers: findings where a number left its own past. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from alerts.deltas.windows import Floats, Ints
from alerts.signals.catalogue import BY_SIGNAL, POOL, Accepted, Number, number, scope_of
from alerts.signals.ends import Ends
from alerts.signals.levels import Levels, Past, Shift, shift_of
from alerts.signals.minutes import HOUR, MINUTE, MINUTES, SignalMinutes
from alerts.signals.moved_words import (
    change_of,
    level_words,
    open_finding,
    time_words,
    with_numbers,
)
from alerts.signals.onset import Onset, start_of_move
from alerts.signals.returning import Return, return_of
from alerts.signals.settings import MovedSettings
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.score import Layer

WINDOWS = (15, 30, 60)
"""Lengths of the windows in minutes, shortest first."""
CHECK_SECONDS = 300
"""Seconds between two checks."""
LEAST_Z = 4.75
"""Standard errors of a change: about one false move a week over 90 series and all checks."""
LEAST_AGREEMENT = 3.0
"""Standard errors that the present must lie from every single day, or hour, of the past."""
CERTAIN = 1.96
"""Standard errors within which a change lies."""
LEAST_OWN = 2.0
"""Standard errors by which a route must have moved itself, to be named among several."""
YOUNG = 1.5
"""Factor on the smallest change while a number has no days to compare with."""
GRADED = 2.0
"""Factor on the smallest change, in standard deviations, of a local model's grades: they have no
level of which a share would be much, so their spread alone tells what counts."""
TOGETHER_SECONDS = 10 * MINUTE
"""What moves so shortly before or after several routes did, on another one, is part of that."""
NEW_LEVEL_SECONDS = 25 * HOUR
"""A finding that lasts this long is the new level: after a day and the longest window yesterday,
the past to compare with, agrees."""

Scope = tuple[str, str, str, str]


@dataclass(slots=True, kw_only=True)
class _OpenMove:
    """An open finding; `change` is that at opening, as compared (in logarithms where logged)."""

    finding: Finding
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """One number of a service, of one segment: its routes, and their positions among the series."""

    service: str
    environment: str
    number: Number
    routes: tuple[str, ...]
    places: Ints

    def scope(self, route: str) -> Scope:
        return (self.service, self.environment, self.number.signal, route)

    def past(self, levels: Levels, minutes: int, until: int | None = None) -> Past:
        return levels.past(self.places, minutes, until=until, allowed=self.number.allowed)

    def among(self, routes: Collection[str]) -> Ints:
        """Positions of these routes."""
        named = [place for place, name in enumerate(self.routes) if name in routes]
        return np.array(named, dtype=np.int64)


class MovedDetector:
    """Opens and clears findings, step after step.

    `findings` are those of an earlier process: the open ones go on under their ids.
    """

    def __init__(
        self, settings: MovedSettings, findings: Sequence[Finding] = (), *, min_days: int = 3
    ) -> None:
        self._settings, self._min_days = settings, min_days
        self._open: dict[Scope, _OpenMove] = {}
        self._returned = Ends()
        for finding in findings:
            if finding.kind is not FindingKind.MOVED:
                continue
            scope = (finding.service, finding.environment, finding.signal, scope_of(finding.routes))
            if finding.is_open:
                self._open[scope] = _OpenMove(finding=finding, change=change_of(finding))
            else:
                self._returned.add(finding, finding.cleared_unix_nano // 10**9)
        self._checked_at = 0

    def step(self, table: SignalMinutes, now: int, accepted: Accepted) -> tuple[Finding, ...]:
        """Checks the windows that end at `now` (seconds), every CHECK_SECONDS.

        Returns the findings that are open afterwards, and those that cleared now.
        """
        if now // CHECK_SECONDS <= self._checked_at // CHECK_SECONDS:
            return self.open
        self._checked_at = now
        levels = Levels(table, now, min_days=self._min_days, least_past=self._settings.least_past)
        windows = {minutes: table.last(now, minutes) for minutes in WINDOWS}
        groups = _groups(table)
        cleared = tuple(
            self._update_open(table, groups, levels, windows[WINDOWS[-1]], now, accepted)
        )
        for group in groups:
            self._open_new(table, group, levels, windows, now, accepted)
        return (*self.open, *cleared)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that are open."""
        return tuple(moved.finding for moved in self._open.values())

    def put(self, finding: Finding) -> None:
        """Puts a fuller version of an open finding in its place."""
        for moved in self._open.values():
            if moved.finding.finding_id == finding.finding_id:
                moved.finding = finding

    def held(self, table: SignalMinutes, finding: Finding, now: int) -> tuple[str, ...]:
        """The numbers of the retrieved chunks that a finding's routes have kept since its onset.

        A number has held if its change, with its error, is smaller than any that counts.
        """
        since = finding.since_unix_nano // 10**9
        minutes = min(max((now - since) // MINUTE, WINDOWS[0]), MINUTES)
        levels = Levels(table, now, min_days=self._min_days, least_past=self._settings.least_past)
        sums = table.last(now, minutes)
        place = (finding.service, finding.environment)
        return tuple(
            group.number.signal
            for group in _groups(table)
            if (group.service, group.environment) == place
            and group.number.layer is Layer.RETRIEVAL
            and self._has_held(
                group.number,
                shift_of(
                    sums[:, group.places],
                    group.past(levels, minutes, since),
                    group.among(finding.routes),
                ),
            )
        )

    def _has_held(self, signal: Number, shift: Shift | None) -> bool:
        if shift is None or shift.n < self._settings.fewest_requests:
            return False
        return abs(shift.change) + CERTAIN * shift.error < self._floor(signal, shift)

    def _open_new(
        self,
        table: SignalMinutes,
        group: _Group,
        levels: Levels,
        windows: dict[int, Floats],
        now: int,
        accepted: Accepted,
    ) -> None:
        shared = self._open.get(group.scope(POOL))
        held = shared.finding.routes if shared else ()
        free = [
            place
            for place, route in enumerate(group.routes)
            if route not in held and group.scope(route) not in self._open
        ]
        for minutes, sums in windows.items():
            # What a finding reported that is over is no evidence for another.
            fresh = [
                place
                for place in free
                if now - minutes * MINUTE >= self._last_return(group, [group.routes[place]])
            ]
            tried = np.array(fresh, dtype=np.int64)
            past = group.past(levels, minutes)
            current = sums[:, group.places]
            for scope, pooled in self._moves(group, tried, current, past, accepted):
                if scope in self._open:
                    continue
                routes = _routes(scope, group, tried, current, past, pooled)
                # Numbers and onset are those of the routes that moved: others would blur them.
                own, back = group.among(routes), self._last_return(group, routes)
                shift = shift_of(current, past, own) or pooled
                onset = start_of_move(table, group.places, own, past, shift, now, after=back)
                self._begin(group, scope, routes, shift, onset, now)
            if shared is None and group.scope(POOL) in self._open:
                return

    def _begin(
        self,
        group: _Group,
        scope: Scope,
        routes: tuple[str, ...],
        shift: Shift,
        onset: Onset,
        now: int,
    ) -> None:
        """Opens a finding, or adds its routes to that of several with which it began."""
        shared = self._open.get(group.scope(POOL))
        if shared is not None and _began_with(shared, shift, onset):
            named = tuple(dict.fromkeys((*shared.finding.routes, *routes)))
            shared.finding = replace(shared.finding, routes=named)
            return
        finding = open_finding(scope, routes, group.number, onset)
        finding = with_numbers(finding, group.number, shift, now)
        self._open[scope] = _OpenMove(finding=finding, change=shift.change)

    def _last_return(self, group: _Group, routes: Collection[str]) -> int:
        """Since when a number is back from its last move on routes, in seconds; 0 without one."""
        return self._returned.last(map(group.scope, routes))

    def _moves(
        self, group: _Group, tried: Ints, now: Floats, past: Past, accepted: Accepted
    ) -> Iterator[tuple[Scope, Shift]]:
        """Yields what of a group moved: its routes together, else single routes.

        Where several have a finding already, the others are looked at one by one.
        """
        is_pooled = len(tried) > 1 and group.scope(POOL) not in self._open
        pooled = shift_of(now, past, tried) if is_pooled else None
        if (
            pooled is not None
            and self._has_moved(group, POOL, pooled, accepted)
            and len(_concerned(group, tried, now, past, pooled)) > 1
        ):
            yield group.scope(POOL), pooled
            return
        for place in tried:
            route = group.routes[place]
            shift = shift_of(now, past, np.array([place]))
            if shift is not None and self._has_moved(group, route, shift, accepted):
                yield group.scope(route), shift

    def _has_moved(self, group: _Group, route: str, shift: Shift, accepted: Accepted) -> bool:
        floor = self._floor(group.number, shift)
        if shift.n < self._settings.fewest_requests or abs(shift.change) < floor:
            return False
        if shift.certainty(group.number) < LEAST_Z or shift.agreement < LEAST_AGREEMENT:
            return False
        return not _is_expected(group, route, shift, floor, accepted)

    def _floor(self, signal: Number, shift: Shift) -> float:
        """The smallest change that counts, as compared."""
        share = self._settings.least_change
        relative = log(1 + share) if signal.is_logged else share * abs(shift.level)
        spread = self._settings.least_sds * shift.sd * (GRADED if signal.is_graded else 1)
        floor = max(relative if signal.is_anchored else 0.0, spread)
        return floor if shift.is_same_hours else YOUNG * floor

    def _update_open(
        self,
        table: SignalMinutes,
        all_groups: Sequence[_Group],
        levels: Levels,
        sums: Floats,
        now: int,
        accepted: Accepted,
    ) -> Iterator[Finding]:
        """Updates the findings that last with the numbers of now, and yields those that cleared."""
        for scope, moved in list(self._open.items()):
            since = moved.finding.since_unix_nano // 10**9
            # Compared with the past before the onset: else the new level would become its own past.
            pasts = [
                (group, group.past(levels, WINDOWS[-1], since))
                for group in all_groups
                if group.scope(scope[3]) == scope
            ]
            shifts = [
                (
                    group,
                    past,
                    shift_of(sums[:, group.places], past, group.among(moved.finding.routes)),
                )
                for group, past in pasts
            ]
            current = [(group, past, shift) for group, past, shift in shifts if shift is not None]
            words = ""
            if current:
                # Versions of a number are separate groups; the one with most requests now decides.
                group, past, shift = max(current, key=lambda entry: entry[2].n)
                back = _return(table, group, past, moved, now)
                words = self._after(moved, group, shift, back, now, scope, accepted)
            if not words and now - since >= NEW_LEVEL_SECONDS:
                words = f"the new level since {time_words(since)}: {moved.finding.words}"
            if words:
                del self._open[scope]
                yield replace(moved.finding, cleared_unix_nano=now * 10**9, words=words)

    def _after(
        self,
        moved: _OpenMove,
        group: _Group,
        shift: Shift,
        back: Return | None,
        now: int,
        scope: Scope,
        accepted: Accepted,
    ) -> str:
        """Updates a finding; returns the words of its end, empty while it lasts."""
        is_enough = shift.n >= self._settings.fewest_requests
        floor = self._floor(group.number, shift)
        if is_enough and _is_expected(group, scope[3], shift, floor, accepted):
            return "this level is expected"
        if back is not None and now - back.since >= self._settings.clear_minutes * MINUTE:
            self._returned.add(moved.finding, back.since)
            level = level_words(group.number, shift.level + back.change)
            return f"back: {group.number.words} {level}"
        # The numbers of a finding are those of the move, not those of its way back.
        is_away = shift.change / moved.change >= 0.5 if moved.change else True
        if back is None and is_enough and is_away:
            moved.finding = with_numbers(moved.finding, group.number, shift, now)
        return ""


def _return(
    table: SignalMinutes, group: _Group, past: Past, moved: _OpenMove, now: int
) -> Return | None:
    """Whether the number of an open finding is back, by the minutes since its onset."""
    since = max(moved.finding.since_unix_nano // 10**9, table.oldest_minute)
    span = max(1, (now - since) // MINUTE)
    minutes = table.by_minute(now, span)[:, :, group.places]
    return return_of(minutes, past, group.among(moved.finding.routes), moved.change, now)


def _groups(table: SignalMinutes) -> list[_Group]:
    """Groups the numbers of a table by service and segment, each with all its routes."""
    places_by_number: dict[tuple[str, str, str, str], list[int]] = {}
    for place, series in enumerate(table.series):
        if series.rubric not in BY_SIGNAL:
            key = (series.service, series.environment, series.rubric, series.segment)
            places_by_number.setdefault(key, []).append(place)
    return [
        _Group(
            service=key[0],
            environment=key[1],
            number=number(key[2]),
            routes=tuple(table.series[place].route for place in places),
            places=np.array(places, dtype=np.int64),
        )
        for key, places in places_by_number.items()
    ]


def _began_with(shared: _OpenMove, shift: Shift, onset: Onset) -> bool:
    """Whether what moved on another route began with an open move, and went the same way."""
    since = shared.finding.since_unix_nano // 10**9
    apart = min(abs(onset.start - since), onset.apart(since))
    return apart <= TOGETHER_SECONDS and shift.change * shared.change > 0


def _routes(
    scope: Scope, group: _Group, tried: Ints, now: Floats, past: Past, pooled: Shift
) -> tuple[str, ...]:
    """The routes that moved: the scope's own, or of several those concerned."""
    is_pooled = scope[3] == POOL
    return _concerned(group, tried, now, past, pooled) if is_pooled else (scope[3],)


def _concerned(
    group: _Group, tried: Ints, now: Floats, past: Past, pooled: Shift
) -> tuple[str, ...]:
    """The routes that by themselves moved the same way, at least half as far as all of them.

    Routes that did not move make the change of all together smaller, so what is left of them is
    compared again.
    """
    own = [(group.routes[place], shift_of(now, past, np.array([place]))) for place in tried]
    shifts = {route: shift for route, shift in own if shift is not None and shift.z >= LEAST_OWN}
    change, routes = pooled.change, list[str]()
    while True:
        near = [route for route, shift in shifts.items() if shift.change / change >= 0.5]
        if not near or near == routes:
            return tuple(near)
        routes = near
        requests = sum(shifts[route].n for route in routes)
        change = sum(shifts[route].n * shifts[route].change for route in routes) / requests


def _is_expected(group: _Group, route: str, shift: Shift, floor: float, accepted: Accepted) -> bool:
    level = accepted.get(group.scope(route))
    if level is None or (group.number.is_logged and level <= 0):
        return False
    expected = log(level) if group.number.is_logged else level
    return abs(shift.level + shift.change - expected) <= floor
