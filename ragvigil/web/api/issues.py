"""Named causes of failing records: `/api/v1/issues`, `/api/v1/issue-pairs`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal, Protocol

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.model.issue import IssueState, IssueVerb
from ragvigil.model.score import Layer
from ragvigil.store.engine.table import MOST_NANOS
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import issues as stored
from ragvigil.web.acts import write_act
from ragvigil.web.errors import Error
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.issues import (
    ExplainPost,
    IssueActPost,
    IssueForm,
    IssuesForm,
    IssueStoryForm,
    MembersForm,
    PairsForm,
    RetestForm,
    RootCauseForm,
)

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]
Cursor = Annotated[
    str,
    Query(
        pattern=r"^(\d{1,19}-[0-9a-f]{1,32}-[0-9a-f]{1,16})?$",
        description="`next` of the page before",
    ),
]
MOMENT = "ISO 8601, epoch seconds, or how long ago, like 7d"
PeoplesVerb = Literal[
    "acknowledge", "resolve", "ignore", "reopen", "assign", "rename", "merge", "unmerge"
]


class NoSuchIssue(LookupError):
    """There is no issue of this id."""


class VerbRefused(ValueError):
    """The verb does not fit the issue's state; `str(error)` says why."""


class NotListed(ValueError):
    """The issue that a cursor names is not in the list; `str(error)` says so."""


class IssueSource(Protocol):
    """Keeps issues; the composition root provides it."""

    def find(self, filter_: stored.IssueFilter, after: str = "") -> IssuesForm:
        """Issues that match, the most harmful first, and the failing records in no issue.

        `after` is the last issue of the page before. Raises NotListed.
        """
        ...

    def story(self, issue_id: str) -> IssueStoryForm:
        """All that is known of an issue; for a merged id, of the issue it is part of.

        Raises NoSuchIssue.
        """
        ...

    def members(self, issue_id: str, filter_: failed.FailureFilter) -> MembersForm:
        """Members that the filter leaves, newest first. Raises NoSuchIssue."""
        ...

    def retest(self, issue_id: str, limit: int) -> RetestForm:
        """Members of different questions, newest first, and their passing neighbours.

        Raises NoSuchIssue.
        """
        ...

    def parts(self, issue_id: str) -> tuple[str, ...]:
        """The ids of an issue and of those merged into it. Raises NoSuchIssue."""
        ...

    def pairs(self) -> PairsForm:
        """Issues that look alike, and that nobody has merged or kept apart."""
        ...

    def act(self, issue_id: str, verb: IssueVerb, actor: str, post: IssueActPost) -> IssueForm:
        """Applies a person's verb. Raises NoSuchIssue or VerbRefused."""
        ...

    def explain(self, issue_id: str, actor: str) -> RootCauseForm:
        """Looks for the root cause now, which may take minutes.

        Raises NoSuchIssue, or VerbRefused where another issue is being explained.
        """
        ...

    def begin_explaining(self, issue_id: str, actor: str) -> None:
        """Begins to look for the root cause, and returns. Raises as `explain` does."""
        ...


def _source(request: Request) -> IssueSource:
    source: IssueSource | None = request.app.state.issues
    if source is None:
        raise HTTPException(404, "no issues are kept here: failing records are not grouped")
    return source


