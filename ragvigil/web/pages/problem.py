"""The page that says what went wrong, and the way out."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import HTMLResponse, Response

from ragvigil.web.pages.frame import PAGES


def problem_page(prefix: str, status: int, message: str) -> Response:
    """One sentence, without the bars: they could fail in the same way."""
    text = PAGES.get_template("problem.html").render(
        status=status,
        reason=HTTPStatus(status).phrase,
        message=message,
        prefix=prefix,
    )
    return HTMLResponse(text, status)
