"""The table of periodic jobs: each with its period, and when it waits."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Collection
from dataclasses import replace
from functools import partial

import structlog

from alerts.deltas.job import DeltaJob
from alerts.deltas.metrics import ScoreMetrics
from alerts.slices.job import HOURS_AT_ONCE, SliceJob
from alerts.watch.run import Watch
from collector.spool.reserve import DiskReserve, space_of
from ragvigil.app.parts import CoreParts, Jobs
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.app.process.jobs import JOBS_PUT_OFF, Job
from ragvigil.app.settings import Settings
from ragvigil.app.settings.fleet import ROLES_OF_ONE, Role
from ragvigil.app.sources import issue_gauges
from ragvigil.model.clock import Clock
from ragvigil.store.engine import damage, retention
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rollups
from ragvigil.store.watch import boosts
from ragvigil.web.views.deltas import read_ahead

log = structlog.get_logger()

SEGMENT_GRACE_SECONDS = 300.0
"""Spool segments that the checkpoint has passed are kept at least this long, if there is room."""
ROLLUP_SECONDS, DELTA_SECONDS, BALANCE_SECONDS, RETENTION_SECONDS = 2.0, 15.0, 60.0, 3600.0
SIZE_SECONDS = 15.0
ROLLUP_TURNS = 4
"""How many times in a row roll-ups are put off while the core is behind: under load a minute
holds half a million scores, and each turn counts them all again."""
ROLLUP_SHARE = 0.05
"""Each run counts the current minute again and writes parts that the engine must merge: at 50
answers a second a run every two seconds took 5 s of the store's thread a minute."""
WATCH_SECONDS, SEGMENTS_SECONDS, PAGES_SECONDS = 10.0, 10.0, 60.0
READING_TURNS = 1
"""How many times in a row jobs that read much are put off while the core is behind: at full rate
they took a fifth of the store's thread. With more turns the notices would lose answers."""
PAGES_FIRST_SECONDS = 1.0
"""After a start: people open pages of a daemon that has just come back."""
ISSUES_SECONDS, CLUSTERS_SECONDS = 60.0, 600.0
HOUR, MERGE_HOUR = 3600.0, 2
TOPICS_SECONDS = 300.0
SLICES_SECONDS = 300.0
GOLDEN_SECONDS = 120.0
JUDGE_SECONDS, PACE_SECONDS, CANARY_SECONDS = 60.0, 3600.0, 600.0
OF_EVERY_ROLE = frozenset(
    {"accepted_rubrics", "books", "boosts", "judge_pace", "label_bars_read", "segments"}
)
"""Jobs of a daemon's own spool and judge; the others work on what all have stored, and one daemon
does them."""


class RollUps:
    """Recomputes the roll-ups of minutes whose scores changed.

    The first run covers minutes received since `since` (Unix time), and all that were never
    counted, beside those that are known to be dirty: an earlier life of the core may have ended
    before it rolled them up. It reads which, so that neither a start nor an edge, which has no
    roll-ups, waits for that.
    """

    def __init__(self, store: Store, dirty: DirtyMinutes, since: float) -> None:
        self._store, self._dirty = store, dirty
        self._since: float | None = since
        # The run at the stop must wait for one under way: the store closes after it.
        self._lock = threading.Lock()

    def run(self) -> None:
        """Recomputes every dirty minute; those of a run that fails stay dirty.

        Raises StoreError.
        """
        with self._lock:
            if self._since is not None:
                self._dirty.add(rollups.minutes_received(self._store, self._since))
                self._dirty.add(rollups.minutes_not_counted(self._store))
                self._since = None
            minutes = self._dirty.take()
            try:
                rollups.recompute(self._store, minutes, version=time.time_ns())
            except BaseException:
                self._dirty.add(minutes)
                raise
            self._dirty.done(minutes)


def undone_since(settings: Settings, clock: Clock) -> float:
    """Since when (Unix time) traces came whose minutes an earlier life may have left undone."""
    return clock() - 2 * settings.collector.assembly.late_seconds


