"""Reads stored records for a judge, and writes its verdicts beside their other scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ragvigil.model.record import (
    Absent,
    Citation,
    ContextSource,
    Dimensions,
    Document,
    RagRecord,
    Usage,
)
from ragvigil.model.score import Score
from ragvigil.store.engine.batch import Batch, Rows, WriteResult, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records import traces
from ragvigil.store.records.record_forms import CITATION, DIMENSIONS, USAGE, full, texts_needed
from ragvigil.store.records.record_rows import SCORE_COLUMNS, RubricFacts, Stamp, score_rows
from ragvigil.store.records.records import document_texts

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key: TypeAlias = tuple[str, str]
"""Trace id and record id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record as it is stored, and what all its rows share."""

    record: RagRecord
    stamp: Stamp


def read(store: Store, keys: Collection[Key]) -> dict[Key, StoredRecord]:
    """The newest generation of these records; those that are no longer stored are left out."""
    stored = traces.lookup(store, [trace_id for trace_id, _ in keys])
    if not stored:
        return {}
    seconds = {trace.time_unix_nano // 10**9 for trace in stored.values()}
    parameters = {
        "minutes": sorted({time - time % 60 for time in seconds}),
        "trace_ids": sorted(stored),
        "received": min(trace.received_unix_nano for trace in stored.values()) // 10**9,
        "record_ids": sorted({record_id for _, record_id in keys}),
    }
    rows = store.read("record_rows", parameters, priority=Priority.TICK)
    texts = document_texts(store, texts_needed(rows))
    asked_for = set(keys)
    return {
        (row["trace_id"], row["record_id"]): StoredRecord(
            record=record_of(full(row, [], {}, [], texts)),
            stamp=_stamp(row, (store.replica, store.epoch)),
        )
        for row in rows
        if (row["trace_id"], row["record_id"]) in asked_for
    }


def disliked(store: Store, since: float, oldest: int) -> list[Key]:
    """Records from `oldest` on that got bad feedback from `since` on.

    Both are in seconds since the epoch.
    """
    parameters = {"since": since, "minute": oldest}
    rows = store.read("records_disliked", parameters, priority=Priority.TICK)
    return [(row["trace_id"], row["record_id"]) for row in rows]


def write(
    store: Store,
    verdicts: Sequence[tuple[StoredRecord, Sequence[Score]]],
    rubrics: Mapping[str, RubricFacts],
) -> WriteResult:
    """Stores scores of records that are stored already; returns when they are durable.

    A score that is written again replaces its earlier row.
    """
    scores = [
        row
        for stored, given in verdicts
        for row in score_rows(stored.record, given, stored.stamp, rubrics)
    ]
    batch = Batch(
        rows={"scores": Rows(SCORE_COLUMNS, scores)},
        token=token_of("judged", *scores),
        minutes=frozenset(stored.stamp.minute for stored, _ in verdicts),
    )
    return store.write(batch)


def record_of(form: Mapping[str, Any]) -> RagRecord:
    """Makes a record from its form in the API, with what a judge needs: no spans, no retrievals."""
    return RagRecord(
        record_id=form["record_id"],
        trace_id=form["trace_id"],
        generation=form["generation"],
        service=form["service"],
        environment=form["environment"],
        route=form["route"],
        entry_route=form["entry_route"],
        query=form["query"],
        retrieved=tuple(map(_document, form["retrieved"])),
        reranked=tuple(map(_document, form["reranked"])),
        context=tuple(map(_document, form["context"])),
        context_source=ContextSource(form["context_source"]),
        answer=form["answer"],
        citations=tuple(map(_citation, form["citations"])),
        usage=Usage(**{name: form["usage"][name] for name in USAGE}),
        cost_usd=form["cost_usd"],
        error=form["error"],
        truncated=tuple(form["truncated"]),
        absent={field: Absent(reason) for field, reason in form["absent"].items()},
        dimensions=Dimensions(**{name: form["dimensions"][name] for name in DIMENSIONS}),
        session_id=form["session_id"],
    )


def _stamp(row: Mapping[str, Any], writer: tuple[str, int]) -> Stamp:
    return Stamp(
        minute=row["minute_seconds"],
        time=row["time_nanos"],
        received=row["received_seconds"],
        trace_id=row["trace_id"],
        generation=row["generation"],
        backfill=row["backfill"],
        writer=writer,
    )


def _document(chunk: Mapping[str, Any]) -> Document:
    return Document(
        chunk_id=chunk["id"],
        document_id=chunk["document_id"],
        content=chunk["content"],
        score=chunk["score"],
        rank=chunk["rank"],
        metadata=chunk["metadata"],
    )


def _citation(citation: Mapping[str, Any]) -> Citation:
    return Citation(
        document_id=citation["document_id"],
        **{name: citation[name] for name in CITATION if name != "document_id"},
    )
