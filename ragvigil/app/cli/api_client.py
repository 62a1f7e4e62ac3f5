"""The command line's way to a running daemon: its HTTP API."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ragvigil.app.cli.connection import to_api

if TYPE_CHECKING:
    import httpx2

    from ragvigil.app.settings import Settings

TIMEOUT_SECONDS = 30.0


class Unreachable(Exception):
    """No daemon answers, or it refused; `str(error)` says what to do."""


class Refused(Unreachable):
    """The daemon understood what was sent and refused it; sending it again does not help."""


def get(settings: Settings, path: str, **parameters: Any) -> Any:
    """The JSON that the daemon answers under `/api/v1/<path>`.

    Parameters of None are left out. Raises Refused where the request is to blame (an unknown id, a
    wrong value), else Unreachable: nothing listens, the token is wrong, the daemon failed.
    """
    query = {key: value for key, value in parameters.items() if value is not None}
    reply = _request(settings, "GET", path, role="reader", params=query)
    if reply.status_code != 200:
        raise _refusal(reply)
    return reply.json()


def post(
    settings: Settings,
    path: str,
    body: object,
    *,
    role: str,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Any:
    """The JSON that the daemon answers to `body`, sent with the token of `role`.

    Raises Refused or Unreachable as `get` does.
    """
    reply = _request(settings, "POST", path, role=role, json=body, timeout=timeout_seconds)
    if reply.status_code not in (200, 201, 202):
        raise _refusal(reply)
    return reply.json()


def _refusal(reply: httpx2.Response) -> Unreachable:
    """The error of a reply: Refused, with the daemon's sentence, where the request is to blame."""
    if reply.status_code in (404, 409, 413, 422):
        # Another server at this address may answer in another form.
        with contextlib.suppress(ValueError, LookupError, TypeError):
            return Refused(str(reply.json()["error"]["message"]))
    return Unreachable(f"{reply.url} answered {reply.status_code}: {reply.text[:300]}")


def _request(
    settings: Settings,
    method: str,
    path: str,
    *,
    role: str,
    timeout: float = TIMEOUT_SECONDS,
    **content: Any,
) -> httpx2.Response:
    import httpx2

    daemon = to_api(settings, role)
    # Redirects are not followed, and proxies of the environment not used: both would get the token.
    with httpx2.Client(
        headers=daemon.headers, verify=daemon.tls or True, timeout=timeout, trust_env=False
    ) as client:
        try:
            return client.request(method, f"{daemon.base}/api/v1/{path}", **content)
        except httpx2.HTTPError as error:
            raise Unreachable(_advice(daemon.base, error)) from error


def _advice(base: str, error: Exception) -> str:
    if "certificate" in str(error).lower():
        return f"{base}: no trust ({error}); see [client] ca_file and [client] tls_certificate"
    return (
        f"no daemon answers at {base} ({error}); start one with `ragvigil run`, "
        "or name its address in [client] url"
    )
