"""`/api/v1/issue-background`: what fails outside of issues, and groups of it for who asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import BaseModel, Field

from ragvigil.model.score import Layer
from ragvigil.web.acts import write_act
from ragvigil.web.errors import Error
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.issues import CountForm
from ragvigil.web.views.posts import PersonalPost
from ragvigil.web.views.verdict.scores import Number

router = APIRouter(prefix="/api/v1")


class NotGrouped(ValueError):
    """The failures cannot be grouped; `str(error)` says why."""


class BackgroundKindForm(BaseModel):
    """Failures of one rubric and label that are in no issue."""

    service: str
    environment: str
    family: Layer
    rubric: str
    label: str
    name: str
    routes: list[str]
    count: CountForm
    last_day: int = Field(description="of the last 24 hours")
    answers: int = Field(description="all of these routes")
    rate: Number = Field(description="share of these that fail so; null where there are none")


class BackgroundListForm(BaseModel):
    """Failures of 7 days in no issue, the most first. They make no ticket."""

    kinds: list[BackgroundKindForm]


class ExampleForm(BaseModel):
    """A failing answer."""

    trace_id: str
    record_id: str
    question: str
    reason: str


class BackgroundGroupForm(BaseModel):
    """Failures in no issue that are alike."""

    name: str
    failures: int
    examples: list[ExampleForm]


class BackgroundGroupsForm(BaseModel):
    """Groups of failures outside of issues, the largest first; nothing of it is kept."""

    groups: list[BackgroundGroupForm]


class GroupPost(PersonalPost):
    """Asks for groups; there is nothing to say."""


class BackgroundSource(Protocol):
    """Reads what fails outside of issues; the composition root provides it."""

    def kinds(self) -> Sequence[BackgroundKindForm]:
        """By rubric and label, the most first."""
        ...

    def groups(self) -> Sequence[BackgroundGroupForm]:
        """Clusters, made now. Raises NotGrouped."""
        ...


@router.get(
    "/issue-background",
    summary="What fails outside of issues, by kind, with its rate",
    dependencies=[Depends(Requires(Permission.READ))],
)
def background(request: Request) -> BackgroundListForm:
    """Of seven days. An answer is here while it is in no issue."""
    return BackgroundListForm(kinds=list(_source(request).kinds()))


@router.post(
    "/issue-background/group",
    summary="Group what fails outside of issues, now; takes seconds, keeps nothing",
    responses={409: {"model": Error, "description": "Too few failures, or no local model."}},
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def group(request: Request, _: GroupPost) -> BackgroundGroupsForm:
    """By the vectors of reasons and questions, at most the newest 5,000."""
    try:
        groups = list(_source(request).groups())
    except NotGrouped as error:
        raise HTTPException(409, str(error)) from error
    write_act(request, "group", "issue-background")
    return BackgroundGroupsForm(groups=groups)


def _source(request: Request) -> BackgroundSource:
    source: BackgroundSource | None = request.app.state.background
    if source is None:
        raise HTTPException(404, "failing answers are not grouped here")
    return source
