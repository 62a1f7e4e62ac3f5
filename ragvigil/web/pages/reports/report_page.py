"""What the pages of the reports share: their time, their place, and the frame around them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import DEFAULT_TIME, Scope
from ragvigil.web.views.reports import headings

READ = [Depends(Requires(Permission.READ))]


class _Placed(Protocol):
    @property
    def environment(self) -> str: ...


Row = TypeVar("Row", bound=_Placed)


def report_page(request: Request, template: str, title: str, **values: Any) -> HTMLResponse:
    """A report in the frame of pages; its template gets `words`, the sentences of reports."""
    return render(request, template, title=title, page="releases", words=headings, **values)


def since_of(scope: Scope, usual: str) -> str:
    """The begin of the chosen time; `usual` where the reader has chosen none.

    Other pages begin with a day: a report of a day says next to nothing.
    """
    return usual if scope.since == DEFAULT_TIME and not scope.until else scope.since


def inside(scope: Scope, rows: Iterable[Row]) -> list[Row]:
    """The rows of the chosen environment; all where none is chosen."""
    return [row for row in rows if scope.environment in ("", row.environment)]
