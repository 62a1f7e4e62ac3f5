"""The description of the API, to read and to try: Swagger UI, served from here."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.guard import POLICY
from ragvigil.web.pages.frame import PAGES
from ragvigil.web.permissions import Permission, Requires

router = APIRouter()

WITH_ICONS = POLICY.replace("img-src 'self'", "img-src 'self' data:")
"""Swagger UI's style sheet holds its icons as `data:` addresses."""
BEARER = {"type": "http", "scheme": "bearer", "description": "a token of `[web] tokens_file`"}


@router.get(
    "/docs",
    summary="This API, to read and to try",
    response_class=HTMLResponse,
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.NONE))],
)
def docs() -> HTMLResponse:
    """Holds no data: what it asks of the API, it asks with the reader's token."""
    page = PAGES.get_template("docs.html").render()
    return HTMLResponse(page, headers={"content-security-policy": WITH_ICONS})


@router.get(
    "/api/v1/openapi.json",
    summary="This API as an OpenAPI document",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.NONE))],
)
def openapi(request: Request) -> dict[str, Any]:
    """The OpenAPI document. It says no more than the home page, so it needs no token either."""
    document: dict[str, Any] = request.app.openapi()
    document.setdefault("components", {})["securitySchemes"] = {"token": BEARER}
    document["security"] = [{"token": []}, {}]
    return document
