"""The detector of lost traffic: routes with far fewer requests than at this hour before. Pure.

Traffic that only moved to other routes of the service never pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from alerts.deltas.windows import Floats
from alerts.signals.catalogue import POOL, Accepted, finding_id, scope_of
from alerts.signals.ceilings import Scope
from alerts.signals.ends import Ends
from alerts.signals.levels import latest_peak
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.moved_words import time_words
from alerts.signals.settings import BrokenSettings
from alerts.signals.traffic_counts import BEFORE, DAY_HOURS, DAYS, SPAN, Counts, Window
from alerts.signals.turning import BACK
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.score import Layer
from ragvigil.model.signal import ERROR, TRAFFIC

WINDOWS = (10, 15, 30, 60)
"""Lengths of the windows in minutes, shortest first."""
SETTLE_SECONDS = 2 * MINUTE
"""The newest minutes before the last request are left out: their records still close."""
SILENT_SECONDS = 10 * MINUTE
"""Without a request of any service for so long nothing is judged: nothing is received at all."""
SPREAD_SECONDS = 30 * MINUTE
"""A loss on several routes goes on with those of single ones that began so shortly before it."""
NEW_LEVEL_SECONDS = (DAYS // 2 + 1) * DAY_HOURS * HOUR
"""A loss that lasts this long is the new level: most of the days that tell what is usual have it. A
route that was renamed or given up gets no request that could end its loss."""
ELSEWHERE = "; other routes of the service get them"
AS_USUAL = "requests come as usual again"
ENDED_IN_ONE = "one loss with that on more routes"


@dataclass(slots=True, kw_only=True)
class _OpenLoss:
    """An open finding; `quiet` is that of its opening, None until it is known after a start."""

    finding: Finding
    quiet: float | None


class TrafficDetector:
    """Opens and clears findings, step after step: half of a route's requests a ticket, most a page.

    `findings` are those that were open when an earlier process ended; they go on under their ids.
    """

    def __init__(
        self, settings: BrokenSettings, findings: Sequence[Finding] = (), *, min_days: int = 3
    ) -> None:
        self._settings, self._min_days = settings, min_days
        self._open: dict[Scope, _OpenLoss] = {}
        for finding in findings:
            if finding.signal == TRAFFIC and finding.is_open:
                scope = (finding.service, finding.environment, TRAFFIC, scope_of(finding.routes))
                self._open[scope] = _OpenLoss(finding=finding, quiet=None)
        self._back = Ends()
        self._started = 0

    def step(self, table: SignalMinutes, now: int, accepted: Accepted) -> tuple[Finding, ...]:
        """Checks the windows that end now (seconds), or with the last request.

        Returns the findings that are open afterwards, and those that cleared now. Windows that
        began before the first step are not judged: nobody knows what was received then.
        """
        self._started = self._started or now
        end = _last_request(table, now)
        if end is None or self._settings.lost_traffic >= 1:
            return self.open
        services = _services(table)
        cleared = list(self._update_open(table, services, end, now, accepted))
        for place, routes in services.items():
            for scope, opened, window in self._lost(table, place, routes, end, accepted):
                parts = self._take_parts(scope, opened)
                finding = _with_numbers(_grown(parts, opened), window, now)
                self._open[scope] = _OpenLoss(finding=finding, quiet=window.quiet)
                cleared += [
                    replace(part, cleared_unix_nano=now * 10**9, words=ENDED_IN_ONE)
                    for part in parts[1:]
                ]
        return (*self.open, *cleared)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that are open."""
        return tuple(loss.finding for loss in self._open.values())

    def _lost(
        self,
        table: SignalMinutes,
        place: tuple[str, str],
        routes: dict[str, int],
        end: int,
        accepted: Accepted,
    ) -> Iterator[tuple[Scope, Finding, Window]]:
        """Yields what is newly lost: of all routes together, else of single routes."""
        scopes: dict[str, Scope] = {route: (*place, TRAFFIC, route) for route in (POOL, *routes)}
        if scopes[POOL] in self._open:
            return
        counts = [
            Counts(table, end, minutes, self._min_days)
            for minutes in WINDOWS
            if end - minutes * MINUTE >= self._started
        ]
        for of in counts:
            whole = of.window(list(routes.values()), accepted.get(scopes[POOL]))
            if whole is not None and self._is_ticket(whole):
                lost = self._lost_routes(of, routes)
                if not self._is_news(whole, end, [scopes[route] for route in lost]):
                    continue
                scope = scopes[POOL if len(lost) > 1 else next(iter(lost))]
                if scope not in self._open:
                    yield self._opened(table, of, scope, lost, whole, routes)
                return
        for route, column in routes.items():
            if scopes[route] in self._open:
                continue
            for of in counts:
                window = of.window([column], accepted.get(scopes[route]))
                if window is None or not self._is_news(window, end, [scopes[route]]):
                    continue
                rest = of.window([other for other in routes.values() if other != column], None)
                # Where the others fall, too, it is soon known of all together.
                if rest is None or rest.share > 1 - self._settings.lost_traffic / 2:
                    yield self._opened(table, of, scopes[route], {route: column}, window, routes)
                break

    def _take_parts(self, scope: Scope, finding: Finding) -> list[Finding]:
        """Takes out the findings that this one goes on with, the first one first."""
        parts = {
            other: loss.finding
            for other, loss in self._open.items()
            if other[:2] == scope[:2]
            and set(loss.finding.routes) <= set(finding.routes)
            and abs(finding.since_unix_nano - loss.finding.since_unix_nano)
            <= SPREAD_SECONDS * 10**9
        }
        for other in parts:
            del self._open[other]
        return sorted(parts.values(), key=lambda part: part.since_unix_nano)

    def _lost_routes(self, counts: Counts, routes: Mapping[str, int]) -> Mapping[str, int]:
        """Columns of the routes that lost half as much by themselves; of all, if none did."""
        most = 1 - self._settings.lost_traffic / 2
        lost = {
            route: column
            for route, column in routes.items()
            if (window := counts.window([column], None)) is not None and window.share <= most
        }
        return lost or routes

    def _is_news(self, window: Window, end: int, scopes: Sequence[Scope]) -> bool:
        """Whether a window is lost, and holds nothing of a loss from which requests are back."""
        is_over = end - window.minutes * MINUTE < self._back.last(scopes)
        return self._is_ticket(window) and not is_over

    def _is_ticket(self, window: Window) -> bool:
        return window.is_lost(self._settings.lost_traffic)

    def _judged(
        self,
        table: SignalMinutes,
        finding: Finding,
        counts: Counts,
        window: Window,
        routes: Mapping[str, int],
    ) -> Finding:
        """A page where nearly all is lost, unless the other routes of the service got it.

        A route that began then got what a renamed one lost. What the others get is known for
        sure if they rose in the longest window, and not by chance; asked again and again, chance
        alone would deny it one day. At hours when nothing is missing nothing tells.
        """
        missing = window.usual - window.came
        if missing <= 0:
            return finding
        others = [column for route, column in routes.items() if route not in finding.routes]
        is_kept = counts.more(others) > missing / 2
        is_sure = (
            finding.words == ELSEWHERE
            or counts.of_new(others, finding.since_unix_nano // 10**9) >= missing / 2
            or (
                (is_kept and window.minutes == WINDOWS[-1])
                and counts.rise(others) >= BACK
                and _is_whole(table, counts.end)
            )
        )
        pages = window.is_lost(self._settings.lost_traffic_page) and not (is_kept or is_sure)
        # A page stays a page while it lasts.
        is_page = pages or finding.kind is FindingKind.BROKEN
        kind = FindingKind.BROKEN if is_page else FindingKind.LIMIT
        return replace(finding, kind=kind, words=ELSEWHERE if is_sure else "")

    def _opened(
        self,
        table: SignalMinutes,
        counts: Counts,
        scope: Scope,
        routes: Mapping[str, int],
        window: Window,
        all_routes: Mapping[str, int],
    ) -> tuple[Scope, Finding, Window]:
        onset = _onset(table, counts, list(routes.values()), window)
        finding = Finding(
            finding_id=finding_id(FindingKind.LIMIT, *scope, onset),
            kind=FindingKind.LIMIT,
            service=scope[0],
            environment=scope[1],
            routes=tuple(routes),
            signal=TRAFFIC,
            layer=Layer.CROSS_CUTTING,
            since_unix_nano=onset * 10**9,
        )
        return scope, self._judged(table, finding, counts, window, all_routes), window

    def _update_open(
        self,
        table: SignalMinutes,
        services: dict[tuple[str, str], dict[str, int]],
        end: int,
        now: int,
        accepted: Accepted,
    ) -> Iterator[Finding]:
        """Updates the findings that last, and yields those that cleared."""
        for scope, loss in list(self._open.items()):
            routes = services.get(scope[:2], {})
            columns = [routes[route] for route in loss.finding.routes if route in routes]
            since = loss.finding.since_unix_nano // 10**9
            if now - since >= NEW_LEVEL_SECONDS:
                del self._open[scope]
                words = f"the new level since {time_words(since)}: {loss.finding.words}"
                yield replace(loss.finding, cleared_unix_nano=now * 10**9, words=words)
                continue
            # Nobody knows what was received before the first step: a restart is no loss.
            watched = (end - max(since, self._started)) // MINUTE
            minutes = min(WINDOWS[-1], max(WINDOWS[0], watched))
            counts = Counts(table, end, minutes, self._min_days)
            if loss.quiet is None and columns:
                loss.quiet = _quiet_of(loss.finding, counts, columns)
            window = counts.window(columns, None, quiet=loss.quiet) if columns else None
            if window is None or end - WINDOWS[0] * MINUTE < self._started:
                continue
            back = _back_since(table, counts, columns, window, since)
            is_expected = scope in accepted and not self._is_ticket(
                counts.window(columns, accepted[scope], quiet=loss.quiet) or window
            )
            if is_expected or back is not None:
                del self._open[scope]
                self._back.add(loss.finding, back or now)
                yield replace(loss.finding, cleared_unix_nano=now * 10**9, words=AS_USUAL)
                continue
            known = ELSEWHERE if loss.finding.words.endswith(ELSEWHERE) else ""
            finding = replace(loss.finding, words=known)
            judged = self._judged(table, finding, counts, window, routes)
            loss.finding = _with_numbers(judged, window, now)


def _grown(parts: Sequence[Finding], finding: Finding) -> Finding:
    """The finding under the id of the first one that it goes on with; a page stays a page."""
    if not parts:
        return finding
    is_page = any(part.kind is FindingKind.BROKEN for part in parts)
    return replace(
        finding,
        finding_id=parts[0].finding_id,
        since_unix_nano=parts[0].since_unix_nano,
        kind=FindingKind.BROKEN if is_page else finding.kind,
    )


def _services(table: SignalMinutes) -> dict[tuple[str, str], dict[str, int]]:
    """Columns of the table that count all requests, by service and environment, and route."""
    columns: dict[tuple[str, str], dict[str, int]] = {}
    for column, series in enumerate(table.series):
        if series.rubric == ERROR:
            columns.setdefault((series.service, series.environment), {})[series.route] = column
    return columns


def _received(table: SignalMinutes, end: int, minutes: int) -> Floats:
    """Requests of all services in each of the minutes before `end`."""
    counted = [column for column, series in enumerate(table.series) if series.rubric == ERROR]
    return np.asarray(table.by_minute(end, minutes)[0][:, counted].sum(axis=1))


def _is_whole(table: SignalMinutes, end: int) -> bool:
    """Whether something was received all along in the longest window and in the hours before it."""
    received = np.flatnonzero(_received(table, end, WINDOWS[-1] + BEFORE))
    return (
        len(received) > 0 and int(np.diff(received, prepend=-1).max()) <= SILENT_SECONDS // MINUTE
    )


def _last_request(table: SignalMinutes, now: int) -> int | None:
    """The end of what can be judged, in seconds, None while nothing is received."""
    minutes = _received(table, now, SILENT_SECONDS // MINUTE)
    if not minutes.any():
        return None
    silent = int(np.argmax(minutes[::-1] > 0)) * MINUTE
    return now - max(silent, SETTLE_SECONDS)


def _gains(table: SignalMinutes, counts: Counts, columns: Sequence[int], window: Window) -> Floats:
    """The log-likelihood ratio of usual traffic over what is left of it, by the minute."""
    came = table.by_minute(counts.end, SPAN)[0][:, list(columns)].sum(axis=1)
    usual = counts.usual_minutes(columns) * window.quiet
    left = min(max(window.share, 0.02), 0.7)
    return np.asarray(came * log(1 / left) - usual * (1 - left))


def _onset(table: SignalMinutes, counts: Counts, columns: Sequence[int], window: Window) -> int:
    gains = _gains(table, counts, columns, window)
    return counts.end - latest_peak(np.cumsum(-gains[::-1])[::-1]) * MINUTE


def _back_since(
    table: SignalMinutes, counts: Counts, columns: Sequence[int], window: Window, since: int
) -> int | None:
    """Since when, in seconds, usual traffic explains the last ten minutes, or more, better."""
    span = min(SPAN, max(1, (counts.end - since) // MINUTE))
    gains = _gains(table, counts, columns, window)[-span:]
    sums = np.cumsum(gains[::-1])[::-1]
    steps = latest_peak(sums)
    return counts.end - steps * MINUTE if sums.max() >= BACK and steps >= WINDOWS[0] else None


def _quiet_of(finding: Finding, counts: Counts, columns: Sequence[int]) -> float:
    """How quiet the day of a loss is: what was usual when it was seen last, over other days."""
    an_hour = counts.usual_hour(columns, finding.seen_unix_nano // 10**9)
    return min(1.0, (finding.reference or an_hour) / an_hour) if an_hour else 1.0


def _with_numbers(finding: Finding, window: Window, now: int) -> Finding:
    """Updates a finding to the numbers of now, in requests an hour; its words end as they are."""
    an_hour = HOUR / MINUTE / window.minutes
    return replace(
        finding,
        value=window.came * an_hour,
        reference=window.usual * an_hour,
        n=int(window.came),
        seen_unix_nano=now * 10**9,
        words=f"{100 * (1 - window.share):.0f} % of the requests are missing: "
        f"{window.came:.0f} came in {window.minutes} minutes, {window.usual:.0f} are usual"
        f"{finding.words}",
    )
