"""The page of topics: what do people ask, and what of it fails?"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.topics import topics
from ragvigil.web.drawings.map import Circle, Spot, topic_map
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import scope_of
from ragvigil.web.views import topic_page as words
from ragvigil.web.views.topics import TopicForm, TopicMapForm

router = APIRouter()

MOST_ROWS = 30
MOST_DRAWN = 60
"""Topics on the map, the most asked: more would hide one another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnMap:
    """A map of a service, with its drawing and its table."""

    form: TopicMapForm
    place: str
    circles: tuple[Circle, ...]
    rows: list[words.TopicRow]
    gaps: list[TopicForm]


@router.get(
    "/topics",
    summary="What do people ask, and what of it fails?",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
)
def topics_page(request: Request, all: bool = False) -> HTMLResponse:
    """The newest map of each service beside the same as a table, and gaps of the golden set."""
    scope = scope_of(request)
    found = topics(request, service=scope.service, environment=scope.environment)
    return render(
        request,
        "topics.html",
        title=words.heading(found),
        page="topics",
        found=found,
        maps=[_drawn(each) for each in found.maps],
        waiting=words.waiting(found),
        most=10**6 if all else MOST_ROWS,
        words=words,
    )


def _drawn(form: TopicMapForm) -> DrawnMap:
    spots = [
        Spot(
            name=words.title(topic),
            x=topic.x,
            y=topic.y,
            share=topic.asked.share or 0.0,
            failing=topic.failing.share,
        )
        for topic in form.topics[:MOST_DRAWN]
    ]
    return DrawnMap(
        form=form,
        place=words.place_of(form.service, form.environment),
        circles=topic_map(spots) if spots else (),
        rows=words.rows(form),
        gaps=words.gaps(form),
    )
