"""Topics as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class ShareForm(BaseModel):
    """`count` of `of`, with Wilson's 95 % interval; null where `of` is 0."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


class TopicForm(BaseModel):
    """Questions that lie close together."""

    topic_id: str = Field(description="stable from map to map; empty for questions in no topic")
    name: str
    asked: ShareForm = Field(description="of the sampled questions")
    failing: ShareForm = Field(
        description="sampled questions with an error, a rubric that failed among those that look "
        "at every record, or a thumbs-down"
    )
    thumbs_down: ShareForm = Field(description="of all rated answers, in the sample or not")
    verdict: Literal["problem", "good", "cannot_tell"] = Field(
        description="the interval of thumbs_down lies over 5 %, under 2 %, or neither, or fewer "
        "than 20 answers were rated"
    )
    fails_more: bool = Field(
        default=False,
        description="more of its questions fail than of all others; so many topics are looked at "
        "that by chance one in twenty maps has one",
    )
    x: float = Field(default=0.0, description="on a map on which topics that are alike lie near")
    y: float = 0.0
    golden_cases: int
    is_gap: bool = Field(default=False, description="large, and without a golden case")
    examples: list[str] = Field(description="questions in the middle of the topic")


class TopicMapForm(BaseModel):
    """The topics of one service, most asked first; `rest` are questions in no topic."""

    service: str
    environment: str
    built: datetime
    since: datetime
    questions: int = Field(description="sampled questions that the map rests on")
    topics: list[TopicForm]
    rest: TopicForm


class CollectionForm(BaseModel):
    """Questions of the last week, collected for a map."""

    service: str
    environment: str
    questions: int


class TopicsForm(BaseModel):
    """The newest map of each service, and how far the next ones are."""

    maps: list[TopicMapForm] = Field(default=[])
    collecting: list[CollectionForm] = Field(default=[])
    least_questions: int = Field(default=0, description="questions needed for a first map")
    why: str = Field(default="", description="why nothing is collected at the moment")
