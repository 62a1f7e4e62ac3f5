"""Workers make the same rows and counts as the core, and nothing is lost with one of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collector.settings import CollectorSettings, RouteSettings
from ragvigil.app.pipeline import backlog, metrics
from ragvigil.app.pipeline import loop as pipeline
from ragvigil.app.pipeline.pool import IDLE_SECONDS, PATIENCE_SECONDS
from ragvigil.app.process.heartbeat import Heartbeat
from ragvigil.model.span import Closed
from ragvigil.store.engine.store import Store
from scorers.settings import ScorersSettings
from tests.pipelines import Core, answer, span

TRACES = 40
QUIET = 3.0
START_SECONDS = 300.0
HALF_AN_ANSWER = """
import os, sys, time
frame = sys._getframe()
while "result_queue" not in frame.f_locals:
    frame = frame.f_back
os.write(frame.f_locals["result_queue"]._writer.fileno(), (4096).to_bytes(4) + b"half")
open({!r}, "w").close()
time.sleep(1000)
"""
"""What a worker does that is ended while it writes a result of 4,096 bytes."""


@pytest.fixture(autouse=True)
def always_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the core count as behind when a few traces wait, and its jobs small."""
    monkeypatch.setattr(pipeline, "BEHIND_CLOSINGS", 4)
    monkeypatch.setattr(pipeline, "JOB_CLOSINGS", 8)


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    born = await Core.born(tmp_path, store, processes=1)
    yield born
    signal_workers(signal.SIGCONT)
    born.loop.pool.stop()
    await born.spool.close()


async def send(core: Core, first: int = 1, traces: int = TRACES) -> None:
    for number in range(first, first + traces):
        await core.send(number, answer(f"Within {number} days. [refund-01]"))


def start_workers(core: Core) -> None:
    """Waits until a worker is ready, as in a core that has been behind for long."""
    pool = core.loop.pool
    pool.helps(core.now, is_behind=True)
    deadline = time.monotonic() + START_SECONDS
    while not pool.helps(core.now + PATIENCE_SECONDS, is_behind=True):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def close_all(core: Core) -> None:
    """Closes every trace that was sent; none is scored yet."""
    core.pipeline.step()
    while core.pipeline.step():
        core.now += 0.001
    core.now += QUIET


def finish(core: Core) -> None:
    """Steps until nothing is left to do, and waits for the workers.

    The steps are many while a worker is slow: together they may not take as long as a stall.
    """
    pool = core.loop.pool
    while core.pipeline.step() or list(pool.closings()):
        core.now += 1e-6
    core.pass_time(0.1)


def signal_workers(number: signal.Signals) -> None:
    for child in multiprocessing.active_children():
        assert child.pid is not None
        os.kill(child.pid, number)


async def put_in_work(core: Core) -> None:
    """A job is in work, and stays there until the processes are woken."""
    start_workers(core)
    await send(core)
    close_all(core)
    signal_workers(signal.SIGSTOP)
    core.pipeline.step()
    assert list(core.loop.pool.closings())


def job_sizes(core: Core) -> list[int]:
    """The number of closings in each job that is given from now on."""
    numbers: list[int] = []
    give = core.loop.pool.give

    def counting(job: Any, now: float, *, is_large: bool = False) -> bool:
        numbers.append(len(job.unscored))
        return give(job, now, is_large=is_large)

    core.loop.pool.give = counting  # type: ignore[method-assign]
    return numbers


async def test_workers_make_the_same_rows_and_counts_as_the_core(core: Core) -> None:
    start_workers(core)
    numbers, lean = job_sizes(core), metrics.LEAN._value.get()
    await send(core)
    close_all(core)
    finish(core)
    assert len(numbers) >= 2
    assert metrics.LEAN._value.get() - lean >= sum(numbers)
    assert core.balance.mismatch() == 0
    assert core.balance.spans()["stored"] == 3 * TRACES
    assert core.balance.records()["scored"] == TRACES
    assert len(core.rows("records")) == TRACES
    assert {row["answer"] for row in core.rows("records")} == {
        f"Within {number} days. [refund-01]" for number in range(1, TRACES + 1)
    }
    by_record: dict[str, set[str]] = {}
    for row in core.rows("scores"):
        by_record.setdefault(row["trace_id"], set()).add(
            f"{row['rubric']} {row['value']} {row['label']} {row['segment']} {row['failed']}"
        )
    same = {tuple(sorted(scores)) for scores in by_record.values()}
    assert len(same) == 1, "core and worker score traces alike that differ in a number only"


