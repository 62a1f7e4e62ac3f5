"""Releases as the API shows them."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field


class FigureForm(BaseModel):
    """A figure of `n` answers with its 95 % interval."""

    value: float
    low: float
    high: float | None = Field(description="null where nothing bounds it")
    n: int


class ReleaseForm(BaseModel):
    """A version of a service in a slice; figures are null where nothing is known."""

    service: str
    environment: str
    version: str = Field(description="`service.version`; empty where no span says it")
    dimension: str = Field(description="what the slice is made by; empty for all answers")
    value: str
    name: str = Field(description="the value, or the name of the topic")
    first_seen: datetime
    last_seen: datetime
    answers: int
    context_recall: FigureForm | None = Field(description="of questions with a golden case")
    groundedness: FigureForm | None
    answer_relevance: FigureForm | None
    refusal: FigureForm | None = Field(description="share of answers that refused")
    p95_seconds: FigureForm | None = Field(description="95th percentile of the latency")
    cost_usd: FigureForm | None = Field(description="of an answer")


class ReleasesForm(BaseModel):
    """The newest version of each service first, all answers before slices."""

    since: datetime
    share: float = Field(description="of the answers that were drawn: 1 up to 50,000 answers")
    releases: list[ReleaseForm]
