"""Traces and records as the API shows them. Unknown is null, never 0."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from ragvigil.model.score import Layer

Number = float | None


class DocumentForm(BaseModel):
    """One chunk; `content` is null where the spans hide or lack its text."""

    id: str = Field(description="the chunk's id, or the hash of its text")
    document_id: str
    content: str | None
    score: Number = Field(description="raw, as the retriever returned it")
    rank: int = Field(description="0-based position")
    metadata: dict[str, Any] = {}


class CitationForm(BaseModel):
    """A claim of the answer that points at a chunk."""

    target: str = Field(description="what it points at, as written")
    chunk_id: str | None = Field(description="the chunk that matches it")
    document_id: str = Field(
        description="`id` of the cited chunk; what the answer wrote where no chunk matches"
    )
    index: int | None
    marker: str
    quote: str | None
    start: int | None
    end: int | None
    claim_start: int | None
    claim_end: int | None
    style: str


class ScoreForm(BaseModel):
    """One rubric's verdict; `value` is null where it does not apply, `explanation` says why."""

    rubric: str
    layer: Layer
    value: Number
    label: str
    explanation: str
    scorer: str
    version: str
    segment: str
    kind: str
    stream: str
    failed: bool = Field(description="whether the value fails the rubric")
    absent: str = Field(description="the field whose absence made scoring impossible")
    details: dict[str, Any] = {}


class FeedbackForm(BaseModel):
    """A user's feedback on an answer."""

    kind: str
    value: Number
    comment: str
    source: str
    time: datetime


class RecordSummary(BaseModel):
    """One answer with its scores."""

    trace_id: str
    record_id: str
    time: datetime
    service: str
    environment: str
    route: str
    query: str | None
    answer: str | None
    scores: list[ScoreForm]


class RecordForm(RecordSummary):
    """One answer with everything its spans show."""

    entry_route: str
    started: datetime
    ended: datetime
    clock_replaced: bool = Field(
        description="whether `time` is that of receipt, as the spans' own is not believable"
    )
    generation: int
    retrieved: list[DocumentForm]
    reranked: list[DocumentForm]
    context: list[DocumentForm]
    context_source: str
    citations: list[CitationForm]
    absent: dict[str, str] = Field(description="why a field is unknown, by field")
    truncated: list[str]
    error: str | None
    usage: dict[str, int | None]
    cost_usd: Number
    latencies: dict[str, Number]
    dimensions: dict[str, str | float | None]
    shape: dict[str, Number]
    session_id: str
    user_id: str
    response_ids: list[str]
    instrumentors: list[str]
    conventions: list[str]
    backfill: str = Field(description="name of the declared backfill, empty for live traffic")
    sampling_probability: Number = Field(description="of the sampling that the service itself does")
    feedback: list[FeedbackForm]


class TraceForm(BaseModel):
    """A trace; `records` is empty where nothing in it is a RAG answer."""

    trace_id: str
    records: list[RecordForm]


class RecordsForm(BaseModel):
    """Records that match, newest first; with a rubric, lowest score first."""

    records: list[RecordSummary]
    since: datetime = Field(description="the earliest time that was looked at")
    until: datetime | None = Field(description="the time before which was looked, null for none")
    next: str | None = Field(description="`cursor` of the next page, null where this is the last")
