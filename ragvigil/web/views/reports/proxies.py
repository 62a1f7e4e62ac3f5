"""Rubrics against users as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class IntervalForm(BaseModel):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float


class TrackingForm(BaseModel):
    """A rubric against one kind of feedback."""

    rubric: str
    verdict: Literal[
        "tracks users", "does not track users", "bad answers score higher", "too few to say"
    ]
    auroc: IntervalForm | None = Field(
        description="the chance that an answer that users complain of scores below another: 0.5 is "
        "chance; null where no answer, or every one, is complained of"
    )
    lift: IntervalForm | None = Field(
        description="how many times as often an answer that fails the rubric is complained of as "
        "any answer; null where nothing fails or the rubric has no threshold"
    )
    n: int = Field(description="answers with a score of the uniform sample")
    bad: int = Field(description="of them complained of")


class FitForm(BaseModel):
    """All rubrics together: a logistic fit of the complaints."""

    odds: dict[str, IntervalForm] = Field(
        description="by rubric, how many times larger the odds of a complaint are per standard "
        "deviation that its score is lower, the other rubrics held"
    )
    auroc: IntervalForm = Field(description="of answers that the fit had not seen")
    n: int


class SignalForm(BaseModel):
    """Every rubric against one kind of feedback, best first."""

    signal: Literal["thumbs_down", "escalation", "correction", "retry"]
    n: int = Field(description="answers compared; for thumbs_down those that were rated")
    bad: int
    rubrics: list[TrackingForm] = Field(
        description="intervals hold for all rubrics of the list together"
    )
    together: FitForm | None = Field(
        description="null with fewer than ten complaints for each rubric and one more ten"
    )


class ServiceProxiesForm(BaseModel):
    """The kinds of feedback that came of a service."""

    service: str
    environment: str
    signals: list[SignalForm]


class ProxiesForm(BaseModel):
    """Services of which users said something."""

    since: datetime
    services: list[ServiceProxiesForm]
