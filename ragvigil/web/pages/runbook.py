"""The runbook as a page. Alerts link to it: each has a heading, and its name is the anchor."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.shipped import SHIPPED
from ragvigil.web.pages.frame import PAGES
from ragvigil.web.permissions import Permission, Requires

router = APIRouter()


@router.get(
    "/runbook",
    summary="What each alert means and what to do",
    response_class=HTMLResponse,
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.NONE))],
)
def runbook(request: Request) -> HTMLResponse:
    """The runbook. It holds no data of yours, so it needs no token."""
    page = PAGES.get_template("runbook.html")
    return HTMLResponse(page.render(body=rendered(), prefix=request.app.state.access.prefix))


@cache
def rendered() -> str:
    """The runbook's body as HTML."""
    from markdown_it import MarkdownIt

    text = (SHIPPED / "docs" / "runbook.md").read_text(encoding="utf-8")
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    for heading, title in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", title.content.lower())
    for token in tokens:
        token.tag = "h2" if token.tag == "h3" else token.tag  # no level is left out on the page
    html: str = markdown.renderer.render(tokens, markdown.options, {})
    return html
