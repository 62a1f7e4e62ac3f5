"""Scoring in other processes: the same rows and counts, and nothing lost with one of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collector.settings import CollectorSettings, RouteSettings
from ragvigil.app.pipeline import loop as pipeline
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.pool import IDLE_SECONDS, JOB_SECONDS, PATIENCE_SECONDS
from ragvigil.model.span import Closed
from ragvigil.store.engine.store import Store
from tests.pipelines import Core, answer, span

TRACES = 40
QUIET = 3.0
START_SECONDS = 60.0


@pytest.fixture(autouse=True)
def always_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core that is behind whenever a few traces wait, and gives small jobs away."""
    monkeypatch.setattr(pipeline, "BEHIND_CLOSINGS", 4)
    monkeypatch.setattr(pipeline, "JOB_CLOSINGS", 8)


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    born = await Core.born(tmp_path, store, processes=1)
    yield born
    signal_helpers(signal.SIGCONT)
    born.loop.pool.stop()
    await born.spool.close()


async def send(core: Core, first: int = 1, traces: int = TRACES) -> None:
    for number in range(first, first + traces):
        await core.send(number, answer(f"Within {number} days. [refund-01]"))


def have_helpers(core: Core) -> None:
    """Waits until a process is ready, as a core does that has been behind for long."""
    pool = core.loop.pool
    pool.helps(core.now, is_behind=True)
    deadline = time.monotonic() + START_SECONDS
    while not pool.helps(core.now + PATIENCE_SECONDS, is_behind=True):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def close_all(core: Core) -> None:
    """Everything that was sent closes; nothing of it is scored yet."""
    core.pipeline.step()
    while core.pipeline.step():
        core.now += 0.001
    core.now += QUIET


def finish(core: Core) -> None:
    """Works until nothing is to do, and waits for what others do."""
    pool = core.loop.pool
    while core.pipeline.step() or list(pool.closings()):
        core.now += 0.001
    core.pass_time(0.1)


def signal_helpers(number: signal.Signals) -> None:
    for child in multiprocessing.active_children():
        assert child.pid is not None
        os.kill(child.pid, number)


async def put_in_work(core: Core) -> None:
    """A job is in work, and stays there until the processes are woken."""
    have_helpers(core)
    await send(core)
    close_all(core)
    signal_helpers(signal.SIGSTOP)
    core.pipeline.step()
    assert list(core.loop.pool.closings())


def given(core: Core) -> list[int]:
    """How many closings were given away, job by job; from now on."""
    numbers: list[int] = []
    give = core.loop.pool.give

    def counting(job: Any, now: float) -> None:
        numbers.append(len(job.unscored))
        give(job, now)

    core.loop.pool.give = counting  # type: ignore[method-assign]
    return numbers


async def test_others_make_the_same_rows_and_counts_as_the_core(core: Core) -> None:
    have_helpers(core)
    numbers, lean = given(core), metrics.LEAN._value.get()
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
    assert len(same) == 1, "traces that differ in a number only are scored alike, whoever does it"


async def test_what_is_lost_with_a_process_is_scored_in_the_core(core: Core) -> None:
    before = metrics.REDONE._value.get()
    await put_in_work(core)
    signal_helpers(signal.SIGKILL)
    finish(core)
    assert metrics.REDONE._value.get() > before
    assert core.balance.mismatch() == 0
    assert core.balance.spans()["stored"] == 3 * TRACES
    assert core.balance.records()["scored"] == TRACES


async def test_a_process_that_never_answers_is_ended(core: Core) -> None:
    await put_in_work(core)
    core.now += JOB_SECONDS + 1
    finish(core)
    assert core.balance.mismatch() == 0
    assert core.balance.records()["scored"] == TRACES


async def test_a_checkpoint_does_not_pass_what_is_in_work(core: Core) -> None:
    await put_in_work(core)
    pool = core.loop.pool
    core.pipeline._checkpoint(float("inf"))
    oldest = pool.oldest_seq()
    assert oldest is not None
    assert core.loop.reader.checkpoint_of("core") < oldest
    signal_helpers(signal.SIGCONT)
    finish(core)
    assert pool.oldest_seq() is None


async def test_change_notices_wait_for_what_is_in_work(core: Core) -> None:
    noticing = core.loop.noticing
    await put_in_work(core)
    assert noticing.is_held
    signal_helpers(signal.SIGCONT)
    finish(core)
    assert not noticing.is_held


async def test_a_late_span_finds_the_generation_that_is_still_in_work(core: Core) -> None:
    await put_in_work(core)
    (closing, _), *_ = core.loop.pool.closings()
    signal_helpers(signal.SIGCONT)
    known = core.pipeline._lookup([closing.trace_id])
    assert known[closing.trace_id].generation == len(closing.refs)
    finish(core)


async def test_a_late_span_does_not_wait_for_a_process_that_never_answers(core: Core) -> None:
    await put_in_work(core)
    (closing, _), *_ = core.loop.pool.closings()
    core.now += JOB_SECONDS + 1
    known = core.pipeline._lookup([closing.trace_id])
    assert known[closing.trace_id].generation == len(closing.refs)
    finish(core)
    assert core.balance.records()["scored"] == TRACES


async def test_two_generations_of_one_trace_are_never_in_one_job(core: Core) -> None:
    await send(core, traces=2)
    close_all(core)
    closed = core.pipeline._backlog
    closed.extend(core.loop.assemblies.close_due(core.now))
    again = replace(closed[0], reason=Closed.LATE_SPAN)
    closed.append(again)
    assert len(core.pipeline._next_batch(9)) == 2
    assert core.pipeline._next_batch(9) == [again]


async def test_feedback_that_others_find_is_counted_and_stored(core: Core) -> None:
    have_helpers(core)
    before, numbers = metrics.FEEDBACK._value.get(), given(core)
    root, *others = answer()
    thumbs = {"annotations.0.annotation.name": "thumbs", "annotations.0.annotation.label": "down"}
    for number in range(1, TRACES + 1):
        await core.send(number, [span(root.span_id, {**root.attributes, **thumbs}), *others])
    close_all(core)
    finish(core)
    assert numbers
    assert metrics.FEEDBACK._value.get() - before == TRACES
    assert len(core.rows("feedback")) == TRACES


async def test_routes_that_have_no_room_are_named_by_the_core(tmp_path: Path, store: Store) -> None:
    routes = CollectorSettings(routes=RouteSettings(max_routes=2))
    core = await Core.born(tmp_path, store, processes=1, collector=routes)
    have_helpers(core)
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


async def test_processes_come_when_it_lasts_and_go_when_it_is_over(core: Core) -> None:
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


async def test_none_ever_comes_where_none_is_wanted(tmp_path: Path, store: Store) -> None:
    core = await Core.born(tmp_path, store, processes=0)
    await send(core)
    close_all(core)
    finish(core)
    assert core.balance.records()["scored"] == TRACES
    assert not core.loop.pool.helps(core.now + 1e6, is_behind=True)
    await core.spool.close()


async def test_processes_that_cannot_begin_are_not_tried_again(
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
    monkeypatch.setattr(pipeline, "TURN_BYTES", 1)
    have_helpers(core)
    numbers = given(core)
    await send(core)
    close_all(core)
    finish(core)
    assert set(numbers) == {1}
    assert core.balance.records()["scored"] == TRACES
