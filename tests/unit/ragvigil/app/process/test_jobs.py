"""A job that raises is counted and tried again; the others go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from threading import Event

import pytest
from prometheus_client import REGISTRY

from ragvigil.app.process import jobs
from ragvigil.app.process.jobs import Job, Schedule
from ragvigil.store.engine.errors import Unavailable
from tests.patience import PATIENCE_SECONDS

SOON = 0.01


def sample(name: str, job: str) -> float:
    return REGISTRY.get_sample_value(name, {"job": job}) or 0.0


def started(jobs: list[Job]) -> Schedule:
    schedule = Schedule(jobs)
    schedule.start()
    return schedule


def test_a_job_runs_again_and_again() -> None:
    runs: list[int] = []
    enough = Event()

    def count() -> None:
        runs.append(1)
        if len(runs) == 3:
            enough.set()

    schedule = started([Job(name="counts", every_seconds=SOON, function=count)])
    assert enough.wait(PATIENCE_SECONDS)
    schedule.stop()
    assert sample("ragvigil_job_seconds_count", "counts") >= 3
    assert sample("ragvigil_job_failures_total", "counts") == 0


def test_a_job_may_run_long_before_its_first_period_is_over() -> None:
    ran = Event()
    schedule = started([Job(name="soon", every_seconds=600, function=ran.set, first_seconds=SOON)])
    assert ran.wait(PATIENCE_SECONDS)
    schedule.stop()


def test_a_job_that_raises_is_counted_tried_again_and_holds_no_other_up() -> None:
    again, other = Event(), Event()
    tries: list[int] = []

    def fail() -> None:
        tries.append(1)
        if len(tries) == 2:
            again.set()
        raise RuntimeError("the store is away")

    before = sample("ragvigil_job_failures_total", "fails")
    schedule = started(
        [
            Job(name="fails", every_seconds=SOON, function=fail),
            Job(name="works", every_seconds=SOON, function=other.set),
        ]
    )
    assert again.wait(PATIENCE_SECONDS)
    assert other.wait(PATIENCE_SECONDS)
    schedule.stop()
    assert sample("ragvigil_job_failures_total", "fails") >= before + 2


def test_a_job_that_goes_on_failing_has_one_line_of_log_and_one_when_it_runs_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mended = Event()
    tries: list[int] = []

    def fail_three_times() -> None:
        tries.append(1)
        if len(tries) <= 3:
            raise RuntimeError("the store is away")
        if len(tries) == 6:
            mended.set()

    schedule = started([Job(name="mends", every_seconds=SOON, function=fail_three_times)])
    assert mended.wait(PATIENCE_SECONDS)
    schedule.stop()
    said = capsys.readouterr().out
    assert sample("ragvigil_job_failures_total", "mends") == 3
    assert (said.count("job failed"), said.count("job runs again")) == (1, 1)


def failing(errors: list[Exception], done: Event) -> Callable[[], None]:
    """A function that raises these one after the other, and then no more."""

    def run() -> None:
        if errors:
            raise errors.pop(0)
        done.set()

    return run


def test_a_store_that_is_away_has_one_line_however_many_jobs_need_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    away = Unavailable("nobody listens")
    ends = {"one": Event(), "two": Event()}
    schedule = started(
        [
            Job(name=name, every_seconds=SOON, function=failing([away] * 3, done))
            for name, done in ends.items()
        ]
    )
    assert all(done.wait(PATIENCE_SECONDS) for done in ends.values())
    schedule.stop()
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "jobs wait" in line)
    assert "nobody listens" in line
    assert "Traceback" not in line
    assert all(sample("ragvigil_job_failures_total", name) == 3 for name in ends)


def test_another_outage_has_another_line_and_so_has_a_fault_of_the_job_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "AWAY_SECONDS", 0.0)
    done, away = Event(), Unavailable("nobody listens")
    fails = failing([away, away, RuntimeError("its own")], done)
    schedule = started([Job(name="both", every_seconds=SOON, function=fails)])
    assert done.wait(PATIENCE_SECONDS)
    other = Event()
    schedule.stop()
    schedule = started([Job(name="next", every_seconds=SOON, function=failing([away], other))])
    assert other.wait(PATIENCE_SECONDS)
    schedule.stop()
    said = capsys.readouterr().out
    lines = [said.count(line) for line in ("jobs wait", "job failed", "job runs again")]
    assert lines == [2, 1, 2]


def test_a_job_that_takes_longer_than_its_period_never_runs_beside_itself() -> None:
    inside: list[int] = []
    most: list[int] = []
    enough, pause = Event(), Event()

    def slow() -> None:
        inside.append(1)
        most.append(len(inside))
        pause.wait(5 * SOON)
        inside.pop()
        if len(most) == 3:
            enough.set()

    schedule = started([Job(name="slow", every_seconds=SOON, function=slow)])
    assert enough.wait(PATIENCE_SECONDS)
    schedule.stop()
    assert max(most) == 1


def test_a_job_with_a_share_of_the_time_rests_after_a_run() -> None:
    began: list[float] = []
    enough = Event()

    def work() -> None:
        began.append(time.perf_counter())
        time.sleep(0.05)
        if len(began) == 3:
            enough.set()

    job = Job(name="rests", every_seconds=SOON, function=work, runs_at_stop=True, most_share=0.25)
    schedule = started([job])
    assert enough.wait(PATIENCE_SECONDS)
    schedule.stop()
    assert min(second - first for first, second in pairwise(began[:3])) >= 4 * 0.05
    # The run at the stop does not rest: what it writes would be missing.
    assert began[-1] - began[-2] < 4 * 0.05


def test_after_a_long_run_a_job_does_not_rest_for_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_REST_SECONDS", SOON)
    began: list[float] = []
    enough = Event()

    def work() -> None:
        began.append(time.perf_counter())
        time.sleep(0.05)
        if len(began) == 2:
            enough.set()

    a_thousand_times = Job(name="long", every_seconds=SOON, function=work, most_share=0.001)
    schedule = started([a_thousand_times])
    assert enough.wait(PATIENCE_SECONDS)
    schedule.stop()
    assert began[1] - began[0] < 1000 * 0.05


def test_a_run_that_is_left_out_is_counted_and_makes_no_line_of_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    goes_on = Event()

    def slow() -> None:
        goes_on.wait(PATIENCE_SECONDS)

    schedule = started([Job(name="stays", every_seconds=SOON, function=slow)])
    give_up = time.monotonic() + PATIENCE_SECONDS
    while sample("ragvigil_jobs_skipped_total", "stays") < 3 and time.monotonic() < give_up:
        time.sleep(SOON)
    goes_on.set()
    schedule.stop()
    assert sample("ragvigil_jobs_skipped_total", "stays") >= 3
    captured = capsys.readouterr()
    assert "skipped" not in captured.out + captured.err


def test_a_job_that_runs_at_stop_does_its_last_duty_though_another_one_fails() -> None:
    done: list[str] = []

    def fail() -> None:
        raise RuntimeError("the store is away")

    jobs = [
        Job(name="fails_last", every_seconds=3600, function=fail, runs_at_stop=True),
        Job(
            name="last", every_seconds=3600, function=lambda: done.append("last"), runs_at_stop=True
        ),
        Job(name="not_last", every_seconds=3600, function=lambda: done.append("not last")),
    ]
    started(jobs).stop()
    assert done == ["last"]


def test_the_stop_waits_for_a_job_under_way() -> None:
    began, done = Event(), list[str]()

    def slow() -> None:
        began.set()
        Event().wait(10 * SOON)
        done.append("done")

    schedule = started([Job(name="slow_at_stop", every_seconds=SOON, function=slow)])
    assert began.wait(PATIENCE_SECONDS)
    schedule.stop()
    assert done


@pytest.mark.parametrize("stops", [Schedule.end, lambda schedule: schedule.stop(SOON)])
def test_a_job_that_the_stop_cuts_short_has_not_failed(
    stops: Callable[[Schedule], None], capsys: pytest.CaptureFixture[str]
) -> None:
    began, store_closes, ended = Event(), Event(), Event()

    def long() -> None:
        began.set()
        store_closes.wait(PATIENCE_SECONDS)
        ended.set()
        raise RuntimeError("the store has closed")

    schedule = started([Job(name="long_at_stop", every_seconds=SOON, function=long)])
    assert began.wait(PATIENCE_SECONDS)
    stops(schedule)
    store_closes.set()
    assert ended.wait(PATIENCE_SECONDS)
    schedule.stop(SOON)
    assert sample("ragvigil_job_failures_total", "long_at_stop") == 0
    assert "error" not in capsys.readouterr().out
