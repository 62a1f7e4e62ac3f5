"""What the core ended in before is worked on alone, or left out with its spans counted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ragvigil.app.pipeline.backlog import LARGE_BYTES
from ragvigil.app.pipeline.sink import Sink
from ragvigil.app.process.heartbeat import Heartbeat, frame_unit, trace_unit
from ragvigil.app.process.suspects import CoreEnd, Suspects
from ragvigil.store.engine.store import Store
from scorers.runner import Runner
from tests.pipelines import Core, answer, trace_id

SPANS = len(answer())


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The numbers of the traces that were scored together."""
    scored: list[list[int]] = []
    scores = Heartbeat.scores

    def noted(heartbeat: Heartbeat, trace_ids: Sequence[str]) -> AbstractContextManager[None]:
        if trace_ids:  # none while scorers load what they load once
            scored.append([int(trace, 16) for trace in trace_ids])
        return scores(heartbeat, trace_ids)

    monkeypatch.setattr(Heartbeat, "scores", noted)
    return scored


def unit(number: int) -> str:
    return trace_unit(trace_id(number).hex())


async def test_a_suspect_is_scored_alone_and_in_its_turn(
    tmp_path: Path, store: Store, batches: list[list[int]]
) -> None:
    Suspects(tmp_path).blame([unit(2), unit(3)], CoreEnd.STALLED)
    core = await Core.born(tmp_path, store)
    for number in range(1, 6):
        await core.send(number, answer())
    core.pass_time(5)
    assert batches == [[1], [2], [3], [4, 5]]
    assert len(core.rows("traces")) == 5


async def test_what_kills_find_in_work_again_and_again_but_the_core_gets_through_is_kept(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = await Core.born(tmp_path, store)
    seq = await core.send(1, answer())
    intake = Suspects(tmp_path)
    with monkeypatch.context() as before_its_rows_are_sent:
        before_its_rows_are_sent.setattr(Sink, "advance", lambda *_, **__: False)
        before_its_rows_are_sent.setattr(Sink, "finish", lambda *_: None)
        for _ in range(6):
            assert intake.blame([frame_unit(seq)], CoreEnd.KILLED) == []
            assert intake.blame([unit(1)], CoreEnd.KILLED) == []
            core = core.restarted()
            core.pass_time(5)
            assert not Suspects(tmp_path).is_suspect(unit(1))
            assert not Suspects(tmp_path).is_suspect(frame_unit(seq))
    assert core.rows("traces") == []
    core = core.restarted()
    core.pass_time(5)
    assert len(core.rows("traces")) == 1


async def test_a_suspect_that_is_stored_already_stays_one(tmp_path: Path, store: Store) -> None:
    """What ended the core may be a late span of it, which comes later in the spool."""
    core = await Core.born(tmp_path, store)
    await core.send(1, answer())
    core.pass_time(5)
    Suspects(tmp_path).blame([unit(1)], CoreEnd.STALLED)
    core.restarted().pass_time(5)
    assert Suspects(tmp_path).is_suspect(unit(1))


async def test_what_scorers_load_is_loaded_before_a_large_trace_too(
    tmp_path: Path, store: Store, batches: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    scored_before: list[list[list[int]]] = []
    monkeypatch.setattr(Runner, "prepare", lambda *_: scored_before.append(batches.copy()))
    core = await Core.born(tmp_path, store)
    await core.send(1, answer("It is long. " * (LARGE_BYTES // 8)))
    core.pass_time(5)
    assert batches == [[1]]
    assert scored_before == [[]]


async def test_what_is_loaded_once_is_loaded_before_a_suspect_is_in_work(
    tmp_path: Path, store: Store, batches: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever kills a core that starts, again and again, finds the same one in work."""
    Suspects(tmp_path).blame([unit(1)], CoreEnd.KILLED)
    scored_before: list[list[list[int]]] = []
    monkeypatch.setattr(Runner, "prepare", lambda *_: scored_before.append(batches.copy()))
    core = await Core.born(tmp_path, store)
    await core.send(1, answer())
    core.pass_time(5)
    assert batches == [[1]]
    assert scored_before == [[]]


async def test_a_quarantined_trace_costs_itself_alone(
    tmp_path: Path, store: Store, batches: list[list[int]]
) -> None:
    for _ in range(2):
        Suspects(tmp_path).blame([unit(2)], CoreEnd.STALLED)
    core = await Core.born(tmp_path, store)
    for number in range(1, 4):
        seq = await core.send(number, answer())
    core.pass_time(5)
    assert batches == [[1], [3]]
    spans = core.balance.spans()
    assert (spans["stored"], spans["quarantined"], spans["in_spool"]) == (2 * SPANS, SPANS, 0)
    assert core.balance.mismatch() == 0
    copies = list((tmp_path / "spool" / "quarantine").glob("*.otlp"))
    assert [copy.name for copy in copies] == [f"frame-{seq - 1:020d}.otlp"]

    # Replayed, and with a late span: still left out, and no span is counted twice.
    later = core.restarted()
    await later.send(2, answer()[:1])
    later.pass_time(5)
    assert later.balance.spans()["stored"] == 2 * SPANS
    assert later.balance.spans()["in_spool"] == 0


async def test_a_quarantined_frame_is_not_decoded(tmp_path: Path, store: Store) -> None:
    core = await Core.born(tmp_path, store)
    seqs = [await core.send(number, answer()) for number in range(1, 4)]
    for _ in range(2):
        Suspects(tmp_path).blame([frame_unit(seqs[1])], CoreEnd.CRASHED)
    later = core.restarted()
    later.pass_time(5)
    assert {row["trace_id"] for row in later.rows("traces")} == {
        trace_id(1).hex(),
        trace_id(3).hex(),
    }
    spans = later.balance.spans()
    assert (spans["stored"], spans["quarantined"], spans["in_spool"]) == (2 * SPANS, SPANS, 0)
    assert later.balance.mismatch() == 0
    (copy,) = (tmp_path / "spool" / "quarantine").glob("*.otlp")
    assert trace_id(2) in copy.read_bytes()
