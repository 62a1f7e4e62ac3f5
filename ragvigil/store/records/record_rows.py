"""Rows of `records`, `record_shapes` and `scores`: part of the hot path.

Each row is a tuple in the order of a list of columns that stands beside its function. Fields that
are columns of the same name are read in one call (`attrgetter`) and need no line here: a new one
takes the model and a migration.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import orjson

from ragvigil.model.outcome import ScoredRecord
from ragvigil.model.record import (
    Citation,
    Dimensions,
    Document,
    Feedback,
    Latencies,
    RagRecord,
    Retrieval,
    Usage,
)
from ragvigil.model.score import Score
from ragvigil.store.engine.batch import Row
from ragvigil.store.engine.table import declare, nanos
from ragvigil.store.records.texts import text_hash

_MOST_INT = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricFacts:
    """What the store knows of a rubric: its version, and the value below which a record fails."""

    version: str = ""
    fails_below: float | None = None


_UNKNOWN = RubricFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What all rows of a trace share; `minute` and `received` in seconds, `time` in nanoseconds."""

    minute: int
    time: int
    received: int
    trace_id: str
    generation: int
    backfill: str
    writer: tuple[str, int]

    @property
    def version(self) -> tuple[object, ...]:
        """Generation, not gone, replica, epoch."""
        return (self.generation, 0, *self.writer)


def _names(kind: type, without: Collection[str] = ()) -> tuple[str, ...]:
    """The fields of a dataclass that are columns of the same name."""
    return tuple(field.name for field in fields(kind) if field.name not in without)


_KEY = ("minute", "received", "trace_id", "record_id", "service", "environment", "route")
_VERSION = ("generation", "gone", "replica", "epoch")

_RECORD_FIELDS = _names(
    RagRecord,
    without={
        *("trace_id", "generation"),  # of the stamp
        *("retrievals", "retrieved", "reranked", "context", "citations", "feedback"),
        *("usage", "latencies", "dimensions", "absent", "started_unix_nano", "ended_unix_nano"),
    },
)
_COUNTS = ("max_tokens", "top_k")
_DIMENSIONS = _names(Dimensions, without=_COUNTS)
_USAGE = _names(Usage)
_LATENCIES = _names(Latencies)
_OFFSETS = ("index", "start", "end", "claim_start", "claim_end")
_CITATION = (*_names(Citation, without=_OFFSETS), *_OFFSETS)
_DOCUMENT = ("chunk_id", "document_id", "hash", "score", "rank", "metadata")
_FEEDBACK = ("kind", "value", "comment", "source", "time")

_record_values = attrgetter(*_RECORD_FIELDS)
_dimension_values = attrgetter(*_DIMENSIONS)
_count_values = attrgetter(*_COUNTS)
_usage_values = attrgetter(*_USAGE)
_latency_values = attrgetter(*_LATENCIES)
_citation_values = attrgetter(*_CITATION)

# Shared by all rows that have none of these: rows are never changed.
_NO_DOCUMENTS: tuple[list[Any], ...] = tuple([] for _ in _DOCUMENT)
_NO_CITATIONS: tuple[list[Any], ...] = tuple([] for _ in _CITATION)
_NO_FEEDBACK: tuple[list[Any], ...] = tuple([] for _ in _FEEDBACK)

RECORD_COLUMNS = declare(
    "records",
    (
        *("minute", "time", "received", "trace_id"),
        *_RECORD_FIELDS,
        *("absent", "started", "ended"),
        *(
            f"{name}.{field}"
            for name in ("retrieved", "reranked", "context")
            for field in _DOCUMENT
        ),
        *("retrievals.span_id", "retrievals.query", "retrievals.chunk_ids", "span_ids"),
        *(f"citations.{field}" for field in _CITATION),
        *(f"feedback.{field}" for field in _FEEDBACK),
        *_DIMENSIONS,
        *_COUNTS,
        *_USAGE,
        *(f"latency_{name}" for name in _LATENCIES),
        "backfill",
        *_VERSION,
    ),
)


def record_row(record: RagRecord, stamp: Stamp) -> Row:
    """One row of `records`, in the order of RECORD_COLUMNS; document texts by hash."""
    return (
        *(stamp.minute, stamp.time, stamp.received, stamp.trace_id),
        *_record_values(record),
        dict(record.absent),
        nanos(record.started_unix_nano),
        nanos(record.ended_unix_nano),
        *_documents(record.retrieved),
        *_documents(record.reranked),
        *_documents(record.context),
        *_retrievals(record.retrievals),
        *_citations(record.citations),
        *_feedback(record.feedback),
        *_dimension_values(record.dimensions),
        *map(_whole, _count_values(record.dimensions)),
        *map(_whole, _usage_values(record.usage)),
        *_latency_values(record.latencies),
        stamp.backfill,
        *stamp.version,
    )


