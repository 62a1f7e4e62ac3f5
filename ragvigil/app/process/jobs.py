"""Runs periodic jobs: name, period and function; each is safe to run twice."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from prometheus_client import Counter, Histogram

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

log = structlog.get_logger()

JOB_FAILURES = Counter("ragvigil_job_failures", "Runs of a periodic job that raised.", ["job"])
JOBS_PUT_OFF = Counter(
    "ragvigil_jobs_put_off",
    "Runs of a periodic job that were put off while the core was behind.",
    ["job"],
)
JOB_SECONDS = Histogram("ragvigil_job_seconds", "Duration of a periodic job.", ["job"])

LEAST_SECONDS = 1.0
"""The shortest period of a job, however fast the daemon's clock runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A periodic job.

    `runs_at_stop`: it runs once more when the schedule has ended. `is_long`: it may take minutes,
    and runs on threads of its own, so that short jobs do not wait for it.
    """

    name: str
    every_seconds: float
    function: Callable[[], object]
    runs_at_stop: bool = False
    is_long: bool = False


def start(jobs: list[Job], factor: float = 1.0) -> BackgroundScheduler:
    """Starts the scheduler; a job that was due while the process was busy runs late, and once.

    `factor` is how much faster than the machine's clock the daemon's clock runs.
    """
    from apscheduler.executors.pool import ThreadPoolExecutor
    from apscheduler.schedulers.background import BackgroundScheduler

    scheduler = BackgroundScheduler(
        # Without a grace time no late run is dropped; `coalesce` makes one of several.
        executors={"default": ThreadPoolExecutor(2), "long": ThreadPoolExecutor(3)},
        job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
        timezone="UTC",
    )
    for job in jobs:
        scheduler.add_job(
            _counted(job),
            "interval",
            seconds=_period(job, factor),
            id=job.name,
            executor="long" if job.is_long else "default",
        )
    scheduler.start()
    return scheduler


def stop_jobs(scheduler: BackgroundScheduler, jobs: list[Job]) -> None:
    """Ends the schedule without waiting for jobs under way; then runs those with `runs_at_stop`."""
    scheduler.shutdown(wait=False)
    for job in jobs:
        if job.runs_at_stop:
            _counted(job)()


def _period(job: Job, factor: float) -> float:
    return job.every_seconds if factor == 1 else max(LEAST_SECONDS, job.every_seconds / factor)


def _counted(job: Job) -> Callable[[], None]:
    def run() -> None:
        started = time.perf_counter()
        try:
            job.function()
        except Exception:  # the border of a job: counted, and run again after its period
            JOB_FAILURES.labels(job.name).inc()
            log.exception("job failed", job=job.name)
        JOB_SECONDS.labels(job.name).observe(time.perf_counter() - started)

    return run
