"""The page of issues: what fails, and what first?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.model.issue import IssueState
from ragvigil.model.score import Layer
from ragvigil.store.engine.together import together
from ragvigil.store.issues.issues import NOBODY
from ragvigil.web.api import issues as api
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import Scope, scope_of
from ragvigil.web.views.issue_pages import sentences
from ragvigil.web.views.issue_pages.rows import issue_row
from ragvigil.web.views.issues import IssuesForm

router = APIRouter()

PAGE = 50
MOST_OWNERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a reader has chosen besides the scope."""

    state: IssueState | None = None
    family: Layer | None = None
    owner: str = ""
    q: str = ""

    def chosen(self) -> dict[str, str]:
        """The chosen values by the names of the address."""
        every = {"state": self.state, "family": self.family, "owner": self.owner, "q": self.q}
        return {name: value for name, value in every.items() if value}


@router.get(
    "/issues",
    include_in_schema=False,
    summary="What fails, and what first?",
    dependencies=[Depends(Requires(Permission.READ))],
)
def issues_page(
    request: Request,
    state: IssueState | None = None,
    family: Layer | None = None,
    owner: api.Name = "",
    q: api.Name = "",
    cursor: api.Name = "",
) -> HTMLResponse:
    """Issues that were seen in the chosen time, the most harmful first."""
    filters = Filters(state=state, family=family, owner=owner, q=q)
    scope = scope_of(request)
    now: datetime = request.app.state.clock()
    page, alike = together(
        lambda: _listed(request, scope, filters, cursor), lambda: api.issue_pairs(request)
    )
    is_filtered = bool(filters.chosen() or scope.service or scope.environment or scope.route)
    return render(
        request,
        "issues.html",
        title=sentences.list_heading(page, is_filtered=is_filtered),
        page="issues",
        is_refreshed=not cursor and not scope.until,
        lead=sentences.list_lead(page),
        issues=page,
        rows=[issue_row(issue, now) for issue in page.issues],
        filters=filters.chosen(),
        page_filters=filters.chosen(),
        menus=_menus(filters, page.owners),
        pairs=[(pair, sentences.pair_words(pair)) for pair in alike.pairs],
        words=sentences,
        is_first=not cursor,
    )


def _listed(request: Request, scope: Scope, filters: Filters, cursor: str) -> IssuesForm:
    begin, end = scope.window(request.app.state.clock())
    return api.issues(
        request,
        state=filters.state,
        service=scope.service,
        environment=scope.environment,
        route=scope.route,
        family=filters.family,
        owner=filters.owner,
        since=begin.isoformat(),
        until=end.isoformat() if scope.until else "",
        q=filters.q,
        cursor=cursor,
        limit=PAGE,
    )


def _menus(
    filters: Filters, owners: Sequence[str]
) -> list[tuple[str, str, str, list[tuple[str, str]]]]:
    """Menus of choices: label, name in the address, what is chosen, and values with their words."""

    def choices(values: Iterable[str]) -> list[tuple[str, str]]:
        return [(value, value.replace("_", "-")) for value in values]

    people = [(name, name) for name in (NOBODY, *owners[:MOST_OWNERS])]
    return [
        ("state", "state", filters.state or "", choices(IssueState)),
        ("layer", "family", filters.family or "", choices(Layer)),
        ("owner", "owner", filters.owner, people),
    ]
