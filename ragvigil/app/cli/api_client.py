"""The command line's way to a running daemon: its HTTP API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragvigil.app.settings import Settings

if TYPE_CHECKING:
    import httpx

PATIENCE = 30.0
"""Seconds."""


class Unreachable(Exception):
    """No daemon answers, or it refused; `str(error)` says what to do."""


class Refused(Unreachable):
    """The daemon understood and refused what was sent; sending it again is of no use."""


def get(settings: Settings, path: str, **parameters: Any) -> Any:
    """The JSON that the daemon answers under `/api/v1/<path>`.

    Raises Unreachable where nothing listens, the token is wrong, or the daemon says no.
    """
    asked = {key: value for key, value in parameters.items() if value is not None}
    reply = _ask(settings, "GET", path, role="reader", params=asked)
    if reply.status_code != 200:
        raise Unreachable(f"{reply.url} answered {reply.status_code}: {reply.text[:300]}")
    return reply.json()


def post(
    settings: Settings, path: str, body: object, *, role: str, patience_seconds: float = PATIENCE
) -> Any:
    """The JSON that the daemon answers to `body`, sent with the token of `role`.

    Raises Refused where the body is to blame, else Unreachable as `get` does.
    """
    reply = _ask(settings, "POST", path, role=role, json=body, timeout=patience_seconds)
    if reply.status_code in (404, 409, 413, 422):
        raise Refused(str(reply.json()["error"]["message"]))
    if reply.status_code not in (200, 201, 202):
        raise Unreachable(f"{reply.url} answered {reply.status_code}: {reply.text[:300]}")
    return reply.json()


def _ask(
    settings: Settings, method: str, path: str, *, role: str, timeout: float = PATIENCE, **sent: Any
) -> httpx.Response:
    import httpx

    base = f"http://{settings.web.endpoint}"
    token = settings.web.secret(role)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        return httpx.request(
            method, f"{base}/api/v1/{path}", headers=headers, timeout=timeout, **sent
        )
    except httpx.HTTPError as error:
        raise Unreachable(
            f"no daemon answers at {base} ({error}); start one with `ragvigil run`, "
            "or name its address in [web] endpoint"
        ) from error
