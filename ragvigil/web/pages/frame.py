"""What all pages are rendered with: the templates, and what the bars around a page show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from time import sleep
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ragvigil.model.text import readable
from ragvigil.web.identity import Person, Way
from ragvigil.web.pages.filters import FILTERS
from ragvigil.web.pages.forms import forgery_token
from ragvigil.web.permissions import ROLES
from ragvigil.web.scope import TIMES, Scope, scope_of
from ragvigil.web.static_files import static_url
from ragvigil.web.views.chrome import Chrome, chrome

REFRESH_SECONDS = 15


def _shown(value: object) -> object:
    """What a page shows of a value: marks of writing direction, which HTML obeys, as escapes."""
    return readable(value) if type(value) is str else value


PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_shown,
    trim_blocks=True,
    lstrip_blocks=True,
    # An upgrade under a daemon that runs must not give its code the templates of another version.
    auto_reload=False,
)
PAGES.filters.update(FILTERS)
PAGES.globals["static"] = static_url


@cache
def compile_templates(rest_seconds: float = 0.02) -> int:
    """Compiles every template, once, with a rest after each; returns how many there are.

    All 55 take half a second of CPU (measured), which else whoever opens a page first waits for.
    """
    names = PAGES.list_templates()
    for name in names:
        PAGES.get_template(name)
        sleep(rest_seconds)
    return len(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the bars of a page show.

    `is_signed_in`: by a session, which signing out ends.
    `page` is the item of the navigation that is current; `refresh_seconds` is 0 for a page that
    stays as it is.
    """

    page: str
    title: str
    chrome: Chrome
    person: Person
    is_signed_in: bool
    version: str
    updated: datetime
    refresh_seconds: int
    times: tuple[str, ...] = TIMES

    def may(self, permission: str) -> bool:
        """Whether the reader may do this; what they may not do is not offered."""
        return permission in ROLES[self.person.role]


def render(
    request: Request,
    template: str,
    *,
    title: str,
    page: str = "",
    status: int = 200,
    is_refreshed: bool = False,
    path: str = "",
    **values: Any,
) -> HTMLResponse:
    """A page inside the frame; `title` is the sentence that answers the page's question.

    `path` is the page's own address, for a page that also answers forms posted elsewhere.
    Templates get `values`, and `frame`, `scope`, `request_path`, `form_token` and `done`, the verb
    that the reader has just carried out, empty for none.
    """
    state = request.app.state
    now: datetime = state.clock()
    scope: Scope = scope_of(request)
    frame = Frame(
        page=page,
        title=title,
        chrome=chrome(state.store, now.timestamp()),
        person=request.state.person,
        is_signed_in=request.state.identity.way is Way.SESSION,
        version=request.app.version,
        updated=now,
        refresh_seconds=REFRESH_SECONDS if is_refreshed and request.method == "GET" else 0,
    )
    text = PAGES.get_template(template).render(
        frame=frame,
        scope=scope,
        now=now,
        request_path=path or request.url.path,
        form_token=forgery_token(request),
        done=request.query_params.get("done", "")[:40],
        **values,
    )
    return HTMLResponse(text, status)
