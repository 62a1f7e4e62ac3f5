"""Settings of `[[web.label_queues]]`: rules that fill queues of answers for people to label."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

DAY = 86_400


class Fill(StrEnum):
    """What a queue is filled with."""

    SAMPLED = "sampled"
    """A uniform sample of the answers that the judge has judged, else of all answers."""
    DISAGREEMENTS = "disagreements"
    """Answers on which the judge contradicts a person, a local scorer or another rubric."""
    CANARY = "canary"
    """The frozen answers that the judge is tested with."""
    SUSPICIOUS = "suspicious"
    """Answers that failed a rubric, or were judged because they looked wrong."""


class LabelQueue(BaseModel):
    """A queue: by which rubric people label, and which answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")] = Field(
        description="name in addresses, and the salt of its sample: another name draws another one"
    )
    fill: Fill = Field(
        default=Fill.SAMPLED,
        description="what it is filled with: sampled, disagreements, canary or suspicious",
    )
    rubric: str = Field(default="groundedness", description="rubric that people label by")
    service: str = Field(default="", description="answers of this service only")
    route: str = Field(default="", description="answers of this route only")
    label: str = Field(
        default="",
        description="answers with this label of a scorer only: quote_not_found",
    )
    share: float = Field(
        default=1.0, gt=0, le=1, description="share of these answers, drawn by a hash of their ids"
    )
    most: int = Field(default=30, ge=1, le=1000, description="answers for each person")
    days: int = Field(default=7, ge=1, le=90, description="age of the oldest answers")

    @model_validator(mode="after")
    def _draws_from_all(self) -> LabelQueue:
        is_drawn = self.fill in (Fill.SAMPLED, Fill.SUSPICIOUS)
        if not is_drawn and (self.label or self.share < 1):
            key = "label" if self.label else "share"
            raise ValueError(f"{key} goes with fill = sampled or suspicious, not {self.fill}")
        return self


DEFAULT_QUEUES: tuple[LabelQueue, ...] = (
    LabelQueue(name="sampled"),
    LabelQueue(name="disagreements", fill=Fill.DISAGREEMENTS),
    LabelQueue(name="canaries", fill=Fill.CANARY),
    LabelQueue(name="adversarial", fill=Fill.SUSPICIOUS),
)
