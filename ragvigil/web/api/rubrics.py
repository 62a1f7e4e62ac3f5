"""`/api/v1/rubrics`: rubrics that people make live; and guards, which are drafted from an issue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Literal, Protocol

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from pydantic import BaseModel, Field

from ragvigil.model.score import Layer
from ragvigil.web.acts import write_act
from ragvigil.web.api.issues import NoSuchIssue
from ragvigil.web.errors import Error
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.posts import PersonalPost
from ragvigil.web.views.verdict.scores import Number

router = APIRouter(prefix="/api/v1")

MOST_CHARACTERS = 20_000
RubricName = Annotated[str, Path(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]


class RubricRefused(ValueError):
    """A rubric cannot be made live; `str(error)` says why."""


class NoGuard(ValueError):
    """No guard can be drafted; `str(error)` says why."""


class RubricPost(PersonalPost):
    """A rubric to make live."""

    text: str = Field(
        min_length=1,
        max_length=MOST_CHARACTERS,
        description="its TOML file, with a [judge] or a [pattern] table",
    )
    issue_id: str = Field(default="", max_length=64, description="the issue that it guards")
    sentence: str = Field(default="", max_length=500, description="what it was drafted from")


class RemovePost(PersonalPost):
    """Takes a rubric out; there is nothing to say."""


class AcceptedRubricForm(BaseModel):
    """A rubric that a person made live."""

    name: str
    layer: Layer
    how: Literal["pattern", "judge"] = Field(
        description="`pattern`: code, on every live answer; `judge`: on the judge's sample"
    )
    description: str
    text: str = Field(description="its TOML file")
    issue_id: str = Field(description="the issue that it guards; empty for none")
    sentence: str
    accepted_by: str
    accepted: datetime
    is_on: bool = Field(description="whether it scores now")
    why_off: str = Field(description="why it does not; empty where it does")


class AcceptedRubricsForm(BaseModel):
    """The rubrics that people made live, the newest first."""

    rubrics: list[AcceptedRubricForm]


class GuardPost(PersonalPost):
    """How a guard is to check."""

    how: Literal["any", "pattern", "judge"] = Field(
        default="any", description="`any`: a pattern where one separates, else a judge's rubric"
    )


class CaughtForm(BaseModel):
    """How many answers of a group the guard fails, and the share with its interval, 95 %."""

    fails: int
    answers: int
    share: Number
    low: Number
    high: Number


class GuardDraftForm(BaseModel):
    """A guard that is drafted and not live; post its `text` to `/rubrics` to accept it."""

    issue_id: str
    name: str
    how: Literal["pattern", "judge"]
    text: str = Field(description="its TOML file")
    check: str = Field(description="what it looks for, in words")
    why_no_pattern: str = Field(description="why it is not a pattern; empty where it is one")
    recall: CaughtForm = Field(description="of members that the draft was not made from")
    neighbours: CaughtForm = Field(description="of passing neighbours, and others that pass")
    precision: CaughtForm = Field(
        description="of the members and neighbours that it fails, those that are members"
    )
    week: CaughtForm = Field(description="of a sample of 7 days of the service's answers")
    week_failing: int = Field(description="answers of the week that it fails and that fail anyhow")
    usd: Number = Field(description="what the draft cost; null where the model has no price")
    tokens: int


class RubricSource(Protocol):
    """Keeps accepted rubrics; the composition root provides it."""

    def accepted(self) -> Sequence[AcceptedRubricForm]:
        """The live rubrics, the newest first."""
        ...

    def accept(self, post: RubricPost, person: str) -> AcceptedRubricForm:
        """Makes a rubric live. Raises RubricRefused."""
        ...

    def remove(self, name: str, person: str) -> AcceptedRubricForm | None:
        """Takes a rubric out; None where there is none."""
        ...

    def draft(self, issue_id: str, how: str) -> GuardDraftForm:
        """Drafts a guard, which may take minutes. Raises NoSuchIssue or NoGuard."""
        ...


@router.get(
    "/rubrics",
    summary="Rubrics that people made live, guards of issues among them",
    dependencies=[Depends(Requires(Permission.READ))],
)
def rubrics(request: Request) -> AcceptedRubricsForm:
    """Newest first; those of the settings and of the house are not among them."""
    return AcceptedRubricsForm(rubrics=list(_source(request).accepted()))


@router.post(
    "/rubrics",
    summary="Make a rubric live: a pattern on every answer, a judge's on its sample",
    responses={409: {"model": Error, "description": "The rubric is wrong, or its name is taken."}},
    dependencies=[Depends(Requires(Permission.APPROVE))],
)
def accept(request: Request, post: RubricPost) -> AcceptedRubricForm:
    """It scores answers that come from now on."""
    with _status_of_errors():
        form = _source(request).accept(post, request.state.person.name)
    write_act(request, "accept", f"rubrics/{form.name}")
    return form


@router.post(
    "/rubrics/{name}/remove",
    summary="Take a live rubric out",
    dependencies=[Depends(Requires(Permission.APPROVE))],
)
def remove(request: Request, name: RubricName, _: RemovePost) -> AcceptedRubricForm:
    """Its scores so far stay."""
    form = _source(request).remove(name, request.state.person.name)
    if form is None:
        raise HTTPException(404, f"there is no accepted rubric {name}")
    write_act(request, "remove", f"rubrics/{name}")
    return form


@router.post(
    "/issues/{issue_id}/guard",
    summary="Draft a guard of an issue: a check that fails its answers and passes others",
    responses={
        409: {"model": Error, "description": "Nothing separates them, or there is no judge."}
    },
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def draft(request: Request, issue_id: str, post: GuardPost) -> GuardDraftForm:
    """Nothing is live by it. Without a pattern that separates, the judge is asked about answers."""
    with _status_of_errors():
        form = _source(request).draft(issue_id, post.how)
    write_act(request, "draft guard", f"issues/{form.issue_id}")
    return form


@contextmanager
def _status_of_errors() -> Iterator[None]:
    try:
        yield
    except NoSuchIssue as error:
        raise HTTPException(404, str(error)) from error
    except (RubricRefused, NoGuard) as error:
        raise HTTPException(409, str(error)) from error


def _source(request: Request) -> RubricSource:
    source: RubricSource | None = request.app.state.rubrics
    if source is None:
        raise HTTPException(404, "this daemon takes no rubrics while it runs")
    return source
