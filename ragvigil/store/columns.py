"""Columns that are written, with their types, in the order of a row; a test compares the DDL."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clickhouse_connect.datatypes.base import ClickHouseType

_LOW = "LowCardinality(String)"
_MAP = f"Map({_LOW}, String)"
_NANOS = "DateTime64(9, 'UTC')"
_SECONDS = "DateTime('UTC')"
_TEXTS = "Array(String)"
_LOWS = f"Array({_LOW})"
_MAYBE_TEXT, _MAYBE_FLOAT, _MAYBE_INT = (
    f"Nullable({kind})" for kind in ("String", "Float64", "Int64")
)


def _named(kind: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), kind)


def _documents(name: str) -> dict[str, str]:
    return {
        **_named(_TEXTS, f"{name}.chunk_id {name}.document_id {name}.hash"),
        f"{name}.score": f"Array({_MAYBE_FLOAT})",
        f"{name}.rank": "Array(UInt32)",
        f"{name}.metadata": _TEXTS,
    }


_WRITER = {"replica": _LOW, "epoch": "UInt32"}
_VERSION = {"generation": "UInt32", "gone": "UInt8", **_WRITER}
_KEY = {"received": _SECONDS, "trace_id": "String", "record_id": "String"}
_WHERE = _named(_LOW, "service environment route")

_SPANS = {
    "Timestamp": "DateTime64(9)",
    **_named("String", "TraceId SpanId ParentSpanId TraceState"),
    **_named(_LOW, "SpanName SpanKind ServiceName"),
    "ResourceAttributes": _MAP,
    **_named("String", "ScopeName ScopeVersion"),
    "SpanAttributes": _MAP,
    "Duration": "UInt64",
    "StatusCode": _LOW,
    "StatusMessage": "String",
    "Events.Timestamp": "Array(DateTime64(9))",
    "Events.Name": _LOWS,
    "Events.Attributes": f"Array({_MAP})",
    **_named(_TEXTS, "Links.TraceId Links.SpanId Links.TraceState"),
    "Links.Attributes": f"Array({_MAP})",
    "DroppedAttributes": "UInt32",
    "Received": _SECONDS,
    "Generation": "UInt32",
    "Backfill": _LOW,
    "Replica": _LOW,
    "Epoch": "UInt32",
}
_RECORDS = {
    "minute": _SECONDS,
    "time": _NANOS,
    **_KEY,
    **_WHERE,
    "entry_route": _LOW,
    **_named(_MAYBE_TEXT, "query answer error"),
    "context_source": _LOW,
    "truncated": _LOWS,
    "absent": _MAP,
    **_documents("retrieved"),
    **_documents("reranked"),
    **_documents("context"),
    "retrievals.span_id": _TEXTS,
    "retrievals.query": f"Array({_MAYBE_TEXT})",
    "retrievals.chunk_ids": "Array(Array(String))",
    "citations.target": _TEXTS,
    "citations.chunk_id": f"Array({_MAYBE_TEXT})",
    "citations.document_id": _TEXTS,
    "citations.index": f"Array({_MAYBE_INT})",
    "citations.marker": _TEXTS,
    "citations.quote": f"Array({_MAYBE_TEXT})",
    **_named(
        f"Array({_MAYBE_INT})",
        "citations.start citations.end citations.claim_start citations.claim_end",
    ),
    "citations.style": _LOWS,
    "feedback.kind": _LOWS,
    "feedback.value": f"Array({_MAYBE_FLOAT})",
    "feedback.comment": _TEXTS,
    "feedback.source": _LOWS,
    "feedback.time": "Array(Int64)",
    **_named(_MAYBE_INT, "input_tokens output_tokens cache_read_tokens reasoning_tokens"),
    "cost_usd": _MAYBE_FLOAT,
    **_named(
        _MAYBE_FLOAT,
        "latency_total latency_retrieval latency_rerank latency_generation latency_first_token",
    ),
    **_named(_LOW, "llm_model embedding_model reranker_model prompt_version index_epoch"),
    "temperature": _MAYBE_FLOAT,
    "max_tokens": _MAYBE_INT,
    "finish_reason": _LOW,
    "top_k": _MAYBE_INT,
    **_named(_LOW, "service_version tenant locale slice"),
    **_named("String", "session_id user_id"),
    **_named(_TEXTS, "response_ids span_ids"),
    **_named(_NANOS, "started ended"),
    **_named(_LOWS, "instrumentors conventions"),
    "sampling_probability": _MAYBE_FLOAT,
    "backfill": _LOW,
    **_VERSION,
}
_SCORES = {
    "minute": _SECONDS,
    "time": _NANOS,
    **_KEY,
    **_named(_LOW, "rubric layer scorer version segment stream kind"),
    "value": _MAYBE_FLOAT,
    "label": _LOW,
    **_named("String", "explanation details"),
    "absent": _LOW,
    "failed": "UInt8",
    "inclusion_probability": "Float64",
    **_WHERE,
    **_VERSION,
}
_DELTAS = {
    "tick": _SECONDS,
    **_WHERE,
    **_named(_LOW, "rubric layer segment window"),
    "computed": _NANOS,
    "closed": "UInt8",
    "n": "Int64",
    "n_effective": "Float64",
    "failed": "Int64",
    **_named(_MAYBE_FLOAT, "coverage mean baseline"),
    "baseline_kind": _LOW,
    "baseline_n": "Int64",
    **_named(_MAYBE_FLOAT, "delta low high"),
    **_named(_MAYBE_FLOAT, "release_baseline release_delta release_low release_high"),
    "overdispersion": "Float64",
    "detection_limit": _MAYBE_FLOAT,
    "sustained_drop": "UInt8",
    "moved": _LOW,
    "since": _MAYBE_INT,
    **_WRITER,
}

TABLES: Mapping[str, Mapping[str, str]] = {
    "documents": {**_named("String", "hash content"), "seen": _SECONDS, **_WRITER},
    "spans": _SPANS,
    "records": _RECORDS,
    "record_shapes": {
        "minute": _SECONDS,
        **_KEY,
        **_WHERE,
        "measures": f"Map({_LOW}, Float64)",
        **_VERSION,
    },
    "scores": _SCORES,
    "traces": {
        "trace_id": "String",
        "late": "UInt8",
        **_named(_NANOS, "time received"),
        **_named(_LOW, "outcome closed service"),
        "spans": "UInt32",
        "record_ids": _TEXTS,
        "backfill": _LOW,
        "generation": "UInt32",
        **_WRITER,
    },
    "rubric_deltas": _DELTAS,
    "feedback": {
        "feedback_id": "String",
        **_named(_NANOS, "time received"),
        "kind": _LOW,
        "value": _MAYBE_FLOAT,
        "comment": "String",
        "source": _LOW,
        **_named("String", "trace_id span_id session_id response_id"),
        **_WRITER,
    },
    "deploys": {
        "deploy_id": "String",
        **_named(_NANOS, "time received"),
        **_named(_LOW, "service environment"),
        "version": "String",
        "kind": _LOW,
        "description": "String",
        "source": _LOW,
        **_WRITER,
    },
    "labels": {
        "label_id": "String",
        **_named(_NANOS, "time received"),
        "rubric": _LOW,
        **_named("String", "trace_id record_id"),
        "value": _MAYBE_FLOAT,
        **_named("String", "label labeller"),
        "source": _LOW,
        "comment": "String",
        **_WRITER,
    },
    "canary_members": {
        "set_id": "String",
        "chosen": _NANOS,
        "kind": _LOW,
        **_named("String", "trace_id record_id"),
        **_WHERE,
        "record": "String",
        **_WRITER,
    },
    "canary_scores": {
        **_named("String", "set_id run_id"),
        **_named(_NANOS, "time received"),
        **_named("String", "trace_id record_id"),
        **_named(_LOW, "rubric segment scorer version"),
        "value": _MAYBE_FLOAT,
        **_named(_LOW, "label absent"),
        **_WRITER,
    },
    "findings": {
        **_named("String", "incident_id finding_id"),
        **_named(_LOW, "kind service environment"),
        "routes": _LOWS,
        **_named(_LOW, "signal layer"),
        "causes": _LOWS,
        **_named(_MAYBE_FLOAT, "value reference low high"),
        "n": "Int64",
        **_named(_NANOS, "since seen cleared"),
        "traces": _TEXTS,
        "words": "String",
        "written": _NANOS,
        **_WRITER,
    },
    "incidents": {
        "incident_id": "String",
        **_named(_LOW, "service environment state severity"),
        **_named(_NANOS, "opened since"),
        "suspects": "String",
        "cause": _LOW,
        **_named(_NANOS, "paged resolved snoozed_until"),
        "assignee": "String",
        **_named("UInt8", "is_false_page is_expected"),
        "written": _NANOS,
        **_WRITER,
    },
    "incident_events": {
        "incident_id": "String",
        "time": _NANOS,
        "verb": _LOW,
        **_named("String", "actor text"),
        "written": _NANOS,
        **_WRITER,
    },
    "notices": {
        "notice_id": "String",
        **_named(_LOW, "kind service environment route"),
        **_named(_NANOS, "since noticed"),
        "requests": "UInt32",
        "share": "Float64",
        **_named("String", "before after evidence"),
        "written": _NANOS,
        **_WRITER,
    },
    "audits": {
        "audit_id": "String",
        **_named(_LOW, "service environment"),
        **_named(_NANOS, "anchor started ended"),
        "routes": _LOWS,
        "since": "Array(Int64)",
        "sources": _TEXTS,
        "reason": "String",
        "causes": _LOWS,
        "state": _LOW,
        "pairs": "UInt32",
        **_named("String", "results progress why"),
        "written": _NANOS,
        **_WRITER,
    },
    "audit_scores": {
        "audit_id": "String",
        "pair": "UInt32",
        "side": _LOW,
        "likeness": "Float64",
        **_named("String", "trace_id record_id"),
        **_named(_LOW, "route rubric layer"),
        "value": _MAYBE_FLOAT,
        **_named(_LOW, "label scorer version"),
        "written": _NANOS,
        **_WRITER,
    },
    "ledger": {
        "replica": _LOW,
        "seq": "UInt64",
        "received": _NANOS,
        **_named("UInt32", "spans stored duplicate quarantined"),
        "epoch": "UInt32",
    },
    "quarantine": {
        "time": _NANOS,
        "table": _LOW,
        **_named("String", "reason trace_id span_id row"),
        **_WRITER,
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

    return [get_from_name(kind.replace(_LOW, "String")) for kind in TABLES[table].values()]
