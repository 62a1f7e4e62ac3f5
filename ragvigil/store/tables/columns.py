"""Columns that are written, with their types, in the order of a row; a test compares the DDL."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ragvigil.store.tables.column_kinds import (
    LOW,
    LOWS,
    MAP,
    MAYBE_FLOAT,
    MAYBE_INT,
    MAYBE_TEXT,
    NANOS,
    SECONDS,
    TEXTS,
    WRITER,
    named,
)
from ragvigil.store.tables.golden import GOLDEN_TABLES
from ragvigil.store.tables.issues import ISSUE_TABLES
from ragvigil.store.tables.topics import TOPIC_TABLES
from ragvigil.store.tables.watch import WATCH_TABLES

if TYPE_CHECKING:
    from clickhouse_connect.datatypes.base import ClickHouseType


def _documents(name: str) -> dict[str, str]:
    return {
        **named(TEXTS, f"{name}.chunk_id {name}.document_id {name}.hash"),
        f"{name}.score": f"Array({MAYBE_FLOAT})",
        f"{name}.rank": "Array(UInt32)",
        f"{name}.metadata": TEXTS,
    }


_VERSION = {"generation": "UInt32", "gone": "UInt8", **WRITER}
_KEY = {"received": SECONDS, "trace_id": "String", "record_id": "String"}
_WHERE = named(LOW, "service environment route")

_SPANS = {
    "Timestamp": "DateTime64(9)",
    **named("String", "TraceId SpanId ParentSpanId TraceState"),
    **named(LOW, "SpanName SpanKind ServiceName"),
    "ResourceAttributes": MAP,
    **named("String", "ScopeName ScopeVersion"),
    "SpanAttributes": MAP,
    "Duration": "UInt64",
    "StatusCode": LOW,
    "StatusMessage": "String",
    "Events.Timestamp": "Array(DateTime64(9))",
    "Events.Name": LOWS,
    "Events.Attributes": f"Array({MAP})",
    **named(TEXTS, "Links.TraceId Links.SpanId Links.TraceState"),
    "Links.Attributes": f"Array({MAP})",
    "DroppedAttributes": "UInt32",
    "Received": SECONDS,
    "Generation": "UInt32",
    "Backfill": LOW,
    "Replica": LOW,
    "Epoch": "UInt32",
}
_RECORDS = {
    "minute": SECONDS,
    "time": NANOS,
    **_KEY,
    **_WHERE,
    "entry_route": LOW,
    **named(MAYBE_TEXT, "query answer error"),
    "context_source": LOW,
    "truncated": LOWS,
    "absent": MAP,
    **_documents("retrieved"),
    **_documents("reranked"),
    **_documents("context"),
    "retrievals.span_id": TEXTS,
    "retrievals.query": f"Array({MAYBE_TEXT})",
    "retrievals.chunk_ids": "Array(Array(String))",
    "citations.target": TEXTS,
    "citations.chunk_id": f"Array({MAYBE_TEXT})",
    "citations.document_id": TEXTS,
    "citations.index": f"Array({MAYBE_INT})",
    "citations.marker": TEXTS,
    "citations.quote": f"Array({MAYBE_TEXT})",
    **named(
        f"Array({MAYBE_INT})",
        "citations.start citations.end citations.claim_start citations.claim_end",
    ),
    "citations.style": LOWS,
    "feedback.kind": LOWS,
    "feedback.value": f"Array({MAYBE_FLOAT})",
    "feedback.comment": TEXTS,
    "feedback.source": LOWS,
    "feedback.time": "Array(Int64)",
    **named(MAYBE_INT, "input_tokens output_tokens cache_read_tokens reasoning_tokens"),
    "cost_usd": MAYBE_FLOAT,
    **named(
        MAYBE_FLOAT,
        "latency_total latency_retrieval latency_rerank latency_generation latency_first_token",
    ),
    **named(LOW, "llm_model embedding_model reranker_model prompt_version index_epoch"),
    "temperature": MAYBE_FLOAT,
    "max_tokens": MAYBE_INT,
    "finish_reason": LOW,
    "top_k": MAYBE_INT,
    **named(LOW, "service_version tenant locale slice"),
    **named("String", "session_id user_id"),
    **named(TEXTS, "response_ids span_ids"),
    **named(NANOS, "started ended"),
    **named(LOWS, "instrumentors conventions"),
    "sampling_probability": MAYBE_FLOAT,
    "backfill": LOW,
    **_VERSION,
}
_SCORES = {
    "minute": SECONDS,
    "time": NANOS,
    **_KEY,
    **named(LOW, "rubric layer scorer version segment stream kind"),
    "value": MAYBE_FLOAT,
    "label": LOW,
    **named("String", "explanation details"),
    "absent": LOW,
    "failed": "UInt8",
    "inclusion_probability": "Float64",
    **_WHERE,
    **_VERSION,
}
_DELTAS = {
    "tick": SECONDS,
    **_WHERE,
    **named(LOW, "rubric layer segment window"),
    "computed": NANOS,
    "closed": "UInt8",
    "n": "Int64",
    "n_effective": "Float64",
    "failed": "Int64",
    **named(MAYBE_FLOAT, "coverage mean baseline"),
    "baseline_kind": LOW,
    "baseline_n": "Int64",
    **named(MAYBE_FLOAT, "delta low high"),
    **named(MAYBE_FLOAT, "release_baseline release_delta release_low release_high"),
    "overdispersion": "Float64",
    "detection_limit": MAYBE_FLOAT,
    "sustained_drop": "UInt8",
    "moved": LOW,
    "since": MAYBE_INT,
    **WRITER,
}

TABLES: Mapping[str, Mapping[str, str]] = {
    "documents": {**named("String", "hash content"), "seen": SECONDS, **WRITER},
    "spans": _SPANS,
    "records": _RECORDS,
    "record_shapes": {
        "minute": SECONDS,
        **_KEY,
        **_WHERE,
        "measures": f"Map({LOW}, Float64)",
        **_VERSION,
    },
    "scores": _SCORES,
    "traces": {
        "trace_id": "String",
        "late": "UInt8",
        **named(NANOS, "time received"),
        **named(LOW, "outcome closed service"),
        "spans": "UInt32",
        "record_ids": TEXTS,
        "backfill": LOW,
        "generation": "UInt32",
        **WRITER,
    },
    "rubric_deltas": _DELTAS,
    "feedback": {
        "feedback_id": "String",
        **named(NANOS, "time received"),
        "kind": LOW,
        "value": MAYBE_FLOAT,
        "comment": "String",
        "source": LOW,
        **named("String", "trace_id span_id session_id response_id"),
        **WRITER,
    },
    "deploys": {
        "deploy_id": "String",
        **named(NANOS, "time received"),
        **named(LOW, "service environment"),
        "version": "String",
        "kind": LOW,
        "description": "String",
        "source": LOW,
        **WRITER,
    },
    "labels": {
        "label_id": "String",
        **named(NANOS, "time received"),
        "rubric": LOW,
        **named("String", "trace_id record_id"),
        "value": MAYBE_FLOAT,
        **named("String", "label labeller"),
        "source": LOW,
        "comment": "String",
        **WRITER,
    },
    "canary_members": {
        "set_id": "String",
        "chosen": NANOS,
        "kind": LOW,
        **named("String", "trace_id record_id"),
        **_WHERE,
        "record": "String",
        **WRITER,
    },
    "canary_scores": {
        **named("String", "set_id run_id"),
        **named(NANOS, "time received"),
        **named("String", "trace_id record_id"),
        **named(LOW, "rubric segment scorer version"),
        "value": MAYBE_FLOAT,
        **named(LOW, "label absent"),
        **WRITER,
    },
    **WATCH_TABLES,
    **GOLDEN_TABLES,
    **ISSUE_TABLES,
    **TOPIC_TABLES,
    "ledger": {
        "replica": LOW,
        "seq": "UInt64",
        "received": NANOS,
        **named("UInt32", "spans stored duplicate quarantined"),
        "epoch": "UInt32",
    },
    "quarantine": {
        "time": NANOS,
        "table": LOW,
        **named("String", "reason trace_id span_id row"),
        **WRITER,
    },
}


@cache
def position(table: str, column: str) -> int | None:
    """Where a column stands in a row of this table, None where there is none of that name."""
    names = list(TABLES[table])
    return names.index(column) if column in names else None


@cache
def column_types(table: str) -> list[ClickHouseType]:
    """The driver's types of a table's columns, so that an insert asks the database nothing.

    Dictionaries of LowCardinality columns are left to the engine, which builds them 20 times as
    fast as the driver does.
    """
    from clickhouse_connect.datatypes.registry import get_from_name

    return [get_from_name(kind.replace(LOW, "String")) for kind in TABLES[table].values()]
