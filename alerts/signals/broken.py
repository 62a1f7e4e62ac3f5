"""The detector of broken rates: findings where a rate on all traffic is over its ceiling. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from alerts.deltas.windows import Floats
from alerts.signals.broken_words import clear_finding, open_finding, with_numbers
from alerts.signals.catalogue import BY_SIGNAL, OWN_LIMIT, POOL, Accepted, scope_of
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
from alerts.signals.ends import Ends
from alerts.signals.minutes import HOUR, MINUTE, MINUTES, SignalMinutes
from alerts.signals.onset import Onset
from alerts.signals.settings import BrokenSettings
from alerts.signals.turning import Turn, lull_of, onset, turn_of
from ragvigil.model.finding import Finding, FindingKind

LEAST_FAILED = 4
"""Fewer failures prove nothing, whatever is usual."""
MOST_PICKED = 50
"""Most routes of which a subset is tried: the evidence must also pay for the choice of it."""
TOGETHER_SECONDS = 30 * MINUTE
"""What begins so shortly after a finding of several routes, on another one, is part of it."""
SILENT_SECONDS = 24 * HOUR
"""A finding ends after this long without a request."""


@dataclass(slots=True, kw_only=True)
class _OpenRate:
    """An open finding, and the time of the last request of its routes, in seconds."""

    finding: Finding
    last_request: int


class BrokenDetector:
    """Opens and clears findings, step after step.

    `findings` are those of an earlier process: the open ones go on under their ids.
    """

    def __init__(self, settings: BrokenSettings, findings: Sequence[Finding] = ()) -> None:
        self._settings = settings
        self._open: dict[Scope, _OpenRate] = {}
        self._minutes_over: dict[Scope, int] = {}
        self._cleared = Ends()
        for finding in findings:
            is_own = finding.finding_id.startswith(OWN_LIMIT)
            if finding.kind is not FindingKind.BROKEN or finding.signal not in BY_SIGNAL or is_own:
                continue
            place = (finding.service, finding.environment)
            scope = (*place, finding.signal, scope_of(finding.routes))
            if finding.is_open:
                last_request = finding.seen_unix_nano // 10**9
                self._open[scope] = _OpenRate(finding=finding, last_request=last_request)
            else:
                self._cleared.add(finding, finding.cleared_unix_nano // 10**9)

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
        self._cleared.forget(now - SILENT_SECONDS)
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
                cleared = self._last_cleared(group, rate.routes or group.routes)
                # Late records may change a window that ended before the finding cleared.
                if end <= cleared:
                    continue
                minutes_over[scope] = self._minutes_over.get(scope, 0) + 1
                if minutes_over[scope] < self._settings.stand_minutes:
                    continue
                since = onset(table, group, rate, end, after=cleared)
                shared = self._open.get(group.scope(POOL))
                if shared is not None and _began_with(shared.finding, since):
                    routes = (*shared.finding.routes, scope[3])
                    shared.finding = replace(shared.finding, routes=routes)
                    continue
                finding = open_finding(scope, group, rate, since, end)
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
        if longest.sum() < LEAST_FAILED:
            return
        shared = self._open.get(group.scope(POOL))
        held = shared.finding.routes if shared else ()
        free = [
            place
            for place, route in enumerate(group.routes)
            if route not in held and group.scope(route) not in self._open
        ]
        is_pooled = shared is None and len(free) > 1
        pooled = self._proven(group, free, recent, ceilings) if is_pooled else None
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
        cleared = self._last_cleared(group, [group.routes[place] for place in places])
        columns = [group.places[place] for place in places]
        for length, sums in recent.windows.items():
            # What a finding reported that is over is no evidence for another.
            if recent.end - length * MINUTE < cleared and length > WINDOWS[0]:
                continue
            # Checked first, as it saves most of the work.
            if sums[1, columns].sum() < LEAST_FAILED or not recent.is_spread(columns, length):
                continue
            rate = window_rate(group, places, sums, recent.past, ceilings)
            if not recent.is_over_still(columns, length, rate.ceiling):
                continue
            if self._is_proven(rate, 1, len(places)):
                return rate
            if 1 < len(rate.routes) < len(places) <= MOST_PICKED:
                over = [place for place in places if group.routes[place] in rate.routes]
                picked = window_rate(group, over, sums, recent.past, ceilings)
                # Routes picked by their result need more evidence: one of 2^n subsets (Bonferroni).
                if self._is_proven(picked, 2 ** len(places), len(over)):
                    return picked
        return None

    def _last_cleared(self, group: Group, routes: Sequence[str]) -> int:
        """When the last finding of these routes cleared, in seconds; 0 if none did."""
        return self._cleared.last(map(group.scope, routes))

    def _is_proven(self, rate: WindowRate, choices: int, routes: int) -> bool:
        is_enough = rate.n >= self._settings.fewest_requests
        return is_enough and rate.is_over_of(choices) and (routes == 1 or rate.is_shared)

    def _update_open(
        self, table: SignalMinutes, all_groups: Sequence[Group], now: int, ceilings: Ceilings
    ) -> Iterator[Finding]:
        """Updates the findings that last with the numbers of now, and yields those that cleared."""
        by_name = {(group.service, group.environment, group.signal): group for group in all_groups}
        past, newest = usual(table, now), table.last(now, WINDOWS[-1])
        for scope, broken in list(self._open.items()):
            group = by_name.get(scope[:3])
            places = _places(group, broken.finding) if group else []
            if group is None or not places:
                rate, turn, since = None, Turn(minutes=0, is_back=False), None
            else:
                if newest[0, [group.places[place] for place in places]].any():
                    broken.last_request = now
                rate = window_rate(group, places, newest, past, ceilings)
                since = partial(_since_onset, table, group, broken.finding, past, now, ceilings)
                turn = turn_of(
                    table, group, places, broken.finding, now, usual=rate.usual, ceilings=ceilings
                )
                among = [by_name.get((*scope[:2], name)) for name in BY_SIGNAL[scope[2]].among]
                if not turn.is_back:
                    turn = lull_of(table, group, among, broken.finding, now) or turn
            is_expected = ceilings.is_accepted(scope) and not (
                since and since(most=WINDOWS[-1]).is_over
            )
            is_back = turn.is_back and turn.minutes >= self._settings.clear_minutes
            if is_expected or is_back or now - broken.last_request >= SILENT_SECONDS:
                del self._open[scope]
                self._cleared.add(broken.finding, now)
                yield clear_finding(
                    broken.finding, rate, now, now - turn.minutes * MINUTE if is_back else None
                )
            elif since is not None and not turn.is_back and broken.last_request == now:
                whole = _of_opening(since(most=MINUTES, without=turn.minutes), broken.finding)
                broken.finding = with_numbers(broken.finding, whole, now, ceilings)


def _began_with(finding: Finding, since: Onset) -> bool:
    """Whether what began then began with the finding."""
    shared = finding.since_unix_nano // 10**9
    return min(abs(since.start - shared), since.apart(shared)) <= TOGETHER_SECONDS


def _places(group: Group, finding: Finding) -> list[int]:
    return [place for place, route in enumerate(group.routes) if route in finding.routes]


def _since_onset(
    table: SignalMinutes,
    group: Group,
    finding: Finding,
    past: Floats,
    now: int,
    ceilings: Ceilings,
    *,
    most: int,
    without: int = 0,
) -> WindowRate:
    """The rate since the onset, of at most so many minutes, without the newest ones.

    What was before the onset would dilute it. Without the minutes of a turn, what proved the
    finding stays in its numbers: healthy answers after a fix would make the rate small from which
    it has to be back, and so its end late.
    """
    span = min(most, max(1, (now - finding.since_unix_nano // 10**9) // MINUTE))
    sums = table.last(now, span) - table.last(now, min(without, span - 1))
    return window_rate(group, _places(group, finding), sums, past, ceilings)


def _of_opening(rate: WindowRate, finding: Finding) -> WindowRate:
    """The rate against the ceiling of the opening: what lasts must not become its own past."""
    return replace(rate, ceiling=finding.reference or rate.ceiling)
