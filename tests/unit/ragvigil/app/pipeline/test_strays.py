"""Spans of one trace that reach two daemons: the answer keeps its scores, the spans are stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ragvigil.store.engine.store import Store
from tests.pipelines import Core, answer
from tests.replicas import of_replica

IDLE = 70.0


async def two(tmp_path: Path, store: Store) -> tuple[Core, Core]:
    other = of_replica(store, "edge-2")
    return await Core.born(tmp_path / "1", store), await Core.born(tmp_path / "2", other)


async def test_a_part_that_comes_later_leaves_the_answer_as_it_is(
    tmp_path: Path, store: Store
) -> None:
    first, second = await two(tmp_path, store)
    root, retriever, model = answer()
    await first.send(1, [root, retriever, model])
    first.pass_time(3)
    before = first.rows("records"), first.rows("scores")
    # More spans than the trace had: by their number alone they would replace it.
    await second.send(1, [replace(model, span_id=name) for name in "abcd"])
    second.pass_time(IDLE)
    assert (first.rows("records"), first.rows("scores")) == before
    assert [row["outcome"] for row in second.rows("traces") if row["late"]] == ["late"]
    assert second.balance.spans()["in_spool"] == 0
    for core in (first, second):
        await core.spool.close()


async def test_an_answer_is_scored_though_another_has_a_part_of_its_trace(
    tmp_path: Path, store: Store
) -> None:
    first, second = await two(tmp_path, store)
    root, retriever, model = answer()
    await second.send(1, [retriever])
    second.pass_time(IDLE)
    await first.send(1, [root, retriever, model])
    first.pass_time(IDLE)
    assert len(first.rows("records")) == 1
    for core in (first, second):
        await core.spool.close()
