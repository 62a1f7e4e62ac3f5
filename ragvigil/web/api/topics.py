"""`/api/v1/topics`: what users ask about, where it fails, and what no golden case covers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, Protocol

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


class TopicSource(Protocol):
    """What knows the topics; the composition root provides it."""

    def known(self) -> Mapping[str, object]:
        """The maps of all services, with the keys of `TopicsForm`."""
        ...


class ShareForm(BaseModel):
    """`count` of `of`, with Wilson's 95 % interval; without numbers where there is nothing."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


class TopicForm(BaseModel):
    """Questions that lie close together."""

    topic_id: str = Field(description="the same from map to map; empty of what is in no topic")
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
    golden_cases: int
    is_gap: bool = Field(default=False, description="large, and without a golden case")
    examples: list[str] = Field(description="questions in the middle of the topic")


class TopicMapForm(BaseModel):
    """The topics of one service, most asked first; `rest` is what lies in none."""

    service: str
    environment: str
    built: datetime
    since: datetime
    questions: int = Field(description="sampled questions that the map rests on")
    topics: list[TopicForm]
    rest: TopicForm


class CollectedForm(BaseModel):
    """Questions of the last week that a map can be made of."""

    service: str
    environment: str
    questions: int


class TopicsForm(BaseModel):
    """The newest map of each service, and how far the next ones are."""

    maps: list[TopicMapForm] = Field(default=[])
    collecting: list[CollectedForm] = Field(default=[])
    least_questions: int = Field(default=0, description="from which a first map is made")
    why: str = Field(default="", description="why nothing is collected at the moment")


@router.get(
    "/topics",
    summary="What is asked: topics with their share, failures, thumbs-down and golden cases",
    dependencies=[Depends(Requires(Permission.READ))],
)
def topics(request: Request, service: Name = "", environment: Name = "") -> TopicsForm:
    """The newest maps; a map is made weekly, sooner while questions are still few."""
    source: TopicSource | None = request.app.state.topics
    found = TopicsForm.model_validate(source.known() if source else {})
    wanted = (service, environment)
    return found.model_copy(
        update={
            "maps": [one for one in found.maps if _is_of(one, wanted)],
            "collecting": [one for one in found.collecting if _is_of(one, wanted)],
        }
    )


def _is_of(one: TopicMapForm | CollectedForm, wanted: tuple[str, str]) -> bool:
    return wanted[0] in ("", one.service) and wanted[1] in ("", one.environment)
