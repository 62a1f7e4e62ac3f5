"""Spans that the settings leave out: no rows, the same answers, and the books balance."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from collector.spool.spool import SpoolWriter
from ragvigil.model.span import Span
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records
from ragvigil.store.settings import KeptSpans
from tests.pipelines import Core, answer, trace_id

QUIET = 3.0


@pytest.fixture
async def spool(tmp_path: Path) -> AsyncIterator[SpoolWriter]:
    spool = await SpoolWriter.open(tmp_path / "spool", segment_bytes=4096)
    yield spool
    await spool.close()


def beside(parent: str, number: int) -> list[Span]:
    """Spans of databases below a span of an answer."""
    like = answer()[0]
    return [
        replace(
            like,
            span_id=f"sql{place}",
            parent_span_id=parent,
            name="SELECT",
            attributes={"db.system": "postgresql", "db.statement": "SELECT 1"},
        )
        for place in range(number)
    ]


def asked() -> Sequence[Span]:
    """An answer, and two queries of a database below its root: five spans."""
    spans = answer()
    return [*spans, *beside(spans[0].span_id, 2)]


@pytest.mark.parametrize(
    ("keeps", "stored"), [(KeptSpans.ALL, 8), (KeptSpans.RAG, 3), (KeptSpans.NONE, 0)]
)
async def test_what_is_left_out_is_counted(
    tmp_path: Path, store: Store, spool: SpoolWriter, keeps: KeptSpans, stored: int
) -> None:
    core = Core(folder=tmp_path, store=store, spool=spool, keeps=keeps)
    await core.send(1, asked())
    await core.send(2, beside("", 3))
    core.pass_time(QUIET)
    spans = core.balance.spans()
    assert (spans["acknowledged"], spans["stored"], spans["not_kept"]) == (8, stored, 8 - stored)
    assert spans["in_spool"] == core.balance.mismatch() == 0
    assert len(core.rows("spans")) == stored
    made = core.balance.records()
    assert (made["scored"], made["not_rag"], made["unparseable"]) == (1, 1, 0)
    assert len(records.spans(store, trace_id(1).hex())) == min(stored, 5)
    assert records.kept_spans(store, trace_id(1).hex())[1] == 5 - min(stored, 5)
    assert records.kept_spans(store, trace_id(2).hex())[1] == (3 if stored < 8 else 0)
    (record,) = (records.trace(store, trace_id(1).hex()) or {})["records"]
    assert record["answer"]
    assert record["context"]


async def test_a_replay_counts_what_was_left_out_as_left_out(
    tmp_path: Path, store: Store, spool: SpoolWriter
) -> None:
    """The rows of the traces are durable, those of the ledger are not: a crash between the two."""
    first = Core(folder=tmp_path, store=store, spool=spool, keeps=KeptSpans.RAG)
    await first.send(1, asked())
    await first.send(2, beside("", 3))
    first.pass_time(QUIET)
    store.change("TRUNCATE TABLE ledger")
    second = first.restarted()
    second.pass_time(QUIET)
    second.pass_time(QUIET)
    spans = second.balance.spans()
    assert (spans["acknowledged"], spans["stored"], spans["not_kept"]) == (8, 3, 5)
    assert second.balance.mismatch() == 0
    assert len(second.rows("spans")) == 3


async def test_a_late_span_is_counted_once(
    tmp_path: Path, store: Store, spool: SpoolWriter
) -> None:
    core = Core(folder=tmp_path, store=store, spool=spool, keeps=KeptSpans.RAG)
    spans = asked()
    await core.send(1, spans[:-1])
    core.pass_time(QUIET)
    await core.send(1, spans[-1:])
    core.pass_time(QUIET)
    core.pass_time(QUIET)
    counted = core.balance.spans()
    assert (counted["acknowledged"], counted["stored"], counted["not_kept"]) == (5, 3, 2)
    assert core.balance.mismatch() == 0
    assert records.kept_spans(store, trace_id(1).hex())[1] == 2


def test_a_trace_stored_before_the_setting_kept_all_its_spans(store: Store) -> None:
    """Its row has no number of kept spans."""
    store.change(
        "INSERT INTO traces (trace_id, spans, generation, time, received) "
        "VALUES ('old', 7, 7, now(), now())"
    )
    assert records.kept_spans(store, "old")[1] == 0
