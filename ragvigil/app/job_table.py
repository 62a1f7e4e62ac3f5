"""The core's periodic duties: roll-ups, deltas, books, retention."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import replace

import structlog

from alerts.deltas.job import DeltaJob
from alerts.deltas.metrics import ScoreMetrics
from ragvigil.app.parts import calibration
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.app.process.jobs import JOBS_PUT_OFF, Job
from ragvigil.app.settings import Settings
from ragvigil.app.sources import issue_gauges
from ragvigil.model.clock import Clock
from ragvigil.store.engine import retention
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rollups
from scorers.calibration.report import Calibration

log = structlog.get_logger()

SEGMENT_GRACE_SECONDS = 300.0
ROLLUP_SECONDS, DELTA_SECONDS, BOOKS_SECONDS, RETENTION_SECONDS = 2.0, 15.0, 60.0, 3600.0
ROLLUP_TURNS = 4
"""How often roll-ups are put off: under load a minute holds half a million scores, and each turn
counts them all again."""
WATCH_SECONDS = 10.0
ISSUES_SECONDS, CLUSTERS_SECONDS = 60.0, 600.0
HOUR, MERGE_HOUR = 3600.0, 2
TOPICS_SECONDS = 300.0
GOLDEN_SECONDS = 300.0
PACE_SECONDS, CANARY_SECONDS = 3600.0, 600.0


class RollUps:
    """Recomputes the minutes that new scores made out of date.

    The first run covers what an earlier life may have left undone.
    """

    def __init__(self, store: Store, dirty: set[int], since: float) -> None:
        self._store, self._dirty = store, dirty
        self._left = set(rollups.minutes_received(store, since))
        self._lock = threading.Lock()

    def run(self) -> None:
        """Counts every dirty minute again; what fails stays dirty."""
        with self._lock:
            taken = self._left | {self._dirty.pop() for _ in range(len(self._dirty))}
            self._left = taken
            rollups.recompute(self._store, taken, version=time.time_ns())
            self._left = set()


def duties(
    settings: Settings,
    store: Store,
    pipeline: Pipeline,
    books: SpanBalance,
    scores: ScoreMetrics,
    clock: Clock = time.time,
) -> list[Job]:
    """Every job with its period."""
    late = settings.collector.assembly.late_seconds
    rolling = RollUps(store, pipeline.parts.sink.dirty_minutes, clock() - 2 * late)
    failing = pipeline.parts.runner.fails_below
    ticking = DeltaJob(store, settings.alerts, failing=failing)

    def deltas() -> None:
        scores.show(ticking.run(clock()).newest)

    def balance() -> None:
        metrics.LEDGER_MISMATCH.set(books.mismatch())
        books.drop_segments(SEGMENT_GRACE_SECONDS)

    def keep() -> None:
        retention.apply_days(store)
        for table, rows in retention.enforce_max_bytes(store).items():
            log.warning("store is full: oldest rows dropped", table=table, rows=rows)

    rolled = Job(
        name="rollups", every_seconds=ROLLUP_SECONDS, function=rolling.run, runs_at_stop=True
    )
    every = [
        _gives_way(rolled, pipeline, ROLLUP_TURNS),
        Job(name="watch", every_seconds=WATCH_SECONDS, function=pipeline.parts.watching.run),
        Job(name="deltas", every_seconds=DELTA_SECONDS, function=deltas),
        Job(name="books", every_seconds=BOOKS_SECONDS, function=balance),
        Job(name="retention", every_seconds=RETENTION_SECONDS, function=keep),
        *_of_questions(pipeline),
        *_of_issues(settings, store, pipeline, scores, clock),
        *_of_the_judge(pipeline, calibration(store, (), failing, clock)),
    ]
    return [_gives_way(one, pipeline) if one.is_long else one for one in every]


def _gives_way(job: Job, pipeline: Pipeline, turns: float = math.inf) -> Job:
    """A duty that waits while the core is behind, up to so many turns: what is new goes first."""
    waited = 0

    def run() -> None:
        nonlocal waited
        if pipeline.is_behind and waited < turns:
            waited += 1
            JOBS_PUT_OFF.labels(job.name).inc()
        else:
            waited = 0
            job.function()

    return replace(job, function=run)


def _of_questions(pipeline: Pipeline) -> list[Job]:
    topics, golden = pipeline.parts.topics.run, pipeline.parts.golden.watch
    return [
        Job(name="topics", every_seconds=TOPICS_SECONDS, function=topics, is_long=True),
        Job(name="golden", every_seconds=GOLDEN_SECONDS, function=golden, is_long=True),
    ]


def _of_issues(
    settings: Settings, store: Store, pipeline: Pipeline, scores: ScoreMetrics, clock: Clock
) -> list[Job]:
    if not settings.clustering.enabled:
        return []
    issues = pipeline.parts.issues

    def merge_at_night() -> None:
        if clock() // HOUR % 24 == MERGE_HOUR:  # UTC: of the runs of a day this is one
            issues.propose()

    def gauges() -> None:
        url = settings.web.external_url
        issue_gauges.show(store, issues.issues(), scores.place, clock(), url)

    return [
        Job(name="issue_gauges", every_seconds=ISSUES_SECONDS, function=gauges),
        Job(name="issues", every_seconds=ISSUES_SECONDS, function=issues.run, is_long=True),
        Job(name="clusters", every_seconds=CLUSTERS_SECONDS, function=issues.cluster, is_long=True),
        Job(
            name="root_causes",
            every_seconds=ISSUES_SECONDS,
            function=pipeline.parts.explaining.run,
        ),
        Job(name="merges", every_seconds=HOUR, function=merge_at_night, is_long=True),
    ]


def _of_the_judge(pipeline: Pipeline, calibration: Calibration) -> list[Job]:
    later = pipeline.parts.later
    return [
        Job(name="calibration", every_seconds=BOOKS_SECONDS, function=calibration.show_metrics),
        Job(name="canary", every_seconds=CANARY_SECONDS, function=later.canary.run),
        Job(name="complaints", every_seconds=BOOKS_SECONDS, function=later.hear),
        Job(name="judge_pace", every_seconds=PACE_SECONDS, function=later.pace),
    ]
