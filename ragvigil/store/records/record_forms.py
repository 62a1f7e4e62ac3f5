"""Rows of records, scores and shapes in the form of the API. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from ragvigil.model.span import AHEAD_NANOS, BEHIND_NANOS

Row: TypeAlias = Mapping[str, Any]
Form: TypeAlias = dict[str, Any]

LISTS = ("retrieved", "reranked", "context")
USAGE = ("input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens")
LATENCIES = ("total", "retrieval", "rerank", "generation", "first_token")
DIMENSIONS = (
    "llm_model",
    "embedding_model",
    "reranker_model",
    "prompt_version",
    "index_epoch",
    "temperature",
    "max_tokens",
    "finish_reason",
    "top_k",
    "service_version",
    "tenant",
    "locale",
    "slice",
)
CITATION = (
    "target",
    "chunk_id",
    "document_id",
    "index",
    "marker",
    "quote",
    "start",
    "end",
    "claim_start",
    "claim_end",
    "style",
)
_SUMMARY = ("trace_id", "record_id", "service", "environment", "route", "query", "answer", "error")
_PLAIN = ("generation", "context_source", "truncated", "cost_usd", "session_id")
_MORE = ("entry_route", "user_id", "response_ids", "instrumentors", "conventions", "backfill")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def texts_needed(rows: Iterable[Row]) -> set[str]:
    """Hashes of all texts of these records."""
    return {name for row in rows for list_ in LISTS for name in row[f"{list_}.hash"] if name}


def summary(row: Row, scores: Sequence[Form]) -> Form:
    """A record without the texts of its chunks; `chunk_ids` are theirs by list."""
    return {
        **{name: row[name] for name in _SUMMARY},
        "time": time_of(row["time_nanos"]),
        "absent": dict(row["absent"]),
        "chunk_ids": {name: list(row[f"{name}.chunk_id"]) for name in LISTS},
        "scores": list(scores),
    }


def full(
    row: Row,
    scores: Sequence[Form],
    shape: Mapping[str, float],
    feedback: Sequence[Form],
    texts: Mapping[str, str],
) -> Form:
    """A record with all that is stored of it; `texts` by hash."""
    return {
        **summary(row, scores),
        **{name: row[name] for name in (*_PLAIN, *_MORE)},
        **{name: _documents(row, name, texts) for name in LISTS},
        "citations": [_citation(values) for values in _nested(row, "citations", CITATION)],
        "usage": {name: row[name] for name in USAGE},
        "latencies": {name: row[f"latency_{name}"] for name in LATENCIES},
        "dimensions": {name: row[name] for name in DIMENSIONS},
        "shape": dict(shape),
        "started": time_of(row["started_nanos"]),
        "ended": time_of(row["ended_nanos"]),
        "clock_replaced": _is_clock_replaced(row),
        "sampling_probability": row["sampling_probability"],
        "feedback": [*_own_feedback(row), *feedback],
    }


def score_form(row: Row) -> Form:
    """A score of the API."""
    names = ("rubric", "layer", "value", "label", "explanation", "scorer", "version", "segment")
    more = ("kind", "stream", "absent")
    details = json.loads(row["details"]) if row["details"] else {}
    return {
        **{name: row[name] for name in (*names, *more)},
        "failed": bool(row["failed"]),
        "details": details,
    }


def time_of(nanos: int) -> datetime:
    """The time of nanoseconds since the epoch, to the microsecond."""
    return _EPOCH + timedelta(microseconds=nanos // 1000)


def _is_clock_replaced(row: Row) -> bool:
    """Whether the time is that of receipt, because the spans' own time was not believable."""
    time = row["time_nanos"]
    is_near = -AHEAD_NANOS <= time - row["ended_nanos"] <= BEHIND_NANOS
    return time // 10**9 == row["received_seconds"] and not is_near


def _nested(row: Row, name: str, fields: Sequence[str]) -> Iterable[dict[str, Any]]:
    columns = [row[f"{name}.{field}"] for field in fields]
    return (dict(zip(fields, values, strict=True)) for values in zip(*columns, strict=True))


def _citation(values: Form) -> Form:
    """Sets `document_id`: the `id` of the cited chunk, or what the answer wrote if none matches."""
    return {**values, "document_id": values["chunk_id"] or values["target"]}


def _documents(row: Row, name: str, texts: Mapping[str, str]) -> list[Form]:
    fields = ("chunk_id", "document_id", "hash", "score", "rank", "metadata")
    return [
        {
            "id": chunk["chunk_id"],
            "document_id": chunk["document_id"],
            "content": texts.get(chunk["hash"]),
            "score": chunk["score"],
            "rank": chunk["rank"],
            "metadata": json.loads(chunk["metadata"]) if chunk["metadata"] else {},
        }
        for chunk in _nested(row, name, fields)
    ]


def _own_feedback(row: Row) -> Iterable[Form]:
    """Feedback that came in the spans themselves."""
    fields = ("kind", "value", "comment", "source", "time")
    for event in _nested(row, "feedback", fields):
        yield {**event, "time": time_of(event["time"])}
