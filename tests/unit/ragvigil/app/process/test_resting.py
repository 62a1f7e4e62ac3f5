"""Jobs rest while nothing arrives, and go on at once when something does."""

from __future__ import annotations

import pytest

from ragvigil.app.process.jobs import Job
from ragvigil.app.process.resting import QUIET_SECONDS, Quiet, resting

PERIOD = 15.0


class Daemon:
    """A clock, what has arrived, and a job of 15 seconds with one that never rests."""

    def __init__(self, arrived: int = 0) -> None:
        self.now, self.arrived = 1000.0, arrived
        self.runs = {"deltas": 0, "rollups": 0}
        quiet = Quiet(lambda: self.arrived, lambda: self.now)
        jobs = [
            Job(name=name, every_seconds=PERIOD, function=self._count(name)) for name in self.runs
        ]
        self.jobs = resting(jobs, quiet, lambda: self.now)

    def _count(self, name: str):  # type: ignore[no-untyped-def]
        def run() -> None:
            self.runs[name] += 1

        return run

    def passes(self, seconds: float) -> dict[str, int]:
        """Runs of each job in that time."""
        before = dict(self.runs)
        for _ in range(int(seconds / PERIOD)):
            self.now += PERIOD
            for job in self.jobs:
                job.function()
        return {name: self.runs[name] - before[name] for name in self.runs}


def test_a_daemon_to_which_nothing_was_ever_sent_rests_from_the_start() -> None:
    assert Daemon().passes(3000) == {"deltas": 5, "rollups": 200}


def test_the_longer_it_is_quiet_the_more_seldom_jobs_run() -> None:
    daemon = Daemon(arrived=5)
    daemon.passes(QUIET_SECONDS)
    runs = [daemon.passes(1800)["deltas"] for _ in range(4)]
    assert runs == sorted(runs, reverse=True)
    assert 8 <= runs[0] <= 18
    assert runs[-1] == 3


def test_what_arrives_wakes_every_job_for_a_quarter_of_an_hour() -> None:
    daemon = Daemon()
    daemon.passes(750)
    daemon.arrived = 1
    busy = daemon.passes(QUIET_SECONDS)
    assert busy["deltas"] >= busy["rollups"] - 1
    assert daemon.passes(750)["deltas"] <= 9


def test_a_daemon_that_starts_again_counts_as_busy() -> None:
    daemon = Daemon(arrived=5)
    assert daemon.passes(QUIET_SECONDS - PERIOD)["deltas"] == QUIET_SECONDS / PERIOD - 1


def test_what_comes_after_a_job_comes_in_quiet_times_only() -> None:
    called: list[float] = []
    job = Job(name="watch", every_seconds=PERIOD, function=lambda: None)
    for now, arrived in ((0.0, 0), (QUIET_SECONDS - 1, 1)):
        quiet = Quiet(lambda arrived=arrived: arrived, lambda: 0.0)  # type: ignore[misc]
        (resting_job,) = resting(
            [job],
            quiet,
            lambda: 0.0,
            afterwards=lambda now=now: called.append(now),  # type: ignore[misc]
        )
        resting_job.function()
    assert called == [0.0]


def test_a_failure_of_a_job_is_still_one() -> None:
    def fails() -> None:
        raise ValueError("broken")

    job = Job(name="watch", every_seconds=PERIOD, function=fails)
    (resting_job,) = resting([job], Quiet(lambda: 0, lambda: 0.0), lambda: 0.0)
    with pytest.raises(ValueError, match="broken"):
        resting_job.function()
