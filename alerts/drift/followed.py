"""The series that are followed, each with its row of states, and the pool of its routes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, replace

import numpy as np
from numpy.typing import NDArray

from alerts.drift.detect import BINS, DriftRules, Tick, anchor, step
from alerts.drift.state import DriftState, Floats, Ints, States, empty, numbers, restored
from alerts.signals.catalogue import POOL
from ragvigil.model.delta import Series
from ragvigil.model.score import Kind
from ragvigil.model.signal import is_rate

SLOWEST_TICKS = 36
"""An alarm on all traffic takes three hours at least: one question that many ask for an hour is no
drop, and what is broken has a ceiling that pages within minutes."""
IDLE_SECONDS = 2 * 86_400
"""A series without scores for this long is followed no more; its alarm ends."""
ON_ALL_TRAFFIC = frozenset({"chunk_utilization", "citation_coverage"})
"""Rubrics that every answer is scored by; all others are scored on a sample."""


def is_sampled(series: Series) -> bool:
    """Whether a series is measured on a sample of the answers, not on all of them."""
    on_all = is_rate(series.rubric) or series.rubric in ON_ALL_TRAFFIC
    return not on_all and series.kind is not Kind.MODEL


class Followed:
    """States of all series, in arrays that grow; a pool's row stands among those of its routes."""

    def __init__(self) -> None:
        self.series: list[Series] = []
        self.states: States = empty(0)
        self.pool: Ints = np.zeros(0, dtype=np.int64)
        self._is_sampled = np.zeros(0, dtype=np.bool_)
        self._rows: dict[Series, int] = {}
        self._routes: dict[Series, list[int]] = {}
        self._rank: Ints = np.zeros(0, dtype=np.int64)

    def row(self, series: Series) -> int:
        """The row of a series; a new series gets one, and with a second route its pool another."""
        if series not in self._rows:
            self._add(series)
            self._pool_up(series)
        return self._rows[series]

    def restore(self, stored: Iterable[tuple[Series, Floats]]) -> None:
        """Takes up states where an earlier process left them."""
        for series, values in stored:
            self._add(series)
            self.states[self._rows[series]] = restored(values)[0]
        for series in list(self.series):
            self._pool_up(series)

    def step(self, time: int, rows: Ints, values: Ints, scores: Floats, rules: DriftRules) -> None:
        """Steps the series of one tick: `scores` by row and bin."""
        counts = np.zeros((len(self.series), BINS))
        np.add.at(counts, (rows, values), scores)
        # What a slower source has given up to later is not taken twice.
        counts[self.states["tick"] >= time] = 0.0
        most = np.where(self._is_sampled, np.inf, rules.threshold / SLOWEST_TICKS)
        step(self.states, Tick(time, counts, self.pool, most, self._ranked()), rules)

    def anchor(self, time: int, service: str, environment: str, route: str) -> None:
        """Starts the test after a release of a service; empty names are all."""
        chosen = np.array(
            [
                each.service == service
                and environment in ("", each.environment)
                and (each.route == POOL or route in ("", each.route))
                for each in self.series
            ],
            dtype=np.bool_,
        )
        if chosen.any():
            anchored = self.states[chosen]
            anchor(anchored, time)
            self.states[chosen] = anchored

    def predecessor(self, series: Series) -> int | None:
        """The row of the same scores by another version of judge or rubric, the newest known.

        A judge is no version of a local scorer, nor the other way round.
        """
        rows = [
            row
            for row, each in enumerate(self.series)
            if (each.kind is Kind.MODEL) == (series.kind is Kind.MODEL)
            and each.segment != series.segment
            and replace(each, segment=series.segment) == series
            and self.states[row]["state"] != DriftState.LEARNING
        ]
        return max(rows, key=lambda row: float(self.states[row]["tick"]), default=None)

    def knows(self, series: Series) -> bool:
        """Whether a series has a row."""
        return series in self._rows

    def routes_of(self, pool: int) -> list[int]:
        """The rows of a pool's routes."""
        return self._routes.get(self.series[pool], [])

    def active(self, now: int) -> NDArray[np.bool_]:
        """Which series are known and had scores of late."""
        is_recent = self.states["tick"] > now - IDLE_SECONDS
        return np.asarray(is_recent & (self.states["state"] != DriftState.LEARNING))

    def changed(self, since: Floats) -> Iterator[tuple[Series, tuple[float, ...]]]:
        """The states whose ticks are newer than `since`, by row."""
        for row in np.flatnonzero(self.states["tick"] > since):
            yield self.series[row], tuple(numbers(self.states[row : row + 1])[0].tolist())

    def _add(self, series: Series) -> None:
        self._rows[series] = len(self.series)
        self.series.append(series)
        self._is_sampled = np.append(self._is_sampled, is_sampled(series))
        self.states = np.concatenate([self.states, empty(1)])
        self.pool = np.append(self.pool, -1)

    def _pool_up(self, series: Series) -> None:
        """Puts a route into its pool, which gets a row with the second route."""
        if series.route == POOL:
            return
        pool = replace(series, route=POOL)
        routes = self._routes.setdefault(pool, [])
        routes.append(self._rows[series])
        if pool not in self._rows and len(routes) > 1:
            self._add(pool)
        if pool in self._rows:
            self.pool[routes] = self._rows[pool]

    def _ranked(self) -> Ints:
        """The place of each row in the order of names, whatever the order in which they came."""
        if len(self._rank) != len(self.series):
            names = [astuple(each) for each in self.series]
            self._rank = np.empty(len(names), dtype=np.int64)
            self._rank[sorted(range(len(names)), key=names.__getitem__)] = range(len(names))
        return self._rank