def periodic_jobs(
    settings: Settings,
    store: Store,
    parts: CoreParts,
    pipeline: Pipeline,
    balance: SpanBalance,
    scores: ScoreMetrics,
    clock: Clock = time.time,
    roles: Collection[Role] = ROLES_OF_ONE,
) -> list[Job]:
    """The jobs of these roles; long ones wait while the pipeline is behind, others some turns."""
    roll_ups = RollUps(store, parts.dirty_minutes, undone_since(settings, clock))

    rollups_job = Job(
        name="rollups",
        every_seconds=ROLLUP_SECONDS,
        function=roll_ups.run,
        runs_at_stop=True,
        most_share=ROLLUP_SHARE,
    )
    jobs = [
        _gives_way(rollups_job, pipeline, ROLLUP_TURNS),
        *_reading_jobs(settings, store, parts, pipeline, scores, clock),
        _slice_job(settings, store, clock, parts.jobs.watch),
        *_upkeep_jobs(settings, store, balance),
        *_question_jobs(parts.jobs),
        *_rubric_jobs(settings, parts),
        *_issue_jobs(settings, store, parts.jobs, scores, clock),
        *_judge_jobs(parts.jobs, store, clock),
    ]
    if Role.ANALYST not in roles:
        jobs = [job for job in jobs if job.name in OF_EVERY_ROLE]
    return [_gives_way(job, pipeline) if job.is_long else job for job in jobs]


def _reading_jobs(
    settings: Settings,
    store: Store,
    parts: CoreParts,
    pipeline: Pipeline,
    scores: ScoreMetrics,
    clock: Clock,
) -> list[Job]:
    """Those that read much of the store."""
    jobs = [
        Job(name="watch", every_seconds=WATCH_SECONDS, function=parts.jobs.watch.run),
        _delta_job(settings, store, parts, scores, clock),
        Job(
            name="page_reads",
            every_seconds=PAGES_SECONDS,
            function=partial(_read_pages_ahead, store, clock),
            first_seconds=PAGES_FIRST_SECONDS,
        ),
    ]
    return [_gives_way(job, pipeline, READING_TURNS) for job in jobs]


def _read_pages_ahead(store: Store, clock: Clock) -> None:
    """Reads what costs most of the pages on which a night begins, before anybody opens them.

    What a page needs of the code is imported first.
    """
    from collector.claims.registry import registered
    from ragvigil.app.sources.operating import Operating
    from ragvigil.web.pages.frame import compile_templates
    from ragvigil.web.views.chrome import chrome

    now = int(clock())
    compile_templates()
    registered()
    read_ahead(store, now)
    chrome(store, now)
    Operating(store).points(now)


def _delta_job(
    settings: Settings, store: Store, parts: CoreParts, scores: ScoreMetrics, clock: Clock
) -> Job:
    job = DeltaJob(store, settings.alerts, failing=parts.runner.fails_below)

    def deltas() -> None:
        run = job.run(clock())
        scores.show(run.newest, run.late)

    return Job(name="deltas", every_seconds=DELTA_SECONDS, function=deltas)


def _rubric_jobs(settings: Settings, parts: CoreParts) -> list[Job]:
    accepted, patterns, every = parts.accepted, parts.jobs.deferred.patterns, ISSUES_SECONDS
    labelling = parts.jobs.deferred.labelling

    def learn_labels() -> None:
        labelling.learn()

    jobs = [
        Job(name="patterns", every_seconds=every, function=patterns.run, is_long=True),
        Job(name="label_bars", every_seconds=HOUR, function=learn_labels, is_long=True),
    ]
    if settings.store.url:  # an embedded store has one daemon, which knows what it accepted
        refresh = accepted.refresh
        jobs.append(Job(name="accepted_rubrics", every_seconds=every, function=refresh))
        read = labelling.refresh
        jobs.append(Job(name="label_bars_read", every_seconds=every, function=read))
    return jobs