async def test_a_job_lost_with_its_worker_is_scored_in_the_core(core: Core) -> None:
    before = metrics.REDONE._value.get()
    await put_in_work(core)
    signal_workers(signal.SIGKILL)
    finish(core)
    assert metrics.REDONE._value.get() > before
    assert core.balance.mismatch() == 0
    assert core.balance.spans()["stored"] == 3 * TRACES
    assert core.balance.records()["scored"] == TRACES


@pytest.mark.slow
async def test_the_traces_of_a_lost_job_are_scored_one_by_one(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put_in_work(core)
    in_work = {closing.trace_id for closing, _ in core.loop.pool.closings()}
    alone: set[str] = set()
    scores = Heartbeat.scores

    def noted(heartbeat: Heartbeat, trace_ids: Sequence[str]) -> AbstractContextManager[None]:
        alone.update(trace_ids if len(trace_ids) == 1 else ())
        return scores(heartbeat, trace_ids)

    monkeypatch.setattr(Heartbeat, "scores", noted)
    signal_workers(signal.SIGKILL)
    finish(core)
    assert in_work <= alone


@pytest.mark.slow
async def test_a_worker_that_never_answers_is_ended(core: Core) -> None:
    await put_in_work(core)
    core.now += ScorersSettings().stall_seconds + 1
    finish(core)
    assert core.balance.mismatch() == 0
    assert core.balance.records()["scored"] == TRACES


@pytest.mark.slow
async def test_a_worker_that_ends_within_its_answer_loses_no_job(
    core: Core, tmp_path: Path
) -> None:
    start_workers(core)
    executor = core.loop.pool._executor
    assert executor is not None
    executor.submit(exec, HALF_AN_ANSWER.format(str(tmp_path / "half")))
    await send(core)
    close_all(core)
    core.pipeline.step()
    assert list(core.loop.pool.closings())
    while not (tmp_path / "half").exists():
        time.sleep(0.01)
    core.now += ScorersSettings().stall_seconds + 1
    deadline = time.monotonic() + 30
    while core.pipeline.step() or list(core.loop.pool.closings()):
        assert time.monotonic() < deadline, "the job never comes back"
        core.now += 0.001
    core.pass_time(0.1)
    assert core.balance.mismatch() == 0
    assert core.balance.records()["scored"] == TRACES


@pytest.mark.slow
async def test_a_job_lost_with_earlier_workers_does_not_end_those_of_now(core: Core) -> None:
    await put_in_work(core)
    core.loop.pool._end()
    start_workers(core)
    workers = {child.pid for child in multiprocessing.active_children()}
    finish(core)
    assert workers <= {child.pid for child in multiprocessing.active_children()}
    assert core.balance.records()["scored"] == TRACES


async def test_the_checkpoint_does_not_pass_a_job_in_work(core: Core) -> None:
    await put_in_work(core)
    pool = core.loop.pool
    core.pipeline._checkpoint(float("inf"))
    oldest = pool.oldest_seq()
    assert oldest is not None
    assert core.loop.reader.checkpoint_of("core").seq < oldest
    signal_workers(signal.SIGCONT)
    finish(core)
    assert pool.oldest_seq() is None


@pytest.mark.slow
async def test_change_notices_wait_for_jobs_in_work(core: Core) -> None:
    noticing = core.loop.noticing
    await put_in_work(core)
    assert noticing.is_held
    signal_workers(signal.SIGCONT)
    finish(core)
    assert not noticing.is_held


async def test_a_late_span_finds_the_generation_that_is_still_in_work(core: Core) -> None:
    await put_in_work(core)
    (closing, _), *_ = core.loop.pool.closings()
    signal_workers(signal.SIGCONT)
    core.pipeline._flush([closing.trace_id])
    stored = core.pipeline._parts.lookup([closing.trace_id])
    assert stored[closing.trace_id].generation == len(closing.refs)
    finish(core)


@pytest.mark.slow
async def test_a_late_span_does_not_wait_for_a_worker_that_never_answers(core: Core) -> None:
    await put_in_work(core)
    (closing, _), *_ = core.loop.pool.closings()
    core.now += ScorersSettings().stall_seconds + 1
    core.pipeline._flush([closing.trace_id])
    stored = core.pipeline._parts.lookup([closing.trace_id])
    assert stored[closing.trace_id].generation == len(closing.refs)
    finish(core)
    assert core.balance.records()["scored"] == TRACES


async def test_two_generations_of_one_trace_are_never_in_one_job(core: Core) -> None:
    await send(core, traces=2)
    close_all(core)
    closed = core.loop.assemblies.close_due(core.now)
    again = replace(closed[0], reason=Closed.LATE_SPAN)
    waiting = core.pipeline._backlog
    waiting.add([*closed, again])
    assert len(waiting.next_batch(9)) == 2
    assert waiting.next_batch(9) == [again]


async def test_feedback_that_a_worker_finds_is_counted_and_stored(core: Core) -> None:
    start_workers(core)
    before, numbers = metrics.FEEDBACK._value.get(), job_sizes(core)
    root, *others = answer()
    thumbs = {"annotations.0.annotation.name": "thumbs", "annotations.0.annotation.label": "down"}
    for number in range(1, TRACES + 1):
        await core.send(number, [span(root.span_id, {**root.attributes, **thumbs}), *others])
    close_all(core)
    finish(core)
    assert numbers
    assert metrics.FEEDBACK._value.get() - before == TRACES
    assert len(core.rows("feedback")) == TRACES


@pytest.mark.slow
async def test_routes_that_have_no_room_are_named_by_the_core(tmp_path: Path, store: Store) -> None:
    routes = CollectorSettings(routes=RouteSettings(max_routes=2))
    core = await Core.born(tmp_path, store, processes=1, collector=routes)
    start_workers(core)
    for number in range(1, 25):
        root, *others = answer()
        path = {**root.attributes, "http.route": f"/{'abcdefgh'[number % 8]}"}
        await core.send(number, [span(root.span_id, path), *others])
    close_all(core)
    finish(core)
    assert len({row["route"] for row in core.rows("records")}) <= 3
    assert core.balance.records()["scored"] == 24
    core.loop.pool.stop()
    await core.spool.close()


async def test_workers_start_after_a_second_behind_and_end_after_a_quiet_minute(core: Core) -> None:
    pool = core.loop.pool
    pool.helps(10.0, is_behind=True)
    pool.helps(10.0 + PATIENCE_SECONDS / 2, is_behind=True)
    assert metrics.SCORING_PROCESSES._value.get() == 0
    pool.helps(10.0 + PATIENCE_SECONDS, is_behind=True)
    assert metrics.SCORING_PROCESSES._value.get() == 1
    pool.helps(20.0, is_behind=False)
    assert metrics.SCORING_PROCESSES._value.get() == 1
    pool.helps(10.0 + PATIENCE_SECONDS + IDLE_SECONDS, is_behind=False)
    assert metrics.SCORING_PROCESSES._value.get() == 0


async def test_no_worker_starts_where_the_setting_is_zero(tmp_path: Path, store: Store) -> None:
    core = await Core.born(tmp_path, store, processes=0)
    await send(core)
    close_all(core)
    finish(core)
    assert core.balance.records()["scored"] == TRACES
    assert not core.loop.pool.helps(core.now + 1e6, is_behind=True)
    await core.spool.close()


async def test_workers_that_cannot_start_are_not_tried_again(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = core.loop.pool
    monkeypatch.setattr(pool, "_begin", ())  # too few arguments: no process begins
    pool.helps(core.now, is_behind=True)
    pool.helps(core.now + PATIENCE_SECONDS, is_behind=True)
    deadline = time.monotonic() + START_SECONDS
    while metrics.SCORING_PROCESSES._value.get():
        assert not pool.helps(core.now + PATIENCE_SECONDS, is_behind=True)
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not pool.helps(core.now + 1e6, is_behind=True)
    await send(core)
    close_all(core)
    finish(core)
    assert core.balance.records()["scored"] == TRACES


async def test_large_traces_make_small_jobs(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "TURN_BYTES", 1)
    start_workers(core)
    numbers = job_sizes(core)
    await send(core)
    close_all(core)
    finish(core)
    assert set(numbers) == {1}
    assert core.balance.records()["scored"] == TRACES


@pytest.mark.slow
async def test_a_large_trace_is_scored_by_a_worker_though_the_core_is_not_behind(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BEHIND_CLOSINGS", 10 * TRACES)
    monkeypatch.setattr(backlog, "LARGE_BYTES", 1)
    numbers, lean = job_sizes(core), metrics.LEAN._value.get()
    await send(core)
    close_all(core)
    core.pipeline.step()
    deadline = time.monotonic() + START_SECONDS
    while core.pipeline._backlog and time.monotonic() < deadline:
        core.pipeline.step()
        core.now += 0.1
        time.sleep(0.05)
    finish(core)
    assert numbers == [1] * TRACES
    assert core.balance.mismatch() == 0
    assert core.balance.records()["scored"] == TRACES
    assert metrics.LEAN._value.get() == lean


async def test_a_job_for_workers_that_are_gone_is_scored_in_the_core(core: Core) -> None:
    start_workers(core)
    await send(core)
    close_all(core)
    give = core.loop.pool.give

    def too_late(job: Any, now: float, *, is_large: bool = False) -> bool:
        core.loop.pool._end()
        return give(job, now, is_large=is_large)

    core.loop.pool.give = too_late  # type: ignore[method-assign]
    finish(core)
    assert core.balance.mismatch() == 0
    assert core.balance.records()["scored"] == TRACES
