"""From frames to rows and a checkpoint: every span has one place, whatever happens between."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from collector.assembly.refs import Closing, LogRef, SpanRef
from collector.settings import CollectorSettings, RouteSettings
from collector.spool.reader import SpoolReader
from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline.assemblies import Assemblies
from ragvigil.app.pipeline.deferred_scoring import DeferredScoring
from ragvigil.app.pipeline.dirty_minutes import FILE_NAME
from ragvigil.app.pipeline.known import is_stored
from ragvigil.app.pipeline.loop import FRAMES_A_TURN
from ragvigil.app.pipeline.passed import CHECKPOINT_SECONDS
from ragvigil.app.pipeline.pool import ScoringPool
from ragvigil.app.pipeline.score import TraceScorer, time_of
from ragvigil.app.pipeline.sink import Sink
from ragvigil.model.span import AHEAD_NANOS, BEHIND_NANOS, Closed, SpanKind
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records, traces
from tests.outcomes import NOW, SECOND, trace_of
from tests.pipelines import Core, answer, span

QUIET = 3.0
IDLE = 61.0


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> AsyncIterator[Core]:
    born = await Core.born(tmp_path, store)
    yield born
    await born.spool.close()


def hexed(number: int) -> str:
    return f"{number:032x}"


def balance(core: Core) -> dict[str, int]:
    """Where the spans are, after checking that nothing is unplaced."""
    assert core.balance.mismatch() == 0
    return {name: number for name, number in core.balance.spans().items() if number}


async def test_an_answer_becomes_one_scored_record(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    trace = records.trace(core.store, hexed(1))
    assert trace is not None
    (record,) = trace["records"]
    assert record["answer"] == "Within 30 days of delivery. [refund-01]"
    scores = {score["rubric"]: score["value"] for score in record["scores"]}
    assert scores["citation_validity"] == 1.0
    assert balance(core) == {"acknowledged": 3, "stored": 3}
    assert core.balance.records()["scored"] == 1


async def test_a_trace_stays_open_until_it_is_quiet(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(0.5)
    assert records.trace(core.store, hexed(1)) is None
    assert balance(core) == {"acknowledged": 3, "in_spool": 3}
    core.pass_time(QUIET)
    assert records.trace(core.store, hexed(1)) is not None


async def test_a_trace_without_documents_is_counted_and_makes_no_record(core: Core) -> None:
    await core.send(1, [span("root", {"http.route": "/health"})])
    core.pass_time(QUIET)
    assert records.trace(core.store, hexed(1)) == {"trace_id": hexed(1), "records": []}
    assert core.balance.records() == {
        "scored": 0, "not_rag": 1, "shed": 0, "late": 0, "unparseable": 0,
        "offline": 0,
    }  # fmt: skip


@pytest.mark.parametrize("way", ["tracestate", "attribute", "header"])
async def test_what_an_evaluation_asked_is_stored_and_is_no_answer(core: Core, way: str) -> None:
    root, *others = answer()
    marked = {
        "tracestate": replace(root, trace_state="ot=th:8,ragvigil=offline"),
        "attribute": replace(root, attributes={**root.attributes, "ragvigil.offline": "true"}),
        "header": replace(
            root,
            attributes={**root.attributes, "http.request.header.x-ragvigil-golden": ["refund"]},
        ),
    }
    await core.send(1, [marked[way], *others])
    core.pass_time(QUIET)
    assert records.trace(core.store, hexed(1)) == {"trace_id": hexed(1), "records": []}
    assert core.balance.records()["offline"] == 1
    assert balance(core) == {"acknowledged": 3, "stored": 3}


async def test_the_same_spans_sent_twice_are_stored_once(core: Core) -> None:
    await core.send(1, answer())
    await core.send(1, answer())
    core.pass_time(QUIET)
    assert balance(core) == {"acknowledged": 6, "stored": 3, "duplicate": 3}
    assert len(core.rows("spans")) == 3


async def test_spans_that_come_again_after_the_trace_was_stored_are_duplicates(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    await core.send(1, answer())
    core.pass_time(QUIET)
    assert balance(core) == {"acknowledged": 6, "stored": 3, "duplicate": 3}
    assert {row["generation"] for row in core.rows("traces")} == {3}


async def test_a_late_span_scores_the_trace_again_with_everything_it_had(core: Core) -> None:
    root, retriever, model = answer()
    await core.send(1, [root, retriever])
    core.pass_time(QUIET)
    first = records.trace(core.store, hexed(1))
    assert first is not None
    assert [record["answer"] for record in first["records"]] in ([], [None])
    await core.send(1, [model])
    core.pass_time(QUIET)
    second = records.trace(core.store, hexed(1))
    assert second is not None
    (record,) = second["records"]
    assert record["answer"] == "Within 30 days of delivery. [refund-01]"
    assert balance(core) == {"acknowledged": 3, "stored": 3}
    (row,) = core.rows("traces")
    assert row["generation"] == 3


async def test_a_payload_that_is_no_request_is_quarantined_and_the_next_is_read(core: Core) -> None:
    await core.raw(b"\xff\xff\xff", items=4)
    await core.send(1, answer())
    core.pass_time(QUIET)
    assert balance(core) == {"acknowledged": 7, "stored": 3, "quarantined": 4}


async def test_a_crash_before_anything_was_durable_loses_nothing(core: Core) -> None:
    await core.send(1, answer())
    core.pipeline.step()
    second = core.restarted()
    second.pass_time(QUIET)
    assert records.trace(second.store, hexed(1)) is not None
    assert balance(second) == {"acknowledged": 3, "stored": 3}


async def test_a_crash_after_the_rows_and_before_the_checkpoint_stores_nothing_twice(
    core: Core,
) -> None:
    sent = await core.send(1, answer())
    core.pass_time(QUIET)
    assert core.loop.reader.checkpoint_of("core").seq < sent
    replayed = metrics.REPLAYED._value.get()
    second = core.restarted()
    second.pass_time(QUIET)
    assert metrics.REPLAYED._value.get() == replayed + 1
    assert balance(second) == {"acknowledged": 3, "stored": 3}
    assert len(second.rows("spans")) == 3
    assert len(second.rows("ledger")) == 1


async def test_a_crash_after_the_rows_leaves_their_minute_to_be_rolled_up(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    # The crash came before the minute was written down.
    for file in core.folder.rglob(FILE_NAME):
        file.unlink()
    second = core.restarted()
    assert second.parts.dirty_minutes.take() == set()
    second.pass_time(QUIET)
    assert len(second.parts.dirty_minutes.take()) == 1


async def test_a_late_span_after_a_restart_still_joins_its_trace(core: Core) -> None:
    root, retriever, model = answer()
    await core.send(1, [root, retriever])
    core.pass_time(QUIET)
    second = core.restarted()
    second.pass_time(QUIET)
    await second.send(1, [model])
    second.pass_time(QUIET)
    trace = records.trace(second.store, hexed(1))
    assert trace is not None
    assert len(trace["records"]) == 1
    assert trace["records"][0]["answer"] == "Within 30 days of delivery. [refund-01]"
    assert balance(second) == {"acknowledged": 3, "stored": 3}


async def test_a_log_record_after_a_restart_still_reaches_its_trace(core: Core) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    second = core.restarted()
    second.pass_time(QUIET)
    closing = Closing(
        trace_id=hexed(1),
        refs=(SpanRef(1, 0, b"a" * 8), SpanRef(1, 1, b"b" * 8), SpanRef(1, 2, b"c" * 8)),
        reason=Closed.LATE_SPAN,
        received_unix_nano=1,
        first_seq=1,
    )
    (earlier,) = traces.lookup(second.store, [hexed(1)]).values()
    until = second.loop.reader.durable_seq
    ours = second.loop.sink.replica
    assert is_stored(closing, earlier, ours, until)
    late = replace(closing, logs=(LogRef(until + 1, 0, b"a" * 8, 7),))
    assert not is_stored(late, earlier, ours, until)


async def test_what_the_store_may_hold_waits_while_the_store_is_away(core: Core) -> None:
    root, *others = answer()
    await core.send(1, others)
    core.pass_time(IDLE)
    await core.send(1, [root])
    there = core.loop.lookup
    object.__setattr__(core.loop, "lookup", lambda _: None)
    for _ in range(3):
        core.pipeline.step()
        core.now += QUIET
    assert balance(core)["acknowledged"] > balance(core).get("stored", 0)
    object.__setattr__(core.loop, "lookup", there)
    core.pass_time(QUIET)
    assert balance(core) == {"acknowledged": 3, "stored": 3}


async def test_the_checkpoint_waits_for_the_oldest_open_trace(core: Core) -> None:
    inner = [span for span in answer() if span.parent_span_id]
    first = await core.send(1, inner)  # no root: open for a minute
    await core.send(2, answer())
    core.pass_time(CHECKPOINT_SECONDS + 1)
    core.pipeline.step()
    assert core.loop.reader.checkpoint_of("core").seq < first
    assert balance(core) == {"acknowledged": 5, "stored": 3, "in_spool": 2}


async def test_the_checkpoint_waits_while_a_late_span_may_need_the_frame(core: Core) -> None:
    sent = await core.send(1, answer())
    core.pass_time(QUIET)
    core.pass_time(CHECKPOINT_SECONDS + 1)
    assert core.loop.reader.checkpoint_of("core").seq < sent
    core.pass_time(core.collector.assembly.late_seconds + 60)
    assert core.loop.reader.checkpoint_of("core").seq == sent


async def test_a_trace_is_counted_once_and_at_its_first_time_however_often_it_changes(
    core: Core,
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    (before,) = core.rows("records")
    later = span("billing", {"http.route": "/bill"}, parent="root", at=(500, 501))
    await core.send(1, [later], received=NOW + 600 * SECOND)
    core.pass_time(QUIET)
    second = core.restarted()  # its assembly has forgotten when the trace began
    await second.send(1, [replace(later, span_id="again")], received=NOW + 700 * SECOND)
    second.pass_time(QUIET)
    (after,) = second.rows("records")
    assert after["generation"] == before["generation"] + 2 == 5
    for pinned in ("time", "received", "minute"):
        assert after[pinned] == before[pinned]
    for life, expected in ((core, 1.0), (second, None)):
        counts = {
            sample.labels["rubric"]: sample.value
            for family in life.scores.collect()
            for sample in family.samples
            if sample.name == "ragvigil_score_count_total"
        }
        assert counts.get("citation_validity") == expected


async def test_a_record_whose_root_is_another_takes_the_place_of_the_one_before(
    core: Core,
) -> None:
    root, retriever, model = answer()
    inner = span("inner", parent="root", at=(0.2, 1), kind=SpanKind.SERVER)
    await core.send(1, [root, inner, replace(model, parent_span_id="inner")])
    core.pass_time(QUIET)
    first = records.trace(core.store, hexed(1))
    await core.send(1, [retriever])
    core.pass_time(QUIET)
    second = records.trace(core.store, hexed(1))
    assert first is not None
    assert second is not None
    (before,), (after,) = first["records"], second["records"]
    assert before["record_id"] != after["record_id"]


async def test_spans_of_a_trace_that_was_forgotten_are_kept_and_change_no_score(
    core: Core,
) -> None:
    await core.send(1, answer())
    core.pass_time(QUIET)
    core.pass_time(core.collector.assembly.late_seconds + 60)
    core.pass_time(CHECKPOINT_SECONDS + 1)
    second = core.restarted()
    await second.send(1, [span("billing", parent="root")])
    second.pass_time(IDLE)
    trace = records.trace(second.store, hexed(1))
    assert trace is not None
    assert [record["answer"] for record in trace["records"]] == [
        "Within 30 days of delivery. [refund-01]"
    ]
    assert len(second.rows("spans")) == 4
    assert second.balance.records()["late"] == 1
    assert balance(second) == {"acknowledged": 4, "stored": 4}


async def test_all_generations_of_a_trace_say_when_its_first_span_came(core: Core) -> None:
    root, *inner = answer()
    await core.send(1, [root])
    core.pass_time(QUIET)
    core.pass_time(core.collector.assembly.late_seconds + 60)
    core.pass_time(CHECKPOINT_SECONDS + 1)
    second = core.restarted()  # it reads the first frame no more
    await second.send(1, inner, received=NOW + 3600 * SECOND)
    second.pass_time(IDLE)
    (record,), (stored,) = second.rows("records"), second.rows("traces")
    assert stored["generation"] == 2
    assert record["received"] == stored["received"].replace(microsecond=0)
    assert {row["Received"] for row in second.rows("spans")} == {record["received"]}


async def test_while_memory_is_short_the_oldest_traces_close_early(
    tmp_path: Path, store: Store
) -> None:
    core = await Core.born(tmp_path, store, memory_limit_bytes=1)
    for number in (1, 2):
        await core.send(number, [inner for inner in answer() if inner.parent_span_id])
    core.pass_time(1.5)  # the older half at each look
    assert {row["trace_id"] for row in core.rows("traces")} == {hexed(1), hexed(2)}
    assert {row["closed"] for row in core.rows("traces")} == {"memory"}
    await core.spool.close()


async def test_routes_beyond_the_most_are_counted_together(tmp_path: Path, store: Store) -> None:
    collector = CollectorSettings(routes=RouteSettings(max_routes=1))
    core = await Core.born(tmp_path, store, collector=collector)
    for number, route in enumerate(("/ask", "/chat", "/ask", "/find"), start=1):
        root, *inner = answer()
        routed = replace(root, attributes={**root.attributes, "ragvigil.route": route})
        await core.send(number, [routed, *inner])
    core.pass_time(QUIET)
    routes = {row["trace_id"]: row["route"] for row in core.rows("records")}
    assert [routes[hexed(number)] for number in range(1, 5)] == [
        "/ask", "__other__", "/ask", "__other__",
    ]  # fmt: skip
    await core.spool.close()


async def test_a_trace_whose_root_never_comes_is_scored_after_a_minute(core: Core) -> None:
    await core.send(1, [inner for inner in answer() if inner.parent_span_id])
    core.pass_time(IDLE)
    assert records.trace(core.store, hexed(1)) is not None
    assert balance(core) == {"acknowledged": 2, "stored": 2}


async def test_a_backfill_keeps_its_own_times_and_ends_when_it_falls_silent(core: Core) -> None:
    week = 7 * 24 * 3600 * SECOND
    await core.send(1, answer(), backfill="march", shift=-100 * SECOND + NOW - week)
    core.pass_time(1.0)
    core.pass_time(4.0)
    (row,) = core.rows("traces")
    minute = int(row["time"].timestamp()) if hasattr(row["time"], "timestamp") else row["time"]
    assert abs(minute - (NOW - week) / SECOND) < 60
    assert balance(core) == {"acknowledged": 3, "stored": 3}


async def test_a_stop_writes_what_is_closed_and_the_next_life_the_rest(core: Core) -> None:
    await core.send(1, answer())
    stop = Event()
    life = Thread(target=core.pipeline.run, args=(stop,))
    life.start()
    stop.set()
    life.join(60)
    assert not life.is_alive()
    second = core.restarted()
    second.pass_time(QUIET)
    assert balance(second) == {"acknowledged": 3, "stored": 3}


def test_a_trace_is_counted_at_its_end_unless_its_clock_is_not_believable() -> None:
    ended = trace_of(1).spans[-1].end_unix_nano
    for received, expected in (
        (ended, ended),
        (ended + BEHIND_NANOS, ended),
        (ended + BEHIND_NANOS + 1, ended + BEHIND_NANOS + 1),
        (ended - AHEAD_NANOS, ended),
        (ended - AHEAD_NANOS - 1, ended - AHEAD_NANOS - 1),
    ):
        assert time_of(replace(trace_of(1), received_unix_nano=received)) == expected


async def test_with_spans_waiting_in_the_spool_records_are_scored_without_local_models(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragvigil.app.pipeline.loop.BEHIND_SPANS", 0)
    await core.send(1, answer())
    core.pipeline.step()
    for number in range(2, 2 + FRAMES_A_TURN + 4):  # more than one turn reads
        await core.send(number, answer())
    core.now += QUIET
    core.pipeline.step()
    core.pass_time(QUIET)
    grounded = {row["trace_id"] for row in core.rows("scores") if row["rubric"] == "groundedness"}
    cited = {row["trace_id"] for row in core.rows("scores") if row["rubric"] == "citation_validity"}
    assert cited - grounded == {hexed(1)}


TURN = [
    (SpoolReader, "read"),
    (Assemblies, "close_due"),
    (DeferredScoring, "give_way"),
    (TraceScorer, "outcomes"),
    (ScoringPool, "finished"),
    (Assemblies, "drain_duplicates"),
    (Sink, "advance"),
    (SpoolReader, "checkpoint"),
    (Sink, "publish"),
]
"""The order of a turn, as `Pipeline.step` gives its reasons."""


async def test_a_turn_has_its_order(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    await core.send(1, answer())
    core.pipeline.step()
    core.now += CHECKPOINT_SECONDS
    await core.send(2, answer())
    order: list[str] = []

    def recorded(owner: type, name: str) -> Callable[..., object]:
        method = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> object:
            order.append(f"{owner.__name__}.{name}")
            return method(*arguments, **named)

        return call

    for owner, name in TURN:
        monkeypatch.setattr(owner, name, recorded(owner, name))
    core.pipeline.step()
    assert order == [f"{owner.__name__}.{name}" for owner, name in TURN]


async def test_the_notices_know_of_jobs_under_way_before_the_sink_offers_records(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    await core.send(1, answer())
    core.pipeline.step()
    (closing,) = core.loop.assemblies.close_due(core.now + QUIET)
    was_held: list[bool] = []
    advance = core.loop.sink.advance

    def advanced(*arguments: Any, **named: Any) -> bool:
        was_held.append(core.loop.noticing.is_held)
        return advance(*arguments, **named)

    monkeypatch.setattr(core.loop.sink, "advance", advanced)
    monkeypatch.setattr(core.loop.pool, "closings", lambda: iter([(closing, None)]))
    core.pipeline.step()
    monkeypatch.undo()
    assert was_held == [True]