def _slice_job(settings: Settings, store: Store, clock: Clock, watch: Watch) -> Job:
    job = SliceJob(store, settings.alerts.slices)

    def sum_slices() -> None:
        now = clock()
        # While the past is still being summed a slice has none.
        if job.run(now) < HOURS_AT_ONCE:
            watch.slices.look(now)

    return Job(name="slices", every_seconds=SLICES_SECONDS, function=sum_slices, is_long=True)


def _gives_way(job: Job, pipeline: Pipeline, turns: float = math.inf) -> Job:
    """The job, put off while the core is behind, at most `turns` times: new spans go first."""
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


def _upkeep_jobs(settings: Settings, store: Store, balance: SpanBalance) -> list[Job]:
    reserve = settings.store.disk_reserve_bytes
    disk = DiskReserve(partial(space_of, settings.data_dir), reserve, time.monotonic)

    def check_balance() -> None:
        metrics.LEDGER_MISMATCH.set(balance.mismatch())
        damage.set_aside(store)

    def drop_segments() -> None:
        balance.drop_segments(0.0 if disk.is_touched() else SEGMENT_GRACE_SECONDS)

    def apply_retention() -> None:
        retention.apply_days(store)
        for table, rows in retention.enforce_max_bytes(store).items():
            log.warning("store is full: oldest rows dropped", table=table, rows=rows)

    def show_bytes() -> None:
        retention.show_bytes(store)

    return [
        Job(name="store_bytes", every_seconds=SIZE_SECONDS, function=show_bytes),
        Job(name="books", every_seconds=BALANCE_SECONDS, function=check_balance),
        Job(name="segments", every_seconds=SEGMENTS_SECONDS, function=drop_segments),
        Job(name="retention", every_seconds=RETENTION_SECONDS, function=apply_retention),
    ]


def _question_jobs(jobs: Jobs) -> list[Job]:
    topics, golden = jobs.topics.run, jobs.golden.watch
    return [
        Job(name="topics", every_seconds=TOPICS_SECONDS, function=topics, is_long=True),
        Job(name="golden", every_seconds=GOLDEN_SECONDS, function=golden, is_long=True),
    ]


def _issue_jobs(
    settings: Settings, store: Store, jobs: Jobs, scores: ScoreMetrics, clock: Clock
) -> list[Job]:
    if not settings.clustering.enabled:
        return []
    issues = jobs.issues

    def merge_at_night() -> None:
        # The job runs every hour: one run a day falls into this hour (UTC).
        if clock() // HOUR % 24 == MERGE_HOUR:
            issues.propose()

    def gauges() -> None:
        url = settings.web.external_url
        retired = jobs.calibration.retired()
        issue_gauges.show(store, issues.issues(), scores.place, clock(), url, retired)

    return [
        Job(name="issue_gauges", every_seconds=ISSUES_SECONDS, function=gauges),
        Job(name="issues", every_seconds=ISSUES_SECONDS, function=issues.run, is_long=True),
        Job(name="clusters", every_seconds=CLUSTERS_SECONDS, function=issues.cluster, is_long=True),
        Job(
            name="root_causes",
            every_seconds=ISSUES_SECONDS,
            function=jobs.root_causes.run,
        ),
        Job(name="merges", every_seconds=HOUR, function=merge_at_night, is_long=True),
    ]


def _judge_jobs(jobs: Jobs, store: Store, clock: Clock) -> list[Job]:
    deferred = jobs.deferred
    complaints = deferred.judge_complaints

    def read_boosts() -> None:
        deferred.judging.boosts = boosts.rates(store, clock())

    return [
        Job(
            name="calibration",
            every_seconds=JUDGE_SECONDS,
            function=jobs.calibration.show_metrics,
        ),
        Job(name="canary", every_seconds=CANARY_SECONDS, function=deferred.canary.run),
        Job(name="boosts", every_seconds=JUDGE_SECONDS, function=read_boosts),
        Job(name="complaints", every_seconds=JUDGE_SECONDS, function=complaints),
        Job(name="judge_pace", every_seconds=PACE_SECONDS, function=deferred.pace),
    ]
