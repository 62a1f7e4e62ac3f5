"""The job of the limits: tries each on the past, then checks it every five minutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import structlog

from alerts.limits.crossing import BIN_SECONDS, Bins, Place, interval, is_beyond, is_within, words
from alerts.limits.settings import OwnLimit, Reach
from alerts.limits.trial import Trial, trial_words, tried
from alerts.signals.catalogue import NUMBERS, OWN_LIMIT, POOL, Accepted, is_expected
from alerts.signals.levels import latest_peak
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.identity import identity
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import limits as stored

log = structlog.get_logger()

TRIED_DAYS = 30
DAY = 86_400
LATE_SECONDS = 60
"""Seconds that a bin waits for late records."""
SILENT_SECONDS = DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """Sums by place, and the layer of the rubric."""

    bins: Mapping[Place, Bins]
    layer: Layer


class LimitJob:
    """Finds what crosses a limit, run after run.

    `findings` are those that were open when an earlier process ended; they go on under their ids.
    `trials` is what the first run found in the past, a trial a limit.
    """

    def __init__(
        self,
        store: Store,
        limits: Sequence[OwnLimit],
        findings: Sequence[Finding] = (),
    ) -> None:
        self._store, self._limits = store, limits
        self._open = {
            finding.finding_id: finding
            for finding in findings
            if finding.finding_id.startswith(OWN_LIMIT) and finding.is_open
        }
        self._checked = 0
        self.trials: tuple[Trial, ...] = ()

    def run(self, now: float, accepted: Accepted) -> tuple[Finding, ...]:
        """Returns the findings open at `now` (seconds), and those that just cleared.

        Raises StoreError.
        """
        end = (int(now) - LATE_SECONDS) // BIN_SECONDS * BIN_SECONDS
        if end <= self._checked:
            return tuple(self._open.values())
        if not self._checked:
            self._try(end)
        active = [limit for limit in self._limits if limit.reaches is not Reach.NOBODY]
        cleared = list(self._take_left(active, end))
        for limit in active:
            cleared += self._check(limit, end, accepted)
        self._checked = end
        return (*self._open.values(), *cleared)

    def _try(self, end: int) -> None:
        for limit in self._limits:
            past = self._read(limit, end - TRIED_DAYS * DAY, end)
            starts = [bins.start for bins in past.bins.values()]
            days = (end - min(starts)) / DAY if starts else 0
            trial = Trial(
                limit=limit,
                at=end,
                days=round(max(1, days)),
                crossings=tuple(tried(limit, past.bins)),
            )
            self.trials = (*self.trials, trial)
            log.info(
                "limit_tried_on_the_past",
                signal=limit.signal,
                route=limit.route,
                result=trial_words(trial),
            )

    def _take_left(self, active: Sequence[OwnLimit], end: int) -> Iterator[Finding]:
        """Ends the findings of an earlier process whose limit is another one now, or gone."""
        prefixes = tuple(map(_prefix, active))
        for name, finding in list(self._open.items()):
            if not name.startswith(prefixes):
                del self._open[name]
                words = "the limit was changed or removed"
                yield replace(finding, cleared_unix_nano=end * 10**9, words=words)

    def _check(self, limit: OwnLimit, end: int, accepted: Accepted) -> Iterator[Finding]:
        past = self._read(limit, end - 2 * limit.window_minutes * 60, end)
        of_limit = {
            (finding.service, finding.environment, _route(limit, finding)): finding
            for finding in self._open.values()
            if finding.finding_id.startswith(_prefix(limit))
        }
        for place in {*past.bins, *of_limit}:
            bins, finding = past.bins.get(place), of_limit.get(place)
            sums = bins.window(end, limit.window_minutes) if bins else (0.0, 0.0, 0.0)
            if finding is None and bins is not None and is_beyond(limit, *sums):
                opened = _opened(limit, place, bins, past.layer, end)
                finding = _with_numbers(opened, limit, sums, end)
                if not is_expected(finding, accepted):
                    self._open[finding.finding_id] = finding
            elif finding is not None:
                is_silent = end - finding.seen_unix_nano // 10**9 >= SILENT_SECONDS
                is_over = is_within(limit, *sums[:2]) or is_silent
                if is_over or is_expected(finding, accepted):
                    del self._open[finding.finding_id]
                    yield replace(
                        finding, cleared_unix_nano=end * 10**9, words="within your limit again"
                    )
                elif sums[0] > 1:
                    self._open[finding.finding_id] = _with_numbers(finding, limit, sums, end)

    def _rows(self, limit: OwnLimit, start: int, end: int) -> list[stored.BinSums]:
        """The stored bins of a rubric; where there are none and it may be one, of a measure."""
        for is_measure in (False, True)[: 1 if limit.is_share else 2]:
            rows = list(
                stored.bin_sums(
                    self._store,
                    limit.signal,
                    is_measure=is_measure,
                    service=limit.service,
                    route=limit.route,
                    start=start,
                    end=end,
                    bin_seconds=BIN_SECONDS,
                )
            )
            if rows:
                return rows
        return []

    def _read(self, limit: OwnLimit, start: int, end: int) -> _Past:
        """Sums from the first bin that holds values; a route `*` adds up its routes."""
        rows = self._rows(limit, start, end)
        first = min((row.start for row in rows), default=end)
        size = (end - first) // BIN_SECONDS
        sums: dict[Place, list[np.ndarray]] = {}
        for row in rows:
            route = POOL if limit.route == POOL else row.route
            arrays = sums.setdefault(
                (row.service, row.environment, route), [np.zeros(size) for _ in range(3)]
            )
            for array, value in zip(arrays, (row.n, row.total, row.squares), strict=True):
                array[(row.start - first) // BIN_SECONDS] += value
        layers = [row.layer for row in rows if row.layer is not None]
        known = NUMBERS.get(limit.signal)
        return _Past(
            bins={
                place: Bins(start=first, n=n, total=total, squares=squares)
                for place, (n, total, squares) in sums.items()
            },
            layer=layers[0] if layers else known.layer if known else Layer.CROSS_CUTTING,
        )


def _prefix(limit: OwnLimit) -> str:
    bounds = (limit.above, limit.below, limit.window_minutes, limit.service, limit.route)
    return f"{OWN_LIMIT}{identity(limit.signal, *bounds)}-"


def _route(limit: OwnLimit, finding: Finding) -> str:
    return POOL if limit.route == POOL else finding.routes[0]


def _opened(limit: OwnLimit, place: Place, bins: Bins, layer: Layer, end: int) -> Finding:
    """A finding without numbers yet, since the bin from which on its values lie beyond most."""
    side = 1.0 if limit.above is not None else -1.0
    last = (end - bins.start) // BIN_SECONDS
    gains = side * (bins.total[:last] - limit.bound * bins.n[:last])
    onset = end - latest_peak(np.cumsum(gains[::-1])[::-1]) * BIN_SECONDS
    service, environment, route = place
    return Finding(
        finding_id=f"{_prefix(limit)}{identity(service, environment, route, onset)}",
        kind=FindingKind.BROKEN if limit.reaches is Reach.PAGE else FindingKind.LIMIT,
        service=service,
        environment=environment,
        routes=() if route == POOL else (route,),
        signal=limit.signal,
        layer=layer,
        since_unix_nano=onset * 10**9,
    )


def _with_numbers(
    finding: Finding, limit: OwnLimit, sums: tuple[float, float, float], end: int
) -> Finding:
    low, high = interval(limit, *sums)
    return replace(
        finding,
        value=sums[1] / sums[0],
        reference=limit.bound,
        low=low - limit.bound,
        high=high - limit.bound,
        n=int(sums[0]),
        seen_unix_nano=end * 10**9,
        words=words(limit, *sums),
    )
