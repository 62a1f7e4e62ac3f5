"""The page of an issue: why does it happen, how do I fix it? With all that people do about it."""

from __future__ import annotations

from datetime import datetime, timedelta

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError

from ragvigil.store.engine.together import together
from ragvigil.store.issues import golden as cases
from ragvigil.store.records import records
from ragvigil.web.api import issues as api
from ragvigil.web.api import rubrics
from ragvigil.web.api.rubrics import AcceptedRubricForm, GuardDraftForm
from ragvigil.web.pages.forms import Fields, back_to
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.issue_pages import problems, rows, sentences
from ragvigil.web.views.issue_pages.examples import examples, keys
from ragvigil.web.views.issues import IssueActPost, IssueStoryForm
from ragvigil.web.views.records import RecordForm

router = APIRouter()

READ = [Depends(Requires(Permission.READ))]
TRIAGE = [Depends(Requires(Permission.TRIAGE))]
PAGE = 50
DAYS = {"1d": 1, "7d": 7, "30d": 30}
"""How long an issue can be ignored, beside a number of answers and for ever."""


@router.get(
    "/issues/{issue_id}",
    include_in_schema=False,
    summary="Why does it happen, and how is it fixed?",
    dependencies=READ,
)
def issue_page(request: Request, issue_id: str) -> HTMLResponse:
    """One issue; a merged id shows the issue that it is part of."""
    return shown(request, issue_id)


@router.get(
    "/issues/{issue_id}/members",
    include_in_schema=False,
    summary="The failing answers of an issue",
    dependencies=READ,
)
def members_page(request: Request, issue_id: str, cursor: api.Cursor = "") -> HTMLResponse:
    """Fifty, the newest first."""
    page = api.members(request, issue_id, until="", cursor=cursor, limit=PAGE)
    found = api.issues(request, q=issue_id, limit=PAGE).issues
    shown = next((each for each in found if each.issue_id == issue_id), None)
    issue = shown or api.issue(request, issue_id)  # a merged id is not in the list
    return render(
        request,
        "issue_members.html",
        title=f"{problems.heading(issue)}: {sentences.answers(issue.count)}",
        page="issues",
        issue=issue,
        members=page.members,
        next=page.next,
        is_first=not cursor,
    )


@router.post(
    "/issues/{issue_id}/explain",
    include_in_schema=False,
    summary="Look for the root cause now",
    dependencies=TRIAGE,
)
def explain(request: Request, issue_id: str, fields: Fields) -> Response:
    """Begins a report and returns: a model may read traces for minutes."""
    del fields
    try:
        api.begin_explaining(request, issue_id)
    except HTTPException as error:
        return shown(request, issue_id, error)
    return back_to(f"/issues/{issue_id}", request, "explain")


@router.post(
    "/issues/{issue_id}/{verb}",
    include_in_schema=False,
    summary="Take, resolve, ignore, reopen, give, rename, merge, keep apart",
    dependencies=TRIAGE,
)
def act(request: Request, issue_id: str, verb: api.PeoplesVerb, fields: Fields) -> Response:
    """Carries out a verb; what is refused is said on the page."""
    try:
        post = _post(request, fields)
        api.act(request, issue_id, verb, post)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        return shown(request, issue_id, HTTPException(422, f"{where}: {problem['msg']}"))
    except HTTPException as error:
        return shown(request, issue_id, error)
    is_apart = verb == "unmerge" and post.other
    done = "apart" if is_apart else verb
    if fields.get("from") != "list":
        return back_to(f"/issues/{issue_id}", request, done)
    filters = {name: fields.get(name, "") for name in ("state", "family", "owner", "q")}
    return back_to("/issues", request, done, **filters)


def _post(request: Request, fields: Fields) -> IssueActPost:
    """What the form says. Raises ValidationError, or HTTPException (422)."""
    end, count = fields.get("end", ""), fields.get("count", "").strip()
    now: datetime = request.app.state.clock()
    if end == "count" and not count.isdecimal():
        raise HTTPException(422, "count: say after how many more answers it comes back")
    return IssueActPost(
        text=fields.get("text", ""),
        until=now + timedelta(days=DAYS[end]) if end in DAYS else None,
        count=int(count) if end == "count" else 0,
        for_ever=end == "ever",
        release=fields.get("release", "").strip(),
        name=fields.get("name", ""),
        other=fields.get("other", "").strip(),
    )


def shown(
    request: Request,
    issue_id: str,
    problem: HTTPException | None = None,
    guard: GuardDraftForm | None = None,
) -> HTMLResponse:
    """The page, with the problem of an act or a drafted guard. Raises HTTPException (404)."""
    store, now = request.app.state.store, request.app.state.clock()
    story: IssueStoryForm = store.kept.of(("issue", issue_id), lambda: api.issue(request, issue_id))
    whole, proposed, guards = together(
        lambda: records.several(store, keys(story)),
        lambda: cases.find(store, cases.CaseFilter(issue_id=story.issue_id)),
        lambda: _guards(request, story.issue_id),
    )
    stored = {key: RecordForm.model_validate(form) for key, form in whole.items()}
    report = story.root_cause
    return render(
        request,
        "issue.html",
        title=problems.heading(story),
        page="issues",
        path=f"/issues/{issue_id}",
        status=problem.status_code if problem else 200,
        problem=problem.detail if problem else "",
        asked_id=issue_id,
        issue=story,
        row=rows.issue_row(story, now),
        examples=examples(story, stored),
        grades=[sentences.grade(grade) for grade in report.grades] if report else [],
        traits=[sentences.trait_line(trait) for trait in story.traits],
        stands_out=sentences.stands_out(story.traits),
        pairs=[(pair, sentences.pair_words(pair)) for pair in story.pairs],
        events=[(event, sentences.event_line(event)) for event in reversed(story.events)],
        proposed={(case.trace_id, case.record_id): case for case in proposed},
        can_propose=request.app.state.golden is not None,
        guard=guard,
        guards=guards,
        words=sentences,
    )


def _guards(request: Request, issue_id: str) -> list[AcceptedRubricForm] | None:
    """The live guards of an issue; None where this daemon takes none."""
    if request.app.state.rubrics is None:
        return None
    return [each for each in rubrics.rubrics(request).rubrics if each.issue_id == issue_id]
