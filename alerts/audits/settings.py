"""Settings of `[alerts.audit]`; the descriptions are the documentation."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class AuditSettings(BaseModel):
    """How the judge compares answers from before a change with answers from after it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    per_day: int = Field(default=2, ge=0, description="audits started a day (UTC); 0 is none")
    records: int = Field(
        default=300,
        ge=30,
        description="answers judged from before a change, and as many from after it; up to twice "
        "as many where a drop is in sight",
    )
    rubrics: tuple[str, ...] = Field(
        default=("context_relevance", "prompt_relevance", "rerank_gain", "groundedness"),
        min_length=1,
        description="judged rubrics of an audit, by layer: a drop that pages ends the rubrics "
        "after it; the first three are read from the same replies",
    )
    then: tuple[str, ...] = Field(
        default=("completeness", "chunk_attribution", "answer_relevance", "factual_accuracy"),
        description="judged on the same answers, only if no rubric above dropped enough to page; "
        "a drop ends these, too",
    )
    smallest_drop: Annotated[float, Field(ge=0.01, le=0.5)] = Field(
        default=0.04, description="smallest drop that matters; a smaller drop counts as none"
    )
    hours: float = Field(
        default=6.0, gt=0, le=48, description="hours after which an audit ends undecided"
    )
