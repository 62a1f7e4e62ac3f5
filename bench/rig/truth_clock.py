"""The real watch on a virtual clock: rows as the daemon writes them, a turn of the watch a minute.

A store is filled once with healthy traffic; each run goes on from a copy of it. Nothing waits for
the machine's time: the clock moves when a turn is done, and steps of audits end within theirs.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from alerts.notices.fingerprint import fingerprint_of
from alerts.settings import AlertsSettings, MetricsSettings
from alerts.watch.run import Watch
from bench.rig.scored_pool import JUDGED, Request, ScoredPool
from bench.rig.truth_traffic import HOUR, MINUTE, Episode, requests
from ragvigil.model.incident import Incident
from ragvigil.model.notice import Notice
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rollups
from ragvigil.store.settings import StoreSettings
from ragvigil.store.watch import incidents as stored_incidents
from ragvigil.store.watch import notices as stored_notices
from ragvigil.store.watch.incidents import IncidentFilter
from scorers.calibration.label_bar_job import LabelBarJob
from scorers.settings import ScorersSettings

SETTLED_SECONDS = 40
"""A turn at this second of a minute sees the minute before as closed."""
AUDIT_PATIENCE = 120.0


@dataclass(slots=True)
class Rehearsal:
    """A store with its watch; `now` is the only clock that they have."""

    pool: ScoredPool
    store: Store
    now: float
    _rows: TraceRows = field(init=False)
    _bars: LabelBarJob = field(init=False)
    _watch: Watch | None = None
    _serial: int = 0
    _hour: float = 0.0

    def __post_init__(self) -> None:
        self._bars = LabelBarJob(self.store, ScorersSettings(), clock=lambda: self._hour)
        self._rows = TraceRows(self.pool.facts, replica=self.store.replica, epoch=self.store.epoch)

    @property
    def watch(self) -> Watch:
        """The watch, begun when it is first needed: it reads the past then."""
        if self._watch is None:
            self._watch = Watch(
                self.store,
                AlertsSettings(),
                MetricsSettings(),
                self.pool.judge,
                clock=lambda: self.now,
                judged=JUDGED,
            )
        return self._watch

    def write(self, arrivals: Sequence[Request], *, is_live: bool = True) -> None:
        """Stores what the pipeline makes of these requests, and counts their minutes."""
        if arrivals and arrivals[0].at // HOUR * HOUR > self._hour:
            # As the daemon does each hour: it learns of what was stored before.
            self._hour = arrivals[0].at // HOUR * HOUR
            self._bars.learn()
        prints = []
        for request in arrivals:
            # Unique over copies of a store, and the same in every rerun.
            self._serial += 1
            number = int(request.at) << 24 | self._serial
            outcome = self.pool.outcome(request, number, self._bars.bars)
            self._rows.add(outcome)
            (scored,) = outcome.records
            name = f"{scored.record.trace_id} {scored.record.record_id}"
            prints.append((name, fingerprint_of(scored.record, outcome.time_unix_nano)))
        if not arrivals:
            return
        written = self.store.write(self._rows.take())
        rollups.recompute(self.store, written.minutes, version=int(self.now * 1e9))
        if is_live:
            self.watch.noticing.offer(prints)

    def turn(self) -> None:
        """One turn of the watch, with the steps of audits that it begins."""
        self.watch.run()
        self.watch.stop(AUDIT_PATIENCE)

    def incidents(self, since: float) -> list[Incident]:
        """The incidents that opened since then, oldest first."""
        listed = stored_incidents.find(self.store, IncidentFilter(since=int(since)))
        opened = [one for one in listed if one.opened_unix_nano >= since * 1e9]
        return sorted(opened, key=lambda one: one.opened_unix_nano)

    def notices(self, since: float) -> list[Notice]:
        """The changes that were noticed since then, oldest first."""
        listed = stored_notices.find(self.store, since=int(since))
        noticed = [one for one in listed if one.noticed_unix_nano >= since * 1e9]
        return sorted(noticed, key=lambda one: one.noticed_unix_nano)


@contextlib.contextmanager
def opened(pool: ScoredPool, folder: Path, now: float) -> Iterator[Rehearsal]:
    """A rehearsal on the store in a folder, as after a start; `now` in seconds since the epoch."""
    # A start has an epoch of its own: by it the watch tells the past from its own rows.
    store = Store.open(StoreSettings(), folder, replica="bench", epoch=int(now))
    try:
        yield Rehearsal(pool, store, now)
    finally:
        store.close()


Habit = Callable[[np.random.Generator, list[Request], ScoredPool], list[Request]]
"""Changes the requests of some minutes: what a healthy service's users do, too."""


def calm(_: np.random.Generator, arrivals: list[Request], __: ScoredPool) -> list[Request]:
    """Nothing but the rhythm of the day."""
    return arrivals


def fill(
    pool: ScoredPool,
    folder: Path,
    *,
    start: float,
    end: float,
    seed: int,
    habit: Habit = calm,
    episodes: Sequence[Episode] = (),
) -> None:
    """Stores traffic of some hours, healthy by default; the watch has not run on it."""
    rng = np.random.default_rng(seed)
    with opened(pool, folder, start) as rehearsal:
        rehearsal.now = end
        for hour in np.arange(start, end, HOUR):
            until = float(min(hour + HOUR, end))
            arrivals = requests(pool.texts, rng, float(hour), until, episodes)
            rehearsal.write(habit(rng, arrivals, rehearsal.pool), is_live=False)


@contextlib.contextmanager
def copied(healthy: Path) -> Iterator[Path]:
    """A copy of a store's folder, in memory where the machine has room for it there."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        copy = Path(folder) / "data"
        shutil.copytree(healthy, copy, symlinks=True)
        yield copy


def play(
    rehearsal: Rehearsal,
    end: float,
    episodes: Sequence[Episode],
    *,
    seed: int,
    each_minutes: int = 1,
    habit: Habit = calm,
    until: Callable[[], bool] = lambda: False,
) -> None:
    """Lets the clock run to `end`, minute by minute, or until something is so."""
    rng = np.random.default_rng(seed)
    minute = int(rehearsal.now // MINUTE * MINUTE)
    while minute < end:
        step = int(each_minutes * MINUTE)
        arrivals = requests(rehearsal.pool.texts, rng, minute, minute + step, episodes)
        rehearsal.now = minute + step + SETTLED_SECONDS
        rehearsal.write(habit(rng, arrivals, rehearsal.pool))
        rehearsal.turn()
        minute += step
        if until():
            return
