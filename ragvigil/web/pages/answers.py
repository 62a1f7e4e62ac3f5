"""The page of answers: show me answers that …; and the search box of every page."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from ragvigil.store.engine.together import together
from ragvigil.web.api.chosen import Asked, Chosen
from ragvigil.web.api.records import record_counts, records
from ragvigil.web.api.search import as_search, found_by, named_by
from ragvigil.web.api.topics import topics
from ragvigil.web.pages.filters import time_words
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import scope_of
from ragvigil.web.views import answer_list
from ragvigil.web.views.records import RecordCountsForm
from ragvigil.web.views.search import By, SearchForm
from ragvigil.web.views.topic_page import name_of

router = APIRouter()

PAGE = 50
PATHS = {
    "traces": "/traces/",
    "records": "/answers/",
    "issues": "/issues/",
    "incidents": "/incidents/",
    "golden": "/golden/",
}
Q = Annotated[str, Query(max_length=500)]
Cursor = Annotated[str, Query(max_length=1024)]


@router.get(
    "/search",
    summary="A page by its id, or answers by words",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
)
def search_page(request: Request, q: Q = "", by: By | Literal[""] = "") -> RedirectResponse:
    """Goes to what has this id, or to the answers with these words."""
    named = named_by(request.app.state.store, q)
    if named is not None:
        address = scope_of(request).url(PATHS[named.kind] + named.id)
    else:
        address = scope_of(request).url("/answers", text=q.strip(), by=by)
    return RedirectResponse(address, 303)


@router.get(
    "/answers",
    summary="Show me answers that …",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
)
def answers_page(
    request: Request, asked: Asked, by: By | Literal[""] = "", cursor: Cursor = ""
) -> HTMLResponse:
    """Answers that match, what they have in common, and ready-made views."""
    choice = _choice(request, asked)
    found, counts = together(
        lambda: _found(request, asked, by, cursor), lambda: _counts(request, asked, by)
    )
    scope = scope_of(request)
    time = time_words(scope.since, scope.until)
    if found.by == "meaning":
        sentence = answer_list.heading_near(len(found.records), PAGE, asked.filter.text, time)
    else:
        counts = counts or record_counts(request, asked)  # no model here: it was found by words
        topic = name_of(topics(request), choice.topic) if choice.topic else ""
        sentence = answer_list.heading(choice, counts, route=scope.route, time=time, topic=topic)
    return render(
        request,
        "answers.html",
        title=sentence,
        page="answers",
        choice=choice,
        page_filters=choice.chosen(),
        chips=answer_list.chips(choice),
        counts=counts,
        facets=answer_list.facets(choice, counts, route=scope.route) if counts else [],
        found=found,
        rows=[answer_list.answer_row(each, choice.rubric) for each in found.records],
        ready=answer_list.READY,
        rubrics=sorted(request.app.state.judges.rubrics()),
        is_first=not cursor,
        origin=origin(request),
    )


def origin(request: Request) -> str:
    """Scheme and host of an address that can be sent to somebody."""
    address = urlsplit(request.app.state.base or str(request.base_url))
    return f"{address.scheme}://{address.netloc}"


def _choice(request: Request, asked: Chosen) -> answer_list.Choice:
    names = {field.name for field in fields(answer_list.Choice)}
    given = {name: value for name, value in request.query_params.items() if name in names}
    failed = {True: "true", False: "false", None: ""}[asked.filter.failed]  # `1` is true as well
    return answer_list.Choice(**{**given, "failed": failed})


def _counts(request: Request, asked: Chosen, by: str) -> RecordCountsForm | None:
    """None for a search by meaning: nearest answers are no part of all."""
    return None if by == "meaning" else record_counts(request, asked)


def _found(request: Request, asked: Chosen, by: str, cursor: str) -> SearchForm:
    """The page of answers; by meaning, `text` is what is looked for and not a condition."""
    if by == "meaning" and asked.filter.text:
        rest = replace(asked, filter=replace(asked.filter, text=""))
        return found_by(request, rest, asked.filter.text, "meaning", PAGE, cursor)
    page = records(request, asked, limit=PAGE, cursor=cursor)
    return as_search(page)
