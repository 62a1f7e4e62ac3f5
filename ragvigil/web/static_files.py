"""Our own and vendored files of pages: served for a year under an address that has their hash."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
A_YEAR = "public, max-age=31536000, immutable"


@cache
def static_url(name: str) -> str:
    """The address of a file, with the first digits of its SHA-256; relative to the site's root."""
    digest = sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


class HashedFiles(StaticFiles):
    """Files that a browser keeps where it asks by the address that has their hash."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file; without the hash in its address, nobody keeps it."""
        response = await super().get_response(path, scope)
        if scope["query_string"].startswith(b"v="):
            response.headers["cache-control"] = A_YEAR
        return response
