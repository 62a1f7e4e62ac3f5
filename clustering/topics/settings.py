"""Settings of `[clustering.topics]`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class TopicSettings(BaseModel):
    """The map of topics of all questions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions_per_day: int = Field(
        default=2000,
        ge=0,
        le=20_000,
        description="questions of each service that are embedded a day, chosen by a hash of the "
        "trace id, plus as many that users rated; 0 switches topics off",
    )
    least_questions: int = Field(
        default=300, ge=50, description="questions of a week from which a map is built"
    )
    gap_share: float = Field(
        default=0.02,
        gt=0,
        le=1,
        description="a topic with at least this share of the questions and without a golden case "
        "is a gap",
    )
