"""The form of every error: `{"error": {"status", "reason", "message", "details"}}`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from ragvigil.store.engine.errors import Abandoned, QueryFailed, StoreError

log = structlog.get_logger()


class Problem(BaseModel):
    """One wrong value of a request."""

    where: str = Field(description="its place: `query.below`, `body.kind`")
    message: str = Field(description="what is allowed")


class ErrorBody(BaseModel):
    """What went wrong."""

    status: int = Field(description="the HTTP status")
    reason: str = Field(description="the status in words: `not_found`")
    message: str = Field(description="one sentence")
    details: list[Problem] = Field(description="every wrong value, else empty")


class Error(BaseModel):
    """Every reply that is not a success."""

    error: ErrorBody


RESPONSES: dict[int | str, dict[str, object]] = {
    status: {"model": Error, "description": text}
    for status, text in {
        400: "The request cannot be read, or the Host name is not served.",
        401: "A token is needed.",
        403: "The token's role may not do this.",
        404: "There is no such thing.",
        413: "The body is too long.",
        415: "The body is not JSON.",
        422: "A value is not allowed.",
        503: "The store is busy or down; try again.",
    }.items()
}


def error_response(
    status: int,
    message: str,
    details: list[Problem] | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """The reply for an error."""
    reason = HTTPStatus(status).phrase.lower().replace(" ", "_").replace("-", "_")
    body = ErrorBody(status=status, reason=reason, message=message, details=details or [])
    return JSONResponse(Error(error=body).model_dump(), status, headers)


Page = Callable[[str, int, str], Response]
"""Makes the page that says an error: the prefix of its links, the status, one sentence."""


def handle_errors(app: FastAPI, page: Page) -> None:
    """Makes every error of `app` a reply of this form, and outside of the API a page."""
    app.add_exception_handler(HTTPException, _on_pages(page, _on_http))
    app.add_exception_handler(RequestValidationError, _on_pages(page, _on_invalid))
    app.add_exception_handler(StoreError, _on_pages(page, _on_store))
    app.add_exception_handler(Exception, _on_pages(page, _on_failure))


def _on_pages(
    page: Page, reply: Callable[[Request, Exception], JSONResponse]
) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        prefix: str = request.app.state.access.prefix
        return for_reader(request.scope, reply(request, error), page, prefix)

    return handle


def for_reader(scope: Scope, answer: Response, page: Page, prefix: str) -> Response:
    """An error as a page, where a browser asks for one; else as it is."""
    is_read = "text/html" in Headers(scope=scope).get("accept", "")
    if is_of_api(scope["path"]) or not is_read or "location" in answer.headers:
        return answer
    message = json.loads(bytes(answer.body))["error"]["message"]
    shown = page(prefix, answer.status_code, message)
    for name in ("retry-after", "www-authenticate", "allow"):
        if name in answer.headers:
            shown.headers[name] = answer.headers[name]
    return shown


def is_of_api(path: str) -> bool:
    """Whether a program asks here, and no browser."""
    return path.startswith("/api/")


def _on_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers) if error.headers else None
    return error_response(error.status_code, str(error.detail), headers=headers)


def _on_invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    details = [
        Problem(where=".".join(str(step) for step in problem["loc"]), message=problem["msg"])
        for problem in error.errors()
    ]
    sentence = "; ".join(f"{detail.where}: {detail.message}" for detail in details)
    return error_response(422, sentence, details)


def _on_store(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, Abandoned):
        return error_response(503, "nobody waits for this answer any more")
    log.warning("the store did not answer", path=request.url.path, error=str(error))
    if isinstance(error, QueryFailed):
        sentence = "too much to read at once; ask for less, or try again"
        return error_response(503, sentence, headers={"retry-after": "30"})
    return error_response(503, "the store is busy or down; try again", headers={"retry-after": "2"})


def _on_failure(request: Request, error: Exception) -> JSONResponse:
    log.error("a request failed", path=request.url.path, exc_info=error)
    return error_response(500, "this failed here; the daemon's log says why")
