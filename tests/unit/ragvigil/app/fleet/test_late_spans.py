"""A trace whose spans came to two edges: its owner scores it anew with all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragvigil.app.fleet.late_spans import FIRST_WAIT_SECONDS, LateSpanWork
from ragvigil.app.pipeline.metrics import SPLIT_TRACES
from ragvigil.model.span import Span
from ragvigil.store.engine.errors import QueryFailed, Unavailable
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet import late
from ragvigil.store.fleet.members import Member, owner
from ragvigil.store.records import span_samples
from ragvigil.store.settings import KeptSpans
from tests.outcomes import NOW, SECOND
from tests.pipelines import Core, answer, trace_id
from tests.replicas import of_replica
from tests.traces import retriever

QUIET, IDLE = 3.0, 70.0
TRACE = trace_id(1).hex()


class Edge:
    """A core with the job that reads what others told."""

    def __init__(self, core: Core, members: Sequence[Member]) -> None:
        self.core, self.now = core, NOW / SECOND
        self.work = LateSpanWork(
            core.store, lambda: members, core.loop.joining.offer, lambda: self.now
        )

    def joins(self) -> None:
        """Runs the job, and the pipeline."""
        self.now += FIRST_WAIT_SECONDS
        self.work.run()
        self.core.pass_time(0.1)

    async def takes(self, spans: Sequence[Span], seconds: float = IDLE) -> None:
        """Stores some spans of the trace."""
        await self.core.send(1, spans)
        self.core.pass_time(seconds)


Pair = tuple[Edge, Edge]


async def edges(folder: Path, store: Store, **settings: Any) -> Pair:
    members = [Member(replica=name, roles=("edge",)) for name in ("edge-1", "edge-2")]
    made = []
    for member in members:
        own = of_replica(store, member.replica)
        if "keeps" in settings:
            own.settings = store.settings.model_copy(update={"spans": settings["keeps"]})
        made.append(Edge(await Core.born(folder / own.replica, own, **settings), members))
    return made[0], made[1]


@pytest.fixture
async def pair(tmp_path: Path, store: Store) -> AsyncIterator[Pair]:
    pair = await edges(tmp_path, store)
    yield pair
    for edge in pair:
        await edge.core.spool.close()


def the_record(edge: Edge) -> dict[str, Any]:
    """The only record."""
    (row,) = [row for row in edge.core.rows("records") if not row["gone"]]
    return row


def scores(edge: Edge) -> list[tuple[str, int]]:
    """Rubric and generation of each score."""
    rows = edge.core.rows("scores")
    return sorted((row["rubric"], row["generation"]) for row in rows if not row["gone"])


async def test_a_late_span_of_another_edge_joins_its_answer(pair: Pair) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    before = the_record(first)
    await second.takes([retrieval])
    assert the_record(first)["retrievals.query"] == [], "stored, and not joined yet"
    second.joins()
    assert the_record(first)["generation"] == 2, "not the owner"
    first.joins()
    after = the_record(first)
    assert after["retrievals.chunk_ids"] == [["refund-01", "ship-02", "acct-03"]]
    assert (before["generation"], after["generation"], after["replica"]) == (2, 3, "edge-1")
    for key in ("record_id", "minute", "time", "query", "answer", "service", "route"):
        assert after[key] == before[key], key
    kinds = [rubric for rubric, generation in scores(first) if generation == 3]
    assert len(kinds) == len(set(kinds)) == len(scores(first)), "each rubric once"
    assert len(first.core.rows("spans")) == 3
    (row,) = [row for row in first.core.rows("traces") if not row["late"]]
    assert (row["spans"], row["kept"], row["closed"]) == (3, 3, "joined")


async def test_a_core_that_has_answers_to_score_in_each_turn_joins_too(pair: Pair) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])
    joined = SPLIT_TRACES.labels("joined")._value
    before = joined.get()
    first.work.run()
    assert joined.get() == before, "handed to the pipeline, and not joined yet"
    await first.core.send(2, [root, retrieval, model])
    first.core.pipeline.step()
    first.core.now += QUIET
    assert first.core.pipeline.step(), "trace 2 is scored"
    assert joined.get() == before + 1


async def test_the_joined_answer_is_the_one_that_an_edge_with_all_spans_makes(
    pair: Pair,
) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])
    first.joins()
    joined = the_record(first)
    await first.core.send(2, [root, retrieval, model])
    first.core.pass_time(QUIET)
    (whole,) = [row for row in first.core.rows("records") if row["trace_id"] != TRACE]
    differ = {key for key in whole if whole[key] != joined[key]}
    assert differ <= {"trace_id"}


async def test_what_was_joined_is_not_joined_twice(pair: Pair) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])
    first.joins()
    told = scores(first)
    again = Edge(first.core.restarted(), first.work._members())
    again.core.pass_time(QUIET)
    again.joins()
    assert the_record(first)["generation"] == 3
    assert scores(first) == told
    assert again.core.balance.mismatch() == 0


async def test_a_late_span_of_the_owner_joins_what_was_joined(pair: Pair) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])
    first.joins()
    more = retriever("more", (("late-04", "A voucher is valid for three years after purchase."),))
    await first.takes([more], QUIET)
    assert len(the_record(first)["retrieved.chunk_id"]) == 3, "its own spans alone are not all"
    first.joins()
    after = the_record(first)
    assert set(after["retrieved.chunk_id"]) >= {"refund-01", "late-04"}
    assert after["generation"] == 4
    assert first.core.balance.mismatch() == second.core.balance.mismatch() == 0


async def test_services_that_share_a_trace_make_one_answer_where_its_root_is(pair: Pair) -> None:
    """Neither part is an answer by itself, and the inner service closes first."""
    first, second = pair
    root, retrieval, model = answer()
    bare = {key: text for key, text in model.attributes.items() if "input_messages" not in key}
    await second.takes([retrieval])
    second.joins()
    first.joins()
    assert first.core.rows("records") == []
    await first.takes([root, replace(model, attributes=bare)], QUIET)
    for edge in (first, second, first, second):
        edge.now += 60
        edge.joins()
    assert the_record(first)["retrieved.chunk_id"] == ["refund-01", "ship-02", "acct-03"]
    assert the_record(first)["replica"] == "edge-1"


async def test_a_part_without_its_rest_is_given_up(pair: Pair) -> None:
    first, second = pair
    (_, retrieval, _) = answer()
    await second.takes([retrieval])
    edge = pair[int(owner(TRACE, ["edge-1", "edge-2"])[-1]) - 1]
    edge.joins()
    assert list(edge.work._waiting) == [TRACE]
    for _ in range(20):
        edge.now += 100
        edge.joins()
    assert not edge.work._waiting
    assert [row["outcome"] for row in first.core.rows("traces")] == ["not_rag"]


async def test_where_the_owner_is_gone_another_joins(pair: Pair) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])
    members = [
        Member(replica="edge-1", roles=("edge",), age_seconds=99),
        Member(replica="edge-2", roles=("edge",)),
    ]
    left = Edge(second.core, members)
    left.joins()
    assert the_record(second)["generation"] == 3
    assert the_record(second)["replica"] == "edge-2"


async def test_spans_that_are_not_kept_are_counted_in_the_generation(
    tmp_path: Path, store: Store
) -> None:
    first, second = await edges(tmp_path, store, keeps=KeptSpans.RAG)
    root, retrieval, model = answer()
    plain = [
        replace(root, span_id=f"sql{n}", parent_span_id=root.span_id, attributes={"db.system": "x"})
        for n in range(4)
    ]
    await first.takes([root, model, *plain], QUIET)
    await second.takes([retrieval])
    first.joins()
    row = the_record(first)
    assert (row["generation"], len(row["retrieved.chunk_id"])) == (7, 3)
    for edge in (first, second):
        await edge.core.spool.close()


async def test_the_pipeline_rests_while_the_store_does_not_answer(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])
    first.now += FIRST_WAIT_SECONDS
    first.work.run()
    with monkeypatch.context() as outage:

        def fails(*_: object) -> None:
            raise Unavailable("no connection")

        outage.setattr(late, "split_traces", fails)
        assert not first.core.pipeline.step()
    first.core.pass_time(0.1)
    assert the_record(first)["generation"] == 3


async def test_a_trace_that_the_store_cannot_read_stays_as_it_is(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])

    def fails(*_: object) -> None:
        raise QueryFailed("memory limit exceeded")

    monkeypatch.setattr(span_samples, "traces", fails)
    first.joins()
    assert the_record(first)["generation"] == 2
    assert not first.core.pipeline.step()


async def test_more_parts_than_are_read_at_once_are_read_one_page_after_another(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair
    monkeypatch.setattr(late, "MOST_PARTS", 3)
    for number in range(5):
        late.tell(second.core.store, f"{number:032x}", "edge-1")
    found = []
    for _ in range(8):
        found += [part.trace_id for part in first.work._parts.take(["edge-2"])]
    assert sorted(found) == [f"{number:032x}" for number in range(5)]


async def test_an_erased_trace_is_not_joined(pair: Pair) -> None:
    from ragvigil.store.engine.erased import Subject, erased_hash

    first, second = pair
    root, retrieval, model = answer()
    await first.takes([root, model], QUIET)
    await second.takes([retrieval])
    before = first.core.store.erased
    first.core.store.erased.add([erased_hash(Subject.TRACE, TRACE)])
    first.joins()
    assert the_record(first)["generation"] == 2
    before._traces = frozenset()  # the engine is that of every test
