"""Traces and records as the API shows them. Unknown is null, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, computed_field

from ragvigil.web.views.verdict.answer_verdict import AnswerVerdict, answer_verdict
from ragvigil.web.views.verdict.best_chunk import ChunkIds
from ragvigil.web.views.verdict.scores import Number, ScoreForm


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


class FeedbackForm(BaseModel):
    """A user's feedback on an answer."""

    kind: str
    value: Number
    comment: str
    source: str
    time: datetime


class _Record(BaseModel):
    """What a list and a trace both show of an answer."""

    trace_id: str
    record_id: str
    time: datetime
    service: str
    environment: str
    route: str
    query: str | None
    answer: str | None
    scores: list[ScoreForm]


class RecordSummary(_Record):
    """One answer with its scores."""

    verdict: AnswerVerdict
    rating: Number = Field(description="the worst that a user said of it, 0..1; null for nothing")


def record_summary(stored: Mapping[str, Any]) -> RecordSummary:
    """A stored record without its chunks, as a list shows it."""
    scores = [ScoreForm.model_validate(score) for score in stored["scores"]]
    chunk_ids = ChunkIds(**stored["chunk_ids"], absent=stored["absent"])
    is_disliked = stored["rating"] is not None and stored["rating"] < 0.5
    verdict = answer_verdict(scores, chunk_ids, error=stored["error"], is_disliked=is_disliked)
    return RecordSummary.model_validate({**stored, "scores": scores, "verdict": verdict})


class RecordForm(_Record):
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

    @computed_field(description="what happened here, and where it failed")  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> AnswerVerdict:
        """What happened here, and where it failed."""
        opinions = [each.value for each in self.feedback if each.value is not None]
        return answer_verdict(
            self.scores,
            self.chunk_ids(),
            error=self.error,
            is_disliked=any(opinion < 0.5 for opinion in opinions),
        )

    def chunk_ids(self) -> ChunkIds:
        """The chunks in their order, by id."""
        return ChunkIds(
            retrieved=[chunk.id for chunk in self.retrieved],
            reranked=[chunk.id for chunk in self.reranked],
            context=[chunk.id for chunk in self.context],
            absent=self.absent,
        )


class TraceForm(BaseModel):
    """A trace; `records` is empty where nothing in it is a RAG answer."""

    trace_id: str
    records: list[RecordForm]


class RecordsForm(BaseModel):
    """Records that match, newest first; with a rubric, lowest score first."""

    records: list[RecordSummary]
    since: datetime = Field(description="the earliest time that was looked at")
    until: datetime | None = Field(description="the time before which was looked, null for none")
    is_part: bool = Field(
        default=False, description="whether `since` is later than asked, as too many match"
    )
    next: str | None = Field(description="`cursor` of the next page, null where this is the last")


class FacetValueForm(BaseModel):
    """How many of the counted answers have a value."""

    value: str
    answers: int


class FacetForm(BaseModel):
    """Counts by value, most first; an answer may have several rubrics and labels."""

    name: Literal[
        "routes", "models", "prompt_versions", "failing_rubrics", "failing_layers", "labels"
    ]
    values: list[FacetValueForm]


class RecordCountsForm(BaseModel):
    """How many answers match; with `is_more`, there are more than were counted."""

    answers: int
    is_more: bool
    since: datetime = Field(description="the earliest time that was looked at")
    until: datetime | None = Field(description="the time before which was looked, null for none")
    is_part: bool = Field(description="whether `since` is later than asked, as too many match")
    facets: list[FacetForm] = Field(description="over the counted answers")
