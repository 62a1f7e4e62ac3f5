"""The JSON forms of the API: what is read. Unknown is null, never 0."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragvigil.model.delta import BaselineKind, Moved
from ragvigil.model.score import Layer

Number = float | None


class DocumentForm(BaseModel):
    """One chunk; `content` is null where the spans hide or lack its text."""

    id: str = Field(description="the chunk's id, or the hash of its text")
    document_id: str
    content: str | None
    score: Number = Field(description="raw, as the retriever said it")
    rank: int = Field(description="0-based position")
    metadata: dict[str, Any] = {}


class CitationForm(BaseModel):
    """A claim of the answer that points at a chunk."""

    target: str = Field(description="what it points at, as written")
    chunk_id: str | None = Field(description="the chunk that was found for it")
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
    """What a user said of an answer."""

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
    """One answer with everything the spans say about it."""

    entry_route: str
    started: datetime
    ended: datetime
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
    sampling_probability: Number = Field(description="of the service's own sampling")
    feedback: list[FeedbackForm]


class TraceForm(BaseModel):
    """A trace; `records` is empty where nothing in it is a RAG answer."""

    trace_id: str
    records: list[RecordForm]


class RecordsForm(BaseModel):
    """Records that match, newest first; with a rubric, lowest score first."""

    records: list[RecordSummary]


class DeltaForm(BaseModel):
    """One series at one tick over one window; see the README of alerts for the terms."""

    service: str
    environment: str
    route: str
    rubric: str = Field(description="a rubric, or `rubric:label` for the rate of a label")
    layer: Layer
    segment: str = Field(description="versions of rubric and scorer")
    tick: datetime = Field(description="end of the window")
    closed: bool = Field(description="whether the tick no longer waits for late scores")
    window: str
    n: int
    n_effective: float
    failed: int
    coverage: Number
    mean: Number
    baseline: Number
    baseline_kind: BaselineKind
    baseline_n: int
    delta: Number
    low: Number
    high: Number
    release_baseline: Number
    release_delta: Number
    release_low: Number
    release_high: Number
    overdispersion: float
    detection_limit: Number
    sustained_drop: bool
    moved: Moved
    since: datetime | None = Field(description="start of the hour in which the movement began")
    hours: list[Number] = Field(
        default=[], description="hourly means of the 24 hours before the tick"
    )


class DeltasForm(BaseModel):
    """The newest tick of every series that matches, or all ticks since a time."""

    deltas: list[DeltaForm]


class SpanLedger(BaseModel):
    """What became of acknowledged spans; the others sum up to the first."""

    acknowledged: int
    stored: int
    duplicate: int
    quarantined: int
    in_spool: int


class RecordLedger(BaseModel):
    """What became of closed traces."""

    scored: int
    not_rag: int
    shed: int
    late: int
    unparseable: int


class LedgerForm(BaseModel):
    """The books."""

    spans: SpanLedger
    records: RecordLedger


class LabelForm(BaseModel):
    """What a person said of an answer by one rubric."""

    id: str
    rubric: str
    trace_id: str
    record_id: str = Field(description="empty where it speaks of the trace's only record")
    value: Number
    label: str
    labeller: str
    source: str
    comment: str
    time: datetime


class LabelsForm(BaseModel):
    """Labels that match, newest first."""

    labels: list[LabelForm]


class LevelForm(BaseModel):
    """The mean that people would have found (PPI++), with its 95 % interval."""

    mean: float
    low: float
    high: float
    judged: float = Field(description="what the judge alone found")
    labels: int
    records: int
    weight: float = Field(description="how far the judge was followed, 0 to 1")


class JudgeForm(BaseModel):
    """A judge of one rubric against the labels of people; unknown is null."""

    rubric: str
    judge: str = Field(description="the model")
    version: str = Field(description="of the rubric that it judges by")
    segment: str
    scale: Literal["pass_fail", "grades", "words"] = Field(description="what the labels are")
    labels: int = Field(description="of the newest 200, those that this judge's verdicts meet")
    kappa: Number = Field(description="Cohen's; grades weighted by the squared distance")
    low: Number
    high: Number
    agreement: Number = Field(description="share of records on which both say the same")
    disagreements: int
    state: Literal["unmeasured", "trusted", "retired"]
    reason: str
    level: LevelForm | None


class JudgesForm(BaseModel):
    """Every judge that works or has labels."""

    judges: list[JudgeForm]


class SaidForm(BaseModel):
    """One side of a disagreement."""

    rubric: str
    by: Literal["person", "judge", "scorer"]
    name: str
    value: float


class DisagreementForm(BaseModel):
    """Two verdicts on one record that do not go together."""

    kind: Literal["judge_against_person", "judge_against_scorer", "rubric_against_rubric"]
    trace_id: str
    record_id: str
    time: datetime
    service: str
    route: str
    gap: float
    why: str
    first: SaidForm
    second: SaidForm


class DisagreementsForm(BaseModel):
    """Records worth a person's time, the most worth first."""

    disagreements: list[DisagreementForm]
