"""Rows of `records`, `record_shapes` and `scores`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from ragvigil.store.records.span_rows import nanos
from ragvigil.store.records.texts import text_hash

_MOST_INT = 2**63 - 1
_NO_DOCUMENTS: tuple[list[Any], ...] = ([], [], [], [], [], [])
_NO_CITATIONS: tuple[list[Any], ...] = tuple([] for _ in range(11))
_NO_FEEDBACK: tuple[list[Any], ...] = ([], [], [], [], [])


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricFacts:
    """What the store must know of a rubric: its version, and under which value a record fails."""

    version: str = ""
    fails_below: float | None = None


_UNKNOWN = RubricFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What all rows of a trace share."""

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


def record_row(record: RagRecord, stamp: Stamp) -> Row:
    """One row of `records`; document texts by hash."""
    return (
        stamp.minute,
        stamp.time,
        stamp.received,
        stamp.trace_id,
        record.record_id,
        record.service,
        record.environment,
        record.route,
        record.entry_route,
        record.query,
        record.answer,
        record.error,
        record.context_source,
        list(record.truncated),
        dict(record.absent),
        *_documents(record.retrieved),
        *_documents(record.reranked),
        *_documents(record.context),
        *_retrievals(record.retrievals),
        *_citations(record.citations),
        *_feedback(record.feedback),
        *_usage(record.usage),
        record.cost_usd,
        *_latencies(record.latencies),
        *_dimensions(record.dimensions),
        record.session_id,
        record.user_id,
        list(record.response_ids),
        [one.span_id for one in record.retrievals],
        nanos(record.started_unix_nano),
        nanos(record.ended_unix_nano),
        list(record.instrumentors),
        list(record.conventions),
        record.sampling_probability,
        stamp.backfill,
        *stamp.version,
    )


def shape_row(scored: ScoredRecord, stamp: Stamp) -> Row:
    """One row of `record_shapes`: the measurements that are known."""
    record = scored.record
    return (
        stamp.minute,
        stamp.received,
        stamp.trace_id,
        record.record_id,
        record.service,
        record.environment,
        record.route,
        {name: float(value) for name, value in scored.shape.items() if value is not None},
        *stamp.version,
    )


def score_row(
    score: Score, record: RagRecord, stamp: Stamp, rubrics: Mapping[str, RubricFacts]
) -> Row:
    """One row of `scores`. A record fails a rubric where its value lies under `fails_below`."""
    facts = rubrics.get(score.rubric, _UNKNOWN)
    return (
        stamp.minute,
        stamp.time,
        stamp.received,
        stamp.trace_id,
        record.record_id,
        score.rubric,
        score.layer,
        score.scorer,
        score.version,
        segment(facts, score),
        score.stream,
        score.kind,
        score.value,
        score.label,
        score.explanation,
        as_json(score.details),
        score.absent,
        int(score.fails(facts.fails_below)),
        score.inclusion_probability,
        record.service,
        record.environment,
        record.route,
        *stamp.version,
    )


def segment(facts: RubricFacts, score: Score) -> str:
    """The versions of rubric and scorer, within which values may be compared.

    >>> segment(RubricFacts(version="2"), Score(rubric="r", scorer="words", version="1.4"))
    'r2 words1.4'
    """
    return f"r{facts.version} {score.scorer}{score.version}"


def as_json(value: Mapping[str, object]) -> str:
    """Compact JSON; empty for nothing."""
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
        [one.chunk_id for one in documents],
        [one.document_id for one in documents],
        ["" if one.content is None else text_hash(one.content) for one in documents],
        [one.score for one in documents],
        [min(max(one.rank, 0), 2**32 - 1) for one in documents],
        [as_json(one.metadata) for one in documents],
    )


def _retrievals(retrievals: Sequence[Retrieval]) -> tuple[list[Any], ...]:
    return (
        [one.span_id for one in retrievals],
        [one.query for one in retrievals],
        [[document.chunk_id for document in one.documents] for one in retrievals],
    )


def _citations(citations: Sequence[Citation]) -> tuple[list[Any], ...]:
    if not citations:
        return _NO_CITATIONS
    return (
        [one.target for one in citations],
        [one.chunk_id for one in citations],
        [one.document_id for one in citations],
        [_whole(one.index) for one in citations],
        [one.marker for one in citations],
        [one.quote for one in citations],
        [_whole(one.start) for one in citations],
        [_whole(one.end) for one in citations],
        [_whole(one.claim_start) for one in citations],
        [_whole(one.claim_end) for one in citations],
        [one.style for one in citations],
    )


def _feedback(feedback: Sequence[Feedback]) -> tuple[list[Any], ...]:
    if not feedback:
        return _NO_FEEDBACK
    return (
        [one.kind for one in feedback],
        [one.value for one in feedback],
        [one.comment for one in feedback],
        [one.source for one in feedback],
        [nanos(one.time_unix_nano) for one in feedback],
    )


def _usage(one: Usage) -> tuple[int | None, ...]:
    counts = (one.input_tokens, one.output_tokens, one.cache_read_tokens, one.reasoning_tokens)
    return tuple(map(_whole, counts))


def _latencies(one: Latencies) -> tuple[float | None, ...]:
    return (one.total, one.retrieval, one.rerank, one.generation, one.first_token)


def _dimensions(one: Dimensions) -> tuple[object, ...]:
    return (
        one.llm_model,
        one.embedding_model,
        one.reranker_model,
        one.prompt_version,
        one.index_epoch,
        one.temperature,
        _whole(one.max_tokens),
        one.finish_reason,
        _whole(one.top_k),
        one.service_version,
        one.tenant,
        one.locale,
        one.slice,
    )


def _whole(value: int | None) -> int | None:
    """A number that Int64 can hold, None where it cannot."""
    return value if value is not None and -_MOST_INT <= value <= _MOST_INT else None
