"""The job of the detector: reads complete ticks, steps the states, stores them, gives findings.

The states are stored with the ticks that made them; a new process goes on behind them. A store
without states is read two weeks back, some hours a run, and nothing is reported meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from alerts.drift.boosts import LASTS_SECONDS, boosted
from alerts.drift.bridge import Offset, bridged, offset
from alerts.drift.detect import DOWN, DriftRules, accept, threshold
from alerts.drift.findings import finding, finding_id
from alerts.drift.followed import IDLE_SECONDS, Followed
from alerts.drift.settings import DriftSettings
from alerts.drift.sight import look
from alerts.drift.sources import PAST_DAYS, Scores, Source, sources
from alerts.drift.state import DAY, WIDTH, DriftState
from ragvigil.model.delta import TICK_SECONDS, Series
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import Notice
from ragvigil.model.score import Kind
from ragvigil.model.signal import THUMBS, is_rate
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import canary
from ragvigil.store.watch import boosts as boost_rows
from ragvigil.store.watch import drift as stored
from ragvigil.store.watch.acts import Act
from ragvigil.store.watch.acts import write as write_act
from ragvigil.store.watch.boosts import Boost
from ragvigil.store.watch.drift import StoredState
from ragvigil.store.watch.incidents import IncidentFilter
from ragvigil.store.watch.incidents import find as find_incidents

NANOS = 10**9
FIRST_TICKS, MOST_TICKS = 3, 288
"""Ticks that one read asks for; as many as keep under half of the rows that a query may return."""
CANARY_RUNS = 4
"""The newest runs of the canary that are read: a new judge has at least one of them."""
REPORTED_DAYS = 1
"""An alarm whose newest tick is older is history that is being read."""


class DriftJob:
    """Steps the detector over all series, run after run; a store has one such job.

    `findings` are those that were open when an earlier process ended: they end here, or go on under
    their ids. `judged` names the rubrics of the judge: their routes may be judged more. Raises
    StoreError if the states cannot be read.
    """

    def __init__(
        self,
        store: Store,
        settings: DriftSettings,
        findings: Sequence[Finding] = (),
        *,
        judged_until: Callable[[float], float] = lambda now: now,
        judged: Collection[str] = (),
        now: float,
    ) -> None:
        self._store, self._settings, self._judged = store, settings, judged
        self._sources = sources(
            store, settings, judged_until, lambda first: first < self._boosted_until
        )
        self._boosted = set(boost_rows.rates(store, now))
        # An earlier process may have boosted a route; its rows say until when.
        self._boosted_until = now + LASTS_SECONDS if self._boosted else 0.0
        self._open = {each.finding_id: each for each in findings if each.kind is FindingKind.DRIFT}
        self.followed = Followed()
        self._unbridged: dict[int, int] = {}
        self._restore(now)
        self._done = {source.name: self._newest(source) for source in self._sources}
        self._ticks_at_once = {source.name: FIRST_TICKS for source in self._sources}

    def run(self, now: float, changes: Sequence[Notice] = ()) -> tuple[Finding, ...]:
        """Returns the drops that last at `now` (seconds), and those that have just ended.

        `changes` are those of the last days: a drop right after one needs less evidence. Raises
        StoreError; the next run goes on behind the ticks that were stored.
        """
        if not self._settings.enabled:
            return ()
        is_news = [self._step(source, now, changes) for source in self._sources]
        if any(is_news):
            self._bridge_all()
            self._accept(now)
            look(self.followed.states, self.followed.pool, self.rules(now))
            self._save(now)
            self._boost(now)
        return self._findings(now)

    def visible_drops(self) -> dict[Series, float]:
        """The smallest drop that each series would show within a day, a share of 1.

        A series that would show none, or has had no scores of late, is missing.
        """
        active = self.followed.active(int(max(self._done.values(), default=0)))
        sees = np.where(active, self.followed.states["sees"], 0.0)
        return {self.followed.series[row]: float(sees[row]) for row in np.flatnonzero(sees > 0)}

    def judged_places(self) -> frozenset[tuple[str, str, str, str]]:
        """Service, environment, route and rubric of what a judge scores now and has learnt."""
        active = self.followed.active(int(max(self._done.values(), default=0)))
        judged = [self.followed.series[row] for row in np.flatnonzero(active)]
        return frozenset(
            (each.service, each.environment, each.route, each.rubric)
            for each in judged
            if each.kind is Kind.JUDGE
        )

    def rules(self, now: float) -> DriftRules:
        """The rules for as many series as are followed now."""
        settings = self._settings
        return DriftRules(
            threshold=threshold(
                int(self.followed.active(int(now)).sum()),
                settings.weeks_between_false_alarms,
                settings.weeks_between_false_pages,
            ),
            slack=settings.slack,
            shifted_days=settings.propose_shifted_days,
            least_weeks=settings.weeks_between_false_alarms,
        )

    def _step(self, source: Source, now: float, changes: Sequence[Notice]) -> bool:
        """Reads the next ticks that have scores; returns whether any were complete."""
        closed = source.closed(now)
        first = max(self._done[source.name], closed - source.past_days * DAY)
        is_news = first < closed
        read: list[Scores] = []
        while first < closed and not read:
            ticks = self._ticks_at_once[source.name]
            end = min(closed, first + ticks * TICK_SECONDS)
            try:
                read = source.read(first, end)
            except QueryFailed:
                # After many ticks without scores, so many with scores are too many rows.
                if ticks == 1:
                    raise
                self._ticks_at_once[source.name] = ticks // 2
                continue
            self._ticks_at_once[source.name] = self._next_size(read, ticks)
            for time, rows, values, scores in self._ticks(read):
                self._anchor(time, changes)
                self.followed.step(time, rows, values, scores, self.rules(time))
            self._done[source.name] = first = end
        return is_news

    def _next_size(self, read: Sequence[Scores], ticks: int) -> int:
        """How many ticks the next read asks for, by the rows of this one."""
        rows = sum(len(part.time) for part in read) / ticks
        room = self._store.settings.query_rows / 2 / max(rows, 1e-9)
        return int(max(1, min(MOST_TICKS, 4 * ticks, room)))

    def _ticks(
        self, read: Iterable[Scores]
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Splits what was read into ticks, oldest first: rows, bins and scores of each."""
        parts = []
        for part in read:
            rows = np.array([self._row(each) for each in part.series], dtype=np.int64)
            parts.append((part.time, rows[part.index], part.value, part.scores))
        if not parts:
            return
        time, rows, values, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(time, kind="stable")
        bounds = np.flatnonzero(np.diff(time[order])) + 1
        for place in np.split(order, bounds):
            if len(place):
                yield int(time[place[0]]), rows[place], values[place], scores[place]

    def _boost(self, now: float) -> None:
        """Has routes judged more that look like a drop; a boost is renewed every tick."""
        self._boosted = boosted(self._boosted, self.followed, self._judged, self._settings)
        if not self._boosted:
            return
        self._boosted_until = now + LASTS_SECONDS
        rows = [
            Boost(
                service=service,
                environment=environment,
                route=route,
                rate=self._settings.boost_rate,
                until_unix_nano=int(self._boosted_until * NANOS),
            )
            for service, environment, route in sorted(self._boosted)
        ]
        boost_rows.write(self._store, rows, int(now * NANOS))

    def _row(self, series: Series) -> int:
        """The row of a series; one of a new judge begins with what is known of the old one."""
        is_new = not self.followed.knows(series)
        row = self.followed.row(series)
        before = self.followed.predecessor(series) if is_new else None
        if before is not None:
            self._bridge(row, before, None)
            self._unbridged[row] = before
        return row

    def _bridge(self, row: int, before: int, shift: Offset | None) -> None:
        old = self.followed.states[before : before + 1]
        self.followed.states[row] = bridged(old, shift, int(old["tick"][0]))[0]

    def _bridge_all(self) -> None:
        """Bridges the series of a new judge as soon as the canary has its scores."""
        for row, before in list(self._unbridged.items()):
            if self.followed.states[row]["state"] != DriftState.LEARNING:
                del self._unbridged[row]
            elif (shift := self._offset(before, row)) is not None:
                tick = self.followed.states[row]["tick"]
                self._bridge(row, before, shift)
                self.followed.states[row]["tick"] = tick
                del self._unbridged[row]

    def _offset(self, before: int, row: int) -> Offset | None:
        """How much higher the new judge scores the canary's answers."""
        chosen = canary.current(self._store)
        if chosen is None:
            return None
        old, new = self.followed.series[before], self.followed.series[row]
        scores: dict[str, dict[str, float]] = {old.segment: {}, new.segment: {}}
        for run in canary.runs(self._store, chosen.set_id, last=CANARY_RUNS):
            for score in run:
                is_known = score.rubric == new.rubric and score.value is not None
                if is_known and score.segment in scores:
                    scores[score.segment][score.record_id] = float(score.value or 0.0)
        return offset(scores[old.segment], scores[new.segment])

    def _anchor(self, time: int, changes: Sequence[Notice]) -> None:
        for change in changes:
            since = change.since_unix_nano // NANOS
            if time - DAY < since < time:
                self.followed.anchor(since, change.service, change.environment, change.route)

    def _findings(self, now: float) -> tuple[Finding, ...]:
        states = self.followed.states
        # History that is still being read says nothing of now; an idle series says nothing more.
        newest = now - REPORTED_DAYS * DAY
        is_current = all(done >= newest for done in self._done.values())
        down = np.flatnonzero(np.isin(states["state"], DOWN)) if is_current else ()
        last = {
            finding_id(self.followed, row): finding(self.followed, row, now)
            for row in map(int, down)
            if states[row]["tick"] > now - IDLE_SECONDS
        }
        if not is_current:
            return tuple(self._open.values())
        ended = [
            replace(each, seen_unix_nano=int(now * NANOS), cleared_unix_nano=int(now * NANOS))
            for name, each in self._open.items()
            if name not in last
        ]
        self._open = last
        return (*last.values(), *ended)

    def _accept(self, now: float) -> None:
        """Takes up levels that people accepted, or, by the settings, those that lasted."""
        states = self.followed.states
        down = [int(row) for row in np.flatnonzero(np.isin(states["state"], DOWN))]
        if not down:
            return
        expected = find_incidents(self._store, IncidentFilter(expected=True))
        accepted = {each.finding_id for incident in expected for each in incident.findings}
        for row in down:
            is_shifted = int(states[row]["state"]) == DriftState.SHIFTED
            by_setting = self._settings.accept_shifted and is_shifted
            if by_setting:
                write_act(self._store, _act(self.followed.series[row], now))
            if by_setting or finding_id(self.followed, row) in accepted:
                self._accept_row(row)

    def _accept_row(self, row: int) -> None:
        changed = self.followed.states[row : row + 1]
        accept(changed)
        self._accepted.add(row)

    def _restore(self, now: float) -> None:
        rows = [
            (row.series, np.array(row.numbers))
            for row in stored.states(self._store, int(now) - 2 * PAST_DAYS * DAY)
            if len(row.numbers) == WIDTH
        ]
        self.followed.restore(rows)
        self._saved = self.followed.states["tick"].copy()
        self._accepted: set[int] = set()

    def _newest(self, source: Source) -> int:
        ticks = [
            int(state["tick"])
            for series, state in zip(self.followed.series, self.followed.states, strict=True)
            if _source_of(series) == source.name
        ]
        return max(ticks, default=0)

    def _save(self, now: float) -> None:
        known = np.zeros(len(self.followed.series))
        known[: len(self._saved)] = self._saved
        # Changed without a tick of their own.
        known[list(self._accepted)] = -1.0
        changed = [
            StoredState(series=series, numbers=values)
            for series, values in self.followed.changed(known)
        ]
        if changed:
            stored.write(self._store, changed, int(now * NANOS))
        self._saved = self.followed.states["tick"].copy()
        self._accepted.clear()


def _source_of(series: Series) -> str:
    if not is_rate(series.rubric):
        return "scores"
    return "thumbs" if series.rubric == THUMBS else "rates"


def _act(series: Series, now: float) -> Act:
    place = "/".join((series.service, series.environment, series.route, series.rubric))
    return Act(
        time_unix_nano=int(now * NANOS),
        person="",
        role="daemon",
        verb="expected",
        thing=f"series/{place}",
        place="settings",
    )
