"""Runs periodic jobs: name, period and function; each is safe to run twice."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import structlog
from prometheus_client import Counter, Histogram

from ragvigil.model.clock import Clock
from ragvigil.store.engine.errors import Unavailable

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

log = structlog.get_logger()

JOB_FAILURES = Counter("ragvigil_job_failures", "Runs of a periodic job that raised.", ["job"])
JOBS_PUT_OFF = Counter(
    "ragvigil_jobs_put_off",
    "Runs of a periodic job that were put off while the core was behind.",
    ["job"],
)
JOBS_SKIPPED = Counter(
    "ragvigil_jobs_skipped",
    "Runs of a periodic job that were left out, because the one before still ran.",
    ["job"],
)
JOB_SECONDS = Histogram("ragvigil_job_seconds", "Duration of a periodic job.", ["job"])

LEAST_SECONDS = 1.0
"""The shortest period of a job, however fast the daemon's clock runs."""
MOST_REST_SECONDS = 8.0
"""After a run that caught up with hours the next one must not wait for minutes."""
STOP_SECONDS = 5.0
"""How long the end of the schedule waits for jobs under way."""
AWAY_SECONDS = 600.0
"""That the store is away is said once in so long, though every job that reads it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A periodic job.

    `runs_at_stop`: it runs once more when the schedule has ended. `is_long`: it may take minutes,
    and runs on threads of its own, so that short jobs do not wait for it. `most_share`: after a run
    it rests until it has taken only this share of the time, MOST_REST_SECONDS at most.
    `first_seconds`: it first runs so long after the start of the schedule; else after a period.
    """

    name: str
    every_seconds: float
    function: Callable[[], object]
    runs_at_stop: bool = False
    is_long: bool = False
    most_share: float = 1.0
    first_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """A job and its last run: when it ended, UTC, how long it took, and whether it failed."""

    name: str
    every_seconds: float
    runs: int = 0
    failures: int = 0
    last: datetime | None = None
    seconds: float | None = None
    has_failed: bool = False


class Schedule:
    """Runs jobs by the clock until `stop`; a job that was due while the process was busy runs late,
    and once.

    `factor` is how much faster than the machine's clock the daemon's clock runs; `clock` is that.
    """

    def __init__(self, jobs: Sequence[Job], factor: float = 1.0, clock: Clock = time.time) -> None:
        self._jobs, self._clock = jobs, clock
        self._last = {
            job.name: JobRun(name=job.name, every_seconds=job.every_seconds) for job in jobs
        }
        self._rests_until: dict[str, float] = {}
        # Failures that have their line: the job, and whether the store was away.
        self._said: set[tuple[str, bool]] = set()
        self._away = float("-inf")
        self._changed = threading.Condition()
        self._running, self._is_stopping = 0, False
        self._scheduler = _scheduler()
        for job in jobs:
            JOBS_SKIPPED.labels(job.name)  # at 0 from the start: the first one is an increase
            self._scheduler.add_job(
                partial(self._run_in_turn, job),
                "interval",
                seconds=_period(job, factor),
                id=job.name,
                name=job.name,
                executor="long" if job.is_long else "default",
                **_first_run(job),
            )

    def runs(self) -> list[JobRun]:
        """The last run of every job; safe from any thread."""
        return list(self._last.values())

    def start(self) -> None:
        """Starts the clock."""
        self._scheduler.start()

    def end(self) -> None:
        """Begins no further job. One under way may find closed what it needs from now on: that is
        no failure of the job."""
        with self._changed:
            self._is_stopping = True
        self._scheduler.shutdown(wait=False)

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Ends the schedule, waits up to `seconds` for jobs under way, runs those of the stop."""
        if not self._is_stopping:
            self.end()
        with self._changed:
            self._changed.wait_for(lambda: not self._running, seconds)
        for job in self._jobs:
            if job.runs_at_stop:
                _run(job, _failed_at_stop)

    def _run_in_turn(self, job: Job) -> None:
        if time.perf_counter() < self._rests_until.get(job.name, 0.0):
            return
        with self._changed:
            if self._is_stopping:  # it waited for a thread when the schedule ended
                return
            self._running += 1
        began = time.perf_counter()
        is_done = False
        try:
            is_done = _run(job, self._failed)
        finally:
            ended = time.perf_counter()
            rest = (ended - began) * (1 / job.most_share - 1)
            self._rests_until[job.name] = ended + min(rest, MOST_REST_SECONDS)
            self._note(job, ended - began, is_done)
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _note(self, job: Job, seconds: float, is_done: bool) -> None:
        before = self._last[job.name]
        said = self._said & {(job.name, True), (job.name, False)}
        if is_done and said:
            self._said -= said
            log.info("job runs again", job=job.name)
        self._last[job.name] = replace(
            before,
            runs=before.runs + 1,
            failures=before.failures + (not is_done),
            last=datetime.fromtimestamp(self._clock(), UTC),
            seconds=seconds,
            has_failed=not is_done,
        )

    def _failed(self, job: Job, error: Exception) -> None:
        if self._is_stopping:
            log.info("job cut short by the stop", job=job.name, reason=str(error))
            return
        JOB_FAILURES.labels(job.name).inc()
        is_away = isinstance(error, Unavailable)
        failure = (job.name, is_away)
        with self._changed:
            now = time.perf_counter()
            # One line until it runs again; the counter has each.
            if failure in self._said or (is_away and now - self._away < AWAY_SECONDS):
                return
            self._said.add(failure)
            self._away = now if is_away else self._away
        if is_away:
            log.warning("the store is away, jobs wait for it", job=job.name, reason=str(error))
        else:
            log.error("job failed", job=job.name, exc_info=error)


def _scheduler() -> BackgroundScheduler:
    # A job that takes longer than its period is counted: a line for each run would be hundreds.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    from apscheduler.events import EVENT_JOB_MAX_INSTANCES
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.schedulers.background import BackgroundScheduler

    scheduler = BackgroundScheduler(
        # Without a grace time no late run is dropped; `coalesce` makes one of several.
        executors={"default": ThreadPoolExecutor(2), "long": ThreadPoolExecutor(3)},
        job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        timezone="UTC",
    )
    scheduler.add_listener(
        lambda event: JOBS_SKIPPED.labels(event.job_id).inc(), EVENT_JOB_MAX_INSTANCES
    )
    return scheduler


def _first_run(job: Job) -> dict[str, datetime]:
    """When it is to run first, as the scheduler takes it; empty for a period from now."""
    if job.first_seconds is None:
        return {}
    return {"next_run_time": datetime.now(UTC) + timedelta(seconds=job.first_seconds)}


def _period(job: Job, factor: float) -> float:
    return job.every_seconds if factor == 1 else max(LEAST_SECONDS, job.every_seconds / factor)


def _run(job: Job, failed: Callable[[Job, Exception], None]) -> bool:
    """Whether it ended without an error."""
    started = time.perf_counter()
    is_done = True
    try:
        job.function()
    except Exception as error:  # the border of a job: counted, and run again after its period
        is_done = False
        failed(job, error)
    JOB_SECONDS.labels(job.name).observe(time.perf_counter() - started)
    return is_done


def _failed_at_stop(job: Job, error: Exception) -> None:
    JOB_FAILURES.labels(job.name).inc()
    log.error("job failed", job=job.name, exc_info=error)