@router.get(
    "/issues",
    summary="Issues: named causes of failing answers, the most harmful first",
    dependencies=[Depends(Requires(Permission.READ))],
)
def issues(
    request: Request,
    state: IssueState | None = None,
    service: Name = "",
    environment: Name = "",
    route: Name = "",
    family: Layer | None = None,
    owner: Annotated[
        str, Query(max_length=256, description="who has it; `nobody` for issues without an owner")
    ] = "",
    since: Annotated[str, Query(max_length=40, description=f"its last answer: {MOMENT}")] = "",
    until: Annotated[
        str, Query(max_length=40, description=f"its first answer came before: {MOMENT}")
    ] = "",
    q: Annotated[str, Query(max_length=256, description="occurs in the name, or is the id")] = "",
    cursor: Annotated[str, Query(max_length=64, description="`next` of the page before")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> IssuesForm:
    """By answers harmed per day, resolved and ignored ones last; how many failures are in none."""
    now = request.app.state.clock()
    filter_ = stored.IssueFilter(
        states=(state,) if state else (),
        service=service,
        environment=environment,
        route=route,
        family=family or "",
        owner=owner,
        since=int(point_of_time(since, now).timestamp()) if since else 0,
        until=int(point_of_time(until, now, "until").timestamp()) if until else 0,
        text=q,
        limit=limit,
    )
    try:
        return _source(request).find(filter_, cursor)
    except NotListed as error:
        raise HTTPException(422, str(error)) from error


@router.get(
    "/issues/{issue_id}",
    summary="One issue: counts, routes, versions, examples, root cause, what was done",
    dependencies=[Depends(Requires(Permission.READ))],
)
def issue(request: Request, issue_id: str) -> IssueStoryForm:
    """A merged id shows the issue that it is part of."""
    with _status_of_errors():
        return _source(request).story(issue_id)


@router.get(
    "/issues/{issue_id}/members",
    summary="The failing answers of an issue, the newest first",
    dependencies=[Depends(Requires(Permission.READ))],
)
def members(
    request: Request,
    issue_id: str,
    until: Annotated[str, Query(max_length=40, description=f"before this minute: {MOMENT}")] = "",
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> MembersForm:
    """A merged id shows the members of the issue that it is part of."""
    now = request.app.state.clock()
    end = int(point_of_time(until, now, "until").timestamp()) if until else failed.END
    nanos, trace_id, record_id = cursor.split("-") if cursor else ("0", "", "")
    filter_ = failed.FailureFilter(
        until=end,
        after=min(int(nanos), MOST_NANOS),
        after_trace_id=trace_id,
        after_record_id=record_id,
        limit=limit,
    )
    with _status_of_errors():
        return _source(request).members(issue_id, filter_)


@router.get(
    "/issues/{issue_id}/retest",
    summary="What to ask again of a release that mends an issue: members, passing neighbours",
    dependencies=[Depends(Requires(Permission.READ))],
)
def retest(
    request: Request, issue_id: str, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> RetestForm:
    """The newest member of each question, and for each the nearest question that passes."""
    with _status_of_errors():
        return _source(request).retest(issue_id, limit)


def begin_explaining(request: Request, issue_id: str) -> None:
    """Begins what `explain` does, and returns: no page waits for minutes. Raises HTTPException."""
    with _status_of_errors():
        _source(request).begin_explaining(issue_id, request.state.person.name)
    write_act(request, "explain", f"issues/{issue_id}")


@router.post(
    "/issues/{issue_id}/explain",
    summary="Look for the root cause now; a judge's model may read traces for minutes",
    responses={409: {"model": Error, "description": "Another issue is being explained."}},
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def explain(request: Request, issue_id: str, _: ExplainPost) -> RootCauseForm:
    """Without a judge, or without budget for it, the report is what code alone can tell."""
    with _status_of_errors():
        report = _source(request).explain(issue_id, request.state.person.name)
    write_act(request, "explain", f"issues/{issue_id}")
    return report


@router.post(
    "/issues/{issue_id}/{verb}",
    summary="Acknowledge, resolve, ignore, reopen, assign, rename, merge, unmerge",
    responses={409: {"model": Error, "description": "The issue does not take this verb."}},
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def act(request: Request, issue_id: str, verb: PeoplesVerb, post: IssueActPost) -> IssueForm:
    """`merge` keeps the older issue; `unmerge` gives a merged issue its members back."""
    source = _source(request)
    issue_verb = IssueVerb(verb)
    _require_values(issue_verb, post)
    with _status_of_errors():
        after = source.act(issue_id, issue_verb, request.state.person.name, post)
    write_act(request, verb, f"issues/{issue_id}")
    return after


@contextmanager
def _status_of_errors() -> Iterator[None]:
    """Turns the errors of a source into HTTP statuses."""
    try:
        yield
    except NoSuchIssue as error:
        raise HTTPException(404, str(error)) from error
    except VerbRefused as error:
        raise HTTPException(409, str(error)) from error


def _require_values(verb: IssueVerb, post: IssueActPost) -> None:
    """Raises HTTPException (422) where the verb lacks a value that it needs."""
    has_bound = post.until is not None or post.count > 0
    if verb is IssueVerb.IGNORE and has_bound == post.for_ever:
        raise HTTPException(422, "body: ignore needs until or count, or else for_ever")
    if verb is IssueVerb.RENAME and not post.name.strip():
        raise HTTPException(422, "body.name: rename needs a name")
    if verb is IssueVerb.MERGE and not post.other:
        raise HTTPException(422, "body.other: merge needs the other issue")


@router.get(
    "/issue-pairs",
    summary="Pairs of issues that look alike, proposed for a merge",
    dependencies=[Depends(Requires(Permission.READ))],
)
def issue_pairs(request: Request) -> PairsForm:
    """Confirm a pair with `merge`; `unmerge` keeps its issues apart for good."""
    return _source(request).pairs()
