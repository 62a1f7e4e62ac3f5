"""Writes ticks: what changed to `delta_changes`, every full hour to `rubric_deltas` as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from alerts.deltas.changes import SECONDS_AN_HOUR, Stored, changed, digests, is_full_hour
from alerts.deltas.compute import Columns
from alerts.deltas.rows import stored, values
from alerts.deltas.windows import TICK_SECONDS
from ragvigil.store.engine.batch import Row
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.scores.rubric_deltas import CHANGES

ROWS_AT_ONCE = 20_000
SECONDS_A_DAY = 24 * SECONDS_AN_HOUR
TICK = CHANGES.index("tick")


@dataclass(slots=True, kw_only=True)
class DeltaWriter:
    """Writes the ticks of one run, computed at `computed` (nanoseconds), and counts the rows.

    Ticks up to `closed_until` are closed. Of ticks before the days that changes are kept, the full
    hours alone are written.
    """

    store: Store
    computed: int
    closed_until: int
    rows: int = 0
    batches: int = 0

    def write(self, windows: Iterable[Columns]) -> None:
        """Writes consecutive ticks, the same of every window. Raises StoreError."""
        windows = list(windows)
        recent = self._recent()
        known = self._stored(windows[0], recent)
        rows = (row for columns in windows for row in self._rows(columns, known, recent))
        while piece := list(islice(rows, ROWS_AT_ONCE)):
            self.batches += 1
            self.rows += len(piece)
            changes = [row for row in piece if _tick(row) >= recent]
            hourly = [row[:-1] for row in piece if _tick(row) % SECONDS_AN_HOUR == 0]
            parts = (self.store.replica, self.batches)
            batch = rubric_deltas.changes_batch(changes, hourly, self.computed, *parts)
            self.store.write(batch)

    def _recent(self) -> int:
        """The first tick whose changes are kept, seconds since the epoch."""
        days = self.store.settings.changes_days
        today = self.computed // 10**9 // SECONDS_A_DAY
        return (today - days + 1) * SECONDS_A_DAY

    def _stored(self, columns: Columns, recent: int) -> Stored:
        first, last = int(columns.ticks[0]), int(columns.ticks[-1])
        if last < recent:
            return {}
        before = first - TICK_SECONDS
        found = rubric_deltas.digests(self.store, before - before % SECONDS_AN_HOUR, last)
        return {(each.series, each.window): (each.ticks, each.digests) for each in found}

    def _rows(self, columns: Columns, known: Stored, recent: int) -> Iterator[Row]:
        digest = digests(columns)
        is_recent = (columns.ticks >= recent)[:, np.newaxis]
        of_hours = is_full_hour(columns.ticks)[:, np.newaxis] & columns.has_row()
        chosen = np.where(is_recent, changed(columns, digest, known), of_hours)
        return stored(
            values(columns, self.closed_until, chosen) | {"digest": digest[chosen].tolist()},
            CHANGES,
            computed=self.computed,
            replica=self.store.replica,
            epoch=self.store.epoch,
        )


def _tick(row: Row) -> int:
    tick = row[TICK]
    assert isinstance(tick, int)
    return tick
