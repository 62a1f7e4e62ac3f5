"""The detector of lost traffic: routes with far fewer requests than at this hour before. Pure.

Usual is the median of the same minutes on the last days, and no more than a week ago; times how the
two hours before the window compare with the same hours, where they were fewer: a quiet day, a
weekend or a holiday is no loss. Both counts scatter more than independent requests; by how much is
read off the past week. Traffic that only moved to other routes of the service never pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from alerts.deltas.windows import Floats
from alerts.signals.catalogue import POOL, Accepted, finding_id, scope_of
from alerts.signals.ceilings import Scope
from alerts.signals.levels import latest_peak
from alerts.signals.minutes import HOUR, HOURS, MINUTE, SignalMinutes
from alerts.signals.settings import BrokenSettings
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
BEFORE = 120
"""Minutes before a window that say whether this is a quiet day."""
DAYS, DAY_HOURS, WEEK_HOURS = 7, 24, 168
UNUSUAL = log(1e6)
"""Evidence of a loss: one in years of checks of some dozens of routes."""
LEAST_USUAL = 8.0
"""Fewest usual requests of a window: less prove nothing."""
MOST_SCATTER = 12.0
SPAN = 120
"""Minutes before now in which the onset is sought, and the return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """Requests of some routes in one window: how many came, and how many are usual.

    `quiet`, at most 1, is how this day compares with others; `usual` includes it. `scatter` is how
    much more the counts of hours vary than independent requests.
    """

    minutes: int
    came: float
    usual: float
    quiet: float
    scatter: float

    @property
    def share(self) -> float:
        """What came of what is usual."""
        return self.came / self.usual if self.usual else 1.0

    def is_lost(self, share: float) -> bool:
        """Whether at least this share is lost, and not by chance (Poisson, Chernoff's bound)."""
        if self.usual < LEAST_USUAL or self.share > 1 - share:
            return False
        tail = self.usual - self.came
        if self.came:
            tail += self.came * log(self.came / self.usual)
        return tail / self.scatter >= UNUSUAL


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
        cleared = tuple(self._update_open(table, services, end, now, accepted))
        for place, routes in services.items():
            for scope, finding, window in self._lost(table, place, routes, end, accepted):
                self._open[scope] = _OpenLoss(
                    finding=_with_numbers(finding, window, now), quiet=window.quiet
                )
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
    ) -> Iterator[tuple[Scope, Finding, _Window]]:
        """Yields what is newly lost: of all routes together, else of single routes."""
        scopes: dict[str, Scope] = {route: (*place, TRAFFIC, route) for route in (POOL, *routes)}
        if scopes[POOL] in self._open:
            return
        counts = [
            _Counts(table, end, minutes, self._min_days)
            for minutes in WINDOWS
            if end - minutes * MINUTE >= self._started
        ]
        for of in counts:
            whole = of.window(list(routes.values()), accepted.get(scopes[POOL]))
            if whole is not None and self._is_ticket(whole):
                lost = self._lost_routes(of, routes)
                scope = scopes[POOL if len(lost) > 1 else next(iter(lost))]
                if scope not in self._open:
                    yield self._opened(table, of, scope, lost, whole, whole)
                return
        for route, column in routes.items():
            if scopes[route] in self._open:
                continue
            for of in counts:
                window = of.window([column], accepted.get(scopes[route]))
                if window is None or not self._is_ticket(window):
                    continue
                rest = of.window([other for other in routes.values() if other != column], None)
                # Where the others fall, too, it is soon known of all together.
                if rest is None or rest.share > 1 - self._settings.lost_traffic / 2:
                    whole = of.window(list(routes.values()), None)
                    yield self._opened(table, of, scopes[route], {route: column}, window, whole)
                break

    def _lost_routes(self, counts: _Counts, routes: Mapping[str, int]) -> Mapping[str, int]:
        """Columns of the routes that lost half as much by themselves; of all, if none did."""
        most = 1 - self._settings.lost_traffic / 2
        lost = {
            route: column
            for route, column in routes.items()
            if (window := counts.window([column], None)) is not None and window.share <= most
        }
        return lost or routes

    def _is_ticket(self, window: _Window) -> bool:
        return window.is_lost(self._settings.lost_traffic)

    def _kind(self, window: _Window, whole: _Window | None) -> FindingKind:
        """A page where nearly all is lost, unless the other routes of the service got it."""
        missing = window.usual - window.came
        is_moved = whole is not None and whole.usual - whole.came < missing / 2
        pages = window.is_lost(self._settings.lost_traffic_page) and not is_moved
        return FindingKind.BROKEN if pages else FindingKind.LIMIT

    def _opened(
        self,
        table: SignalMinutes,
        counts: _Counts,
        scope: Scope,
        routes: Mapping[str, int],
        window: _Window,
        whole: _Window | None,
    ) -> tuple[Scope, Finding, _Window]:
        onset = _onset(table, counts, list(routes.values()), window)
        finding = Finding(
            finding_id=finding_id(FindingKind.LIMIT, *scope, onset),
            kind=self._kind(window, whole),
            service=scope[0],
            environment=scope[1],
            routes=tuple(routes),
            signal=TRAFFIC,
            layer=Layer.CROSS_CUTTING,
            since_unix_nano=onset * 10**9,
        )
        return scope, finding, window

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
            minutes = min(WINDOWS[-1], max(WINDOWS[0], (end - since) // MINUTE))
            counts = _Counts(table, end, minutes, self._min_days)
            window = counts.window(columns, None, quiet=loss.quiet) if columns else None
            if window is None:
                continue
            if loss.quiet is None:
                loss.quiet = _quiet_of(loss.finding, window)
                continue
            if scope in accepted or _is_back(table, counts, columns, window, since):
                del self._open[scope]
                yield replace(
                    loss.finding,
                    cleared_unix_nano=now * 10**9,
                    words="requests come as usual again",
                )
                continue
            whole = counts.window(list(routes.values()), None)
            kind = self._kind(window, whole)
            # A page stays a page while it lasts.
            if loss.finding.kind is FindingKind.LIMIT:
                loss.finding = replace(loss.finding, kind=kind)
            loss.finding = _with_numbers(loss.finding, window, now)


class _Counts:
    """Requests of one window, and of the same minutes on the days before, for all series."""

    def __init__(self, table: SignalMinutes, end: int, minutes: int, min_days: int) -> None:
        self.end, self._minutes, self._min_days = end, minutes, min_days
        next_hour = -(-end // HOUR) * HOUR
        self._next_hour, self._hours = next_hour, table.by_hour(next_hour, HOURS)[0]
        self._came = table.last(end, minutes)[0]
        self._before = table.last(end - minutes * MINUTE, BEFORE)[0]

    def window(
        self, columns: Sequence[int], accepted: float | None, *, quiet: float | None = None
    ) -> _Window | None:
        """The window of some series together, None without days to compare with.

        `accepted` is a number of requests an hour that is expected.
        """
        places = list(columns)
        start = self.end - self._minutes * MINUTE
        usual = self._usual(places, start, self.end)
        if usual is None:
            return None
        if quiet is None:
            earlier = start - BEFORE * MINUTE
            before = self._usual(places, earlier, start)
            quiet = min(1.0, float(self._before[places].sum()) / before) if before else 1.0
        expected = usual * quiet
        if accepted is not None:
            expected = min(expected, accepted * self._minutes * MINUTE / HOUR)
        came = float(self._came[places].sum())
        return _Window(
            minutes=self._minutes,
            came=came,
            usual=expected,
            quiet=quiet,
            # Needed only where something is missing.
            scatter=self._scatter(places) if came < expected else 1.0,
        )

    def _usual(self, places: Sequence[int], start: int, end: int) -> float | None:
        """Usual requests from `start` until `end`; None with too few days since the first one."""
        hours = self._hours[:, places].sum(axis=1)
        begun = int(np.argmax(hours > 0)) if hours.any() else HOURS
        days = np.zeros(DAYS)
        is_known = np.ones(DAYS, dtype=bool)
        for hour in range(start // HOUR * HOUR, end, HOUR):
            part = (min(hour + HOUR, end) - max(hour, start)) / HOUR
            at = HOURS - (self._next_hour - hour) // HOUR - DAY_HOURS * np.arange(1, DAYS + 1)
            days += part * hours[at]
            # The hour in which it began is cut.
            is_known &= at > begun
        if int(is_known.sum()) < self._min_days:
            return None
        median = float(np.median(days[is_known]))
        week_ago = float(days[-1])
        return min(median, week_ago + 2 * week_ago**0.5) if is_known[-1] else median

    def usual_minutes(self, columns: Sequence[int]) -> Floats:
        """Usual requests of each of the last SPAN minutes."""
        hours = self._hours[:, list(columns)].sum(axis=1)
        at = HOURS - 1 - np.arange(SPAN // 60 + 1)[::-1]
        days = hours[at[None, :] - DAY_HOURS * np.arange(1, DAYS + 1)[:, None]]
        by_hour = np.median(days[days.sum(axis=1) > 0], axis=0) if days.any() else days[0]
        cut = (self._next_hour - self.end) // MINUTE
        by_minute = np.repeat(by_hour / 60, 60)
        return np.asarray(by_minute[: len(by_minute) - cut][-SPAN:])

    def _scatter(self, places: Sequence[int]) -> float:
        """Pearson's statistic of the past week's hours, each foretold as a window is."""
        hours = self._hours[:-2, places].sum(axis=1)[-WEEK_HOURS:]
        by_day = hours.reshape(DAYS, DAY_HOURS)
        is_known = by_day.sum(axis=1) > 0
        profile = np.tile(np.median(by_day[is_known], axis=0), DAYS) if is_known.any() else hours
        known = np.repeat(is_known, DAY_HOURS)[2:]
        before, usual_before = (row[1:-1] + row[:-2] for row in (hours, profile))
        with np.errstate(divide="ignore", invalid="ignore"):
            quiet = np.minimum(1.0, before / usual_before)
            foretold = profile[2:] * quiet
            variance = foretold + (profile[2:] / usual_before) ** 2 * before
            off = (np.minimum(hours[2:] - foretold, 0.0)) ** 2 / variance
        off = np.sort(off[known & np.isfinite(off) & (foretold >= 1)])
        if not len(off):
            return 1.0
        # Half of the hours lie over what was foretold, and count nothing; the worst are incidents.
        return float(np.clip(2 * off[: int(0.95 * len(off)) + 1].mean(), 1.0, MOST_SCATTER))


def _services(table: SignalMinutes) -> dict[tuple[str, str], dict[str, int]]:
    """Columns of the table that count all requests, by service and environment, and route."""
    columns: dict[tuple[str, str], dict[str, int]] = {}
    for column, series in enumerate(table.series):
        if series.rubric == ERROR:
            columns.setdefault((series.service, series.environment), {})[series.route] = column
    return columns


def _last_request(table: SignalMinutes, now: int) -> int | None:
    """The end of what can be judged, in seconds, None while nothing is received."""
    counted = [column for column, series in enumerate(table.series) if series.rubric == ERROR]
    minutes = table.by_minute(now, SILENT_SECONDS // MINUTE)[0][:, counted].sum(axis=1)
    if not minutes.any():
        return None
    silent = int(np.argmax(minutes[::-1] > 0)) * MINUTE
    return now - max(silent, SETTLE_SECONDS)


def _gains(
    table: SignalMinutes, counts: _Counts, columns: Sequence[int], window: _Window
) -> Floats:
    """The log-likelihood ratio of usual traffic over what is left of it, by the minute."""
    came = table.by_minute(counts.end, SPAN)[0][:, list(columns)].sum(axis=1)
    usual = counts.usual_minutes(columns) * window.quiet
    left = min(max(window.share, 0.02), 0.7)
    return np.asarray(came * log(1 / left) - usual * (1 - left))


def _onset(table: SignalMinutes, counts: _Counts, columns: Sequence[int], window: _Window) -> int:
    gains = _gains(table, counts, columns, window)
    return counts.end - latest_peak(np.cumsum(-gains[::-1])[::-1]) * MINUTE


def _is_back(
    table: SignalMinutes, counts: _Counts, columns: Sequence[int], window: _Window, since: int
) -> bool:
    """Whether usual traffic explains the last ten minutes, or more of them, better."""
    span = min(SPAN, max(1, (counts.end - since) // MINUTE))
    gains = _gains(table, counts, columns, window)[-span:]
    sums = np.cumsum(gains[::-1])[::-1]
    return bool(sums.max() >= BACK) and latest_peak(sums) >= WINDOWS[0]


def _quiet_of(finding: Finding, window: _Window) -> float:
    """How quiet the day was at the opening: what was usual then, over other days."""
    usual = window.usual / window.quiet if window.quiet else window.usual
    an_hour = usual / window.minutes * HOUR / MINUTE
    return min(1.0, (finding.reference or an_hour) / an_hour) if an_hour else 1.0


def _with_numbers(finding: Finding, window: _Window, now: int) -> Finding:
    """Updates a finding to the numbers of now, in requests an hour."""
    an_hour = HOUR / MINUTE / window.minutes
    return replace(
        finding,
        value=window.came * an_hour,
        reference=window.usual * an_hour,
        n=int(window.came),
        seen_unix_nano=now * 10**9,
        words=f"{100 * (1 - window.share):.0f} % of the requests are missing: "
        f"{window.came:.0f} came in {window.minutes} minutes, {window.usual:.0f} are usual",
    )
