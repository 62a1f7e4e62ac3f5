"""The job: reads roll-ups, computes the ticks that are due, writes `rubric_deltas`.

Safe to run twice and at any time: a tick that is computed again replaces its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from alerts import history
from alerts.deltas import Columns, compute
from alerts.rows import deltas, stored, values
from alerts.settings import AlertsSettings
from alerts.ticks import Changed, due
from alerts.windows import DAY, TICK_SECONDS, Sums
from ragvigil.model.delta import Delta
from ragvigil.store import rollups
from ragvigil.store import ticks as books
from ragvigil.store.columns import TABLES
from ragvigil.store.store import Store

PAST_DAYS = 2
"""Days read before the baseline's first: a day's window, and the day that φ leaves out."""
DAYS_AT_ONCE = 8
ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a run did: ticks computed, rows written, and the rows of the newest tick."""

    ticks: int = 0
    rows: int = 0
    newest: tuple[Delta, ...] = ()


def run_deltas(
    store: Store,
    now: float,
    settings: AlertsSettings,
    *,
    failing: Collection[str],
) -> Ran:
    """Computes and writes what is due at `now`, seconds since the epoch.

    `failing` names the rubrics that a record can fail. To be called after the roll-ups and from
    one thread with them, as often as fresh numbers are wanted: roll-ups whose version is later
    than `now` (both in nanoseconds) are due at the next call. `Ran.newest` is for
    `ScoreMetrics.show`. Raises StoreError.
    """
    stand = books.newest(store)
    changed = rollups.changed(store, stand.computed)
    found = due(
        int(now),
        computed_until=stand.closed_tick,
        changed=Changed(first=changed.first, last=changed.last, newest=stand.minute)
        if changed
        else None,
        close_late_seconds=settings.close_late_seconds,
    )
    run = _Run(store, settings, failing, int(now * 1e9), found.closed_until)
    for part in _parts(found.amended):
        run.tick(part)
    newest = [columns for part in _parts(found.current) for columns in run.tick(part)]
    shown = (columns.since_tick(found.current[-1]) for columns in newest)
    return Ran(ticks=run.ticks, rows=run.rows, newest=tuple(deltas(shown, found.closed_until)))


def _parts(ticks: range) -> Iterator[range]:
    """At most DAYS_AT_ONCE at a time, so that memory stays bounded, in order."""
    size = DAYS_AT_ONCE * DAY
    for first in range(0, len(ticks), size):
        yield ticks[first : first + size]


class _Run:
    """One run: the parts that it shares, and what it has written."""

    def __init__(
        self,
        store: Store,
        settings: AlertsSettings,
        failing: Collection[str],
        computed: int,
        closed_until: int,
    ) -> None:
        self._store, self._settings, self._failing = store, settings, failing
        self._computed, self._closed_until = computed, closed_until
        self.ticks = 0
        self.rows = 0
        self._batches = 0

    def tick(self, part: range) -> list[Columns]:
        """Computes and writes consecutive ticks; returns the columns of the last day."""
        past = (self._settings.baseline_days + PAST_DAYS) * DAY * TICK_SECONDS
        rollups = history.read(self._store, part[0] - past, part[-1], self._settings, self._failing)
        if not rollups.series:
            return []
        sums = Sums(rollups)
        pinned = history.release(self._store, rollups.series, self._settings, self._failing)
        columns: list[Columns] = []
        for first in range(0, len(part), DAY):
            ticks = np.array(part[first : first + DAY], dtype=np.int64)
            columns = compute(sums, ticks, self._settings, release=pinned)
            self._write(columns)
        self.ticks += len(part)
        return columns

    def _write(self, columns: list[Columns]) -> None:
        rows = chain.from_iterable(
            stored(
                values(one, self._closed_until),
                TABLES[books.TABLE],
                computed=self._computed,
                replica=self._store.replica,
                epoch=self._store.epoch,
            )
            for one in columns
        )
        while piece := list(islice(rows, ROWS_AT_ONCE)):
            self._batches += 1
            self._store.write(books.batch(self._store, piece, self._computed, self._batches))
            self.rows += len(piece)
