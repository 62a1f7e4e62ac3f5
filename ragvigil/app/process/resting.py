"""Jobs that run seldom while nothing new is stored: a service sleeps at night, and so may we.

A job runs at its own period while anything has arrived in the last QUIET_SECONDS: scores of a judge
and late spans follow an answer within that time. After that it runs once in SELDOM periods, because
windows of time pass on without answers, too; and the more seldom, the longer it has been quiet, as
what windows then lose comes late by the same share of their age.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from ragvigil.app.process.jobs import Job
from ragvigil.model.clock import Clock

QUIET_SECONDS = 900.0
SELDOM, LEAST_SECONDS = 5, 60.0
"""While it is quiet, a job runs every fifth time, and at most once a minute."""
QUIET_SHARE, MOST_SECONDS = 0.1, 600.0
"""It pauses for this share of the time in which nothing has arrived, where that is longer."""
NEVER_REST = frozenset({"rollups", "segments", "retention"})
"""They cost nothing without new rows, or guard the disk."""


class Quiet:
    """For how long nothing has arrived. `arrived` is a number that grows with it.

    At 0 nothing has ever arrived. A daemon that begins with another number counts as busy.
    """

    def __init__(self, arrived: Callable[[], int], clock: Clock) -> None:
        self._arrived, self._clock = arrived, clock
        self._last = arrived()
        self._since = clock() if self._last else float("-inf")

    def __call__(self) -> bool:
        """Whether nothing has arrived for QUIET_SECONDS."""
        return self.seconds() >= QUIET_SECONDS

    def seconds(self) -> float:
        """Seconds since something arrived; infinite where nothing ever has."""
        number = self._arrived()
        if number != self._last:
            self._last, self._since = number, self._clock()
        return self._clock() - self._since


def resting(
    jobs: Iterable[Job],
    quiet: Quiet,
    clock: Clock,
    *,
    afterwards: Callable[[], object] = lambda: None,
    never: Collection[str] = NEVER_REST,
) -> list[Job]:
    """The same jobs, run seldom while it is quiet; those named in `never` always run.

    `afterwards` is called after a job that ran while it is quiet.
    """
    return [job if job.name in never else _resting(job, quiet, clock, afterwards) for job in jobs]


def _resting(job: Job, quiet: Quiet, clock: Clock, afterwards: Callable[[], object]) -> Job:
    ran = float("-inf")

    def run() -> None:
        nonlocal ran
        # A period is never met exactly: half of one less.
        pause = _pause_seconds(job, quiet.seconds()) - job.every_seconds / 2
        if quiet() and clock() - ran < pause:
            return
        ran = clock()
        try:
            job.function()
        finally:
            if quiet():
                afterwards()

    return replace(job, function=run)


def _pause_seconds(job: Job, quiet_seconds: float) -> float:
    """Seconds between two runs of a job while it has been quiet for so long."""
    longer = min(QUIET_SHARE * quiet_seconds, MOST_SECONDS)
    return max(SELDOM * job.every_seconds, LEAST_SECONDS, longer)
