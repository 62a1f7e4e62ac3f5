"""The job of the deltas: reads roll-ups, computes the ticks that are due, writes what changed.

It may run twice and at any time: a tick that is computed again replaces its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from alerts.deltas import history
from alerts.deltas.compute import Columns, compute
from alerts.deltas.kept_rollups import KeptRollups
from alerts.deltas.late import LateScores
from alerts.deltas.rows import deltas
from alerts.deltas.settings import DeltaSettings
from alerts.deltas.summing import SampleSums
from alerts.deltas.ticks import ChangedMinutes, DueTicks, due
from alerts.deltas.windows import DAY, TICK_SECONDS, Sums
from alerts.deltas.writer import DeltaWriter
from ragvigil.model.delta import Delta
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rollups
from ragvigil.store.scores import ticks as books

PAST_DAYS = 2
"""Days read before the baseline's first: a day's window, and the day that φ leaves out."""
DAYS_AT_ONCE = 8
"""Days of ticks computed from one read, so that a backfill's memory stays bounded."""
RESTART_NANOS = 600 * 10**9
"""After a restart, roll-ups may lag the newest deltas by this much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaRun:
    """What a run did: ticks computed, rows written, and the rows of the newest tick.

    `late` counts the scores that came since the run before, after their tick had closed.
    """

    ticks: int = 0
    rows: int = 0
    late: int = 0
    newest: tuple[Delta, ...] = ()


class DeltaJob:
    """Computes and writes the ticks that are due, run after run.

    `failing` names the rubrics that a record can fail. A store has one such job: between runs it
    remembers which version of the roll-ups it has read.
    """

    def __init__(self, store: Store, settings: DeltaSettings, *, failing: Collection[str]) -> None:
        self._store, self._settings, self._failing = store, settings, failing
        self._sample_sums, self._late = SampleSums(store), LateScores()
        self._kept = KeptRollups(store)
        self._seen: rollups.ChangedMinutes | None = None
        self._is_complete = False

    def run(self, now: float) -> DeltaRun:
        """Computes the ticks that are due at `now`, seconds since the epoch. Raises StoreError.

        Pass `newest` and `late` of the result to `ScoreMetrics.show`.
        """
        stand = books.newest(self._store)
        version = self._read_version(stand.computed)
        changed = rollups.changed(self._store, version)
        past = (self._settings.baseline_days + PAST_DAYS) * DAY * TICK_SECONDS
        self._sample_sums.run(now, version, int(now) - past)
        if changed is not None:
            self._kept.forget(changed.first)
        is_news = changed is not None and changed != self._seen
        ticks = due(
            int(now),
            computed_until=stand.closed_tick,
            changed=ChangedMinutes(first=changed.first, last=changed.last, newest=stand.minute)
            if changed is not None and is_news
            else None,
            close_late_seconds=self._settings.close_late_seconds,
        )
        ran = self._run(ticks, int(now * 1e9))
        self._is_complete = not is_news
        self._seen = changed if is_news else self._seen
        return ran

    def _read_version(self, computed: int) -> int:
        """The version of the roll-ups that earlier runs have read to the end."""
        if self._seen is None:
            return max(0, computed - RESTART_NANOS)
        # Rows of one version are written in pieces, the oldest minute first, so a run may see the
        # newest version half written. It is read again until two runs see the same last minute.
        return self._seen.version - (not self._is_complete)

    def _run(self, ticks: DueTicks, computed: int) -> DeltaRun:
        writer = DeltaWriter(store=self._store, computed=computed, closed_until=ticks.closed_until)
        run = _TickRun(self._store, self._settings, self._failing, writer, self._late)
        amended, current = _apart(ticks)
        for part in _parts(amended):
            run.tick(part)
        newest = [columns for part in _parts(current) for columns in run.tick(part, self._kept)]
        latest = (columns.since_tick(current[-1]) for columns in newest)
        rows = tuple(deltas(latest, ticks.closed_until))
        books.mark(self._store, ticks.closed_until, computed)
        return DeltaRun(ticks=run.ticks, rows=writer.rows, late=run.late, newest=rows)


def run_deltas(
    store: Store, now: float, settings: DeltaSettings, *, failing: Collection[str]
) -> DeltaRun:
    """Runs a new `DeltaJob` once; ticks that changed within `RESTART_NANOS` are computed again."""
    return DeltaJob(store, settings, failing=failing).run(now)


def _apart(ticks: DueTicks) -> tuple[range, range]:
    """The amended ticks and the current ones; all are current where the amended are the last day's.

    So the days before them are read once, not twice.
    """
    amended, current = ticks.amended, ticks.current
    if amended and amended.stop == current.start and len(amended) <= DAY:
        return range(0), range(amended.start, current.stop, TICK_SECONDS)
    return amended, current


def _parts(ticks: range) -> Iterator[range]:
    """Splits consecutive ticks into parts of at most DAYS_AT_ONCE, in order."""
    size = DAYS_AT_ONCE * DAY
    for first in range(0, len(ticks), size):
        yield ticks[first : first + size]


class _TickRun:
    """Computes and writes ticks, and counts the ticks and the late scores of one run."""

    def __init__(
        self,
        store: Store,
        settings: DeltaSettings,
        failing: Collection[str],
        writer: DeltaWriter,
        late: LateScores,
    ) -> None:
        self._store, self._settings, self._failing = store, settings, failing
        self._writer, self._late = writer, late
        self.ticks = 0
        self.late = 0

    def tick(self, part: range, kept: KeptRollups | None = None) -> list[Columns]:
        """Computes and writes consecutive ticks; returns the columns of the last day.

        It goes a day at a time, so that the arrays of a backfill stay bounded.
        """
        past = (self._settings.baseline_days + PAST_DAYS) * DAY * TICK_SECONDS
        first, last = part[0] - past, part[-1]
        rollups = history.read(self._store, first, last, self._settings, self._failing, kept)
        self.late += self._late.count(rollups, self._writer.closed_until)
        if not rollups.series:
            return []
        sums = Sums(rollups)
        pinned = history.release(self._store, rollups, self._settings, self._failing)
        columns: list[Columns] = []
        for first in range(0, len(part), DAY):
            ticks = np.array(part[first : first + DAY], dtype=np.int64)
            columns = compute(sums, ticks, self._settings, release=pinned)
            self._writer.write(columns)
        self.ticks += len(part)
        return columns