SHAPE_COLUMNS = declare("record_shapes", (*_KEY, "measures", *_VERSION))


def shape_row(scored: ScoredRecord, stamp: Stamp) -> Row:
    """One row of `record_shapes`, in the order of SHAPE_COLUMNS: measurements that are known."""
    record = scored.record
    return (
        *(stamp.minute, stamp.received, stamp.trace_id),
        *(record.record_id, record.service, record.environment, record.route),
        {name: float(value) for name, value in scored.shape.items() if value is not None},
        *stamp.version,
    )


MOST_DETAILS = 1_000_000
"""Characters of a score's evidence: a plug-in may return any number of them."""
_SCORE_FIELDS = _names(Score, without={"details"})
_score_values = attrgetter(*_SCORE_FIELDS)
SCORE_COLUMNS = declare(
    "scores", (*_KEY, "time", *_VERSION, *_SCORE_FIELDS, "segment", "details", "failed")
)


def score_rows(
    record: RagRecord, scores: Iterable[Score], stamp: Stamp, rubrics: Mapping[str, RubricFacts]
) -> list[Row]:
    """Rows of `scores`, in the order of SCORE_COLUMNS.

    A record fails a rubric where its value lies under `fails_below`.
    """
    # Equal in all scores of a record, so it is built once.
    place = (
        *(stamp.minute, stamp.received, stamp.trace_id),
        *(record.record_id, record.service, record.environment, record.route),
        stamp.time,
        *stamp.version,
    )
    rows = []
    for score in scores:
        facts = rubrics.get(score.rubric, _UNKNOWN)
        computed = (
            segment(facts, score),
            details_json(score),
            int(score.fails(facts.fails_below)),
        )
        rows.append(place + _score_values(score) + computed)
    return rows


def segment(facts: RubricFacts, score: Score) -> str:
    """The versions of rubric and scorer: values of different segments are never compared.

    >>> segment(RubricFacts(version="2"), Score(rubric="r", scorer="words", version="1.4"))
    'r2 words1.4'
    """
    return f"r{facts.version} {score.scorer}{score.version}"


def details_json(score: Score) -> str:
    """The details as JSON; of more than MOST_DETAILS characters only how many there were.

    >>> details_json(Score(rubric="r", details={"words": "a" * MOST_DETAILS}))
    '{"characters_left_out":1000012}'
    """
    text = as_json(score.details)
    return text if len(text) <= MOST_DETAILS else as_json({"characters_left_out": len(text)})


def as_json(value: Mapping[str, object]) -> str:
    """Compact JSON; an empty text for an empty mapping."""
    if not value:
        return ""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # integers of more than 64 bits, lone surrogates
        return json.dumps(value, separators=(",", ":"), default=str)


def _documents(documents: Sequence[Document]) -> tuple[list[Any], ...]:
    if not documents:
        return _NO_DOCUMENTS
    return (
        [document.chunk_id for document in documents],
        [document.document_id for document in documents],
        ["" if document.content is None else text_hash(document.content) for document in documents],
        [document.score for document in documents],
        [min(max(document.rank, 0), 2**32 - 1) for document in documents],
        [as_json(document.metadata) for document in documents],
    )


def _retrievals(retrievals: Sequence[Retrieval]) -> tuple[list[Any], ...]:
    span_ids = [call.span_id for call in retrievals]
    return (
        span_ids,
        [call.query for call in retrievals],
        [[document.chunk_id for document in call.documents] for call in retrievals],
        span_ids,
    )


def _citations(citations: Sequence[Citation]) -> Sequence[Sequence[Any]]:
    if not citations:
        return _NO_CITATIONS
    columns = list(zip(*map(_citation_values, citations), strict=True))
    return columns[: -len(_OFFSETS)] + [
        tuple(map(_whole, column)) for column in columns[-len(_OFFSETS) :]
    ]


def _feedback(feedback: Sequence[Feedback]) -> tuple[list[Any], ...]:
    if not feedback:
        return _NO_FEEDBACK
    return (
        [event.kind for event in feedback],
        [event.value for event in feedback],
        [event.comment for event in feedback],
        [event.source for event in feedback],
        [nanos(event.time_unix_nano) for event in feedback],
    )


def _whole(value: int | None) -> int | None:
    """The number, None if Int64 cannot hold it: spans may carry any integer."""
    return value if value is not None and -_MOST_INT <= value <= _MOST_INT else None
