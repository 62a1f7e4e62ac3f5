"""Evaluations of golden sets as they are sent, and beside live traffic."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ragvigil.web.views.posts import Name, Time

MOST_CASES = 500
"""Cases of one request; a larger run is sent in several, under one id."""
MOST_VALUES = 200
MOST_COMPARISONS = 2000

Value = Annotated[float, Field(allow_inf_nan=False)]


class CaseScoresPost(BaseModel):
    """What one case showed; no text of its question or answer."""

    model_config = ConfigDict(extra="forbid")

    case_id: Name
    question: Name = Field(description="equal for paraphrases: a hash")
    condition: Name = Field(default="retrieved", description="gold, retrieved or perturbed")
    service: Name = ""
    environment: Name = Field(default="", description="empty: stands beside any environment")
    route: Name = ""
    reading: Name = Field(default="", description="why it failed; empty where it did not")
    values: dict[Name, Value] = Field(max_length=MOST_VALUES, description="by rubric or metric")


class EvaluationPost(BaseModel):
    """A run of a golden set, or a part of it."""

    model_config = ConfigDict(extra="forbid")

    run_id: str = Field(pattern="^[0-9a-f]{12,32}$")
    ran: Time
    set_name: Name
    set_hash: Name
    target: Name
    release: Name = ""
    cases: list[CaseScoresPost] = Field(min_length=1, max_length=MOST_CASES)


GateState = Literal["pass", "worse", "cannot say"]
Sentence = Annotated[str, Field(max_length=1000)]


class ComparisonForm(BaseModel):
    """A rubric in a run and in its base, over all cases or in a slice."""

    rubric: Annotated[Name, Field(min_length=1)]
    layer: Name = ""
    dimension: Name = Field(default="", description="what the slice is made by; empty for all")
    slice: Name = ""
    verdict: Literal["worse", "within noise", "better", "too few cases to say"]
    decides: bool = Field(default=False, description="whether too few cases of it stop the gate")
    n: int = Field(ge=1, description="cases with a value in both runs")
    base: Value
    new: Value
    low: Value = Field(description="of the 90 % interval of the change")
    high: Value
    allowed: Value = Field(description="the largest fall that stops no release")


class ComparisonPost(ComparisonForm):
    """A rubric that the gate compared."""

    model_config = ConfigDict(extra="forbid")


class GatePost(BaseModel):
    """What `ragvigil gate` said of a run that was sent; no text of a question or an answer."""

    model_config = ConfigDict(extra="forbid")

    state: GateState
    base_release: Name = ""
    sentences: list[Sentence] = Field(default=[], max_length=50, description="why")
    comparisons: list[ComparisonPost] = Field(default=[], max_length=MOST_COMPARISONS)


class GateForm(BaseModel):
    """What the gate said of a run; what is worse first."""

    state: GateState
    base_release: str
    sentences: list[str]
    sender: str
    comparisons: list[ComparisonForm]


class EvaluationForm(BaseModel):
    """A run that was sent."""

    run_id: str
    ran: datetime
    set_name: str
    set_hash: str
    target: str
    release: str
    sender: str
    cases: int
    failed: int
    gate: GateState | None = Field(
        default=None, description="what the gate said of it; null where it was not compared"
    )


class EvaluationsForm(BaseModel):
    """Runs, newest first."""

    evaluations: list[EvaluationForm]


class SideForm(BaseModel):
    """A mean over `n` questions of the set, or `n` live answers."""

    n: int
    mean: float


class GapForm(BaseModel):
    """A rubric of the set beside the same rubric live."""

    service: str
    route: str = Field(description="empty for all routes")
    rubric: str
    offline: SideForm
    live: SideForm
    gap: float = Field(description="offline less live")
    low: float = Field(description="of the 95 % interval for all gaps of the run together")
    high: float
    is_apart: bool = Field(
        description="the interval leaves out 0, and the gap is 0.05 or more: the set asks other "
        "questions than users do"
    )


class UncoveredForm(BaseModel):
    """A large topic without a golden case."""

    service: str
    environment: str
    topic_id: str
    name: str
    share: float = Field(description="of the questions that users ask")


class OnlineForm(BaseModel):
    """A run beside the live traffic of its release; the widest gap first."""

    evaluation: EvaluationForm
    since: datetime = Field(description="live answers from then on are compared")
    gaps: list[GapForm]
    uncovered: list[UncoveredForm] = Field(description="the largest first")
    sentences: list[str] = Field(description="what that says of the set")
    gate: GateForm | None = Field(default=None, description="null where it was not compared")
