"""The command line's way to a running daemon: its HTTP API."""

from __future__ import annotations

from typing import Any

from ragvigil.app.settings import Settings


class Unreachable(Exception):
    """No daemon answers, or it refused; `str(error)` says what to do."""


def get(settings: Settings, path: str, **parameters: Any) -> Any:
    """The JSON that the daemon answers under `/api/v1/<path>`.

    Raises Unreachable where nothing listens, the token is wrong, or the daemon says no.
    """
    import httpx

    base = f"http://{settings.web.endpoint}"
    token = settings.web.secret("reader")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    asked = {key: value for key, value in parameters.items() if value is not None}
    try:
        reply = httpx.get(f"{base}/api/v1/{path}", params=asked, headers=headers, timeout=30)
    except httpx.HTTPError as error:
        raise Unreachable(
            f"no daemon answers at {base} ({error}); start one with `ragvigil run`, "
            "or name its address in [web] endpoint"
        ) from error
    if reply.status_code != 200:
        raise Unreachable(f"{base}/api/v1/{path} answered {reply.status_code}: {reply.text[:300]}")
    return reply.json()
