"""The way of commands and tools to a running daemon: its HTTP API."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ragvigil.app.client.connection import Connection, to_api

if TYPE_CHECKING:
    import httpx2

    from ragvigil.app.settings import Settings

TIMEOUT_SECONDS = 30.0
BUSY_SECONDS = 20.0
"""How long a daemon is asked again that is too busy to answer."""


class Unreachable(Exception):
    """No daemon answers, or it refused; `str(error)` says what to do."""


class Refused(Unreachable):
    """The daemon understood what was sent and refused it; sending it again does not help."""


def get(settings: Settings, path: str, *, role: str = "reader", **parameters: Any) -> Any:
    """The JSON that the daemon answers under `/api/v1/<path>` to who has this role.

    Parameters of None are left out. A busy daemon is asked again when it says so. Raises Refused
    where the request is to blame (an unknown id, a wrong value), else Unreachable: nothing listens,
    the token is wrong, the daemon failed or stays busy.
    """
    return get_from(to_api(settings, role), path, **parameters)


def get_from(daemon: Connection, path: str, **parameters: Any) -> Any:
    """`get`, over this connection."""
    query = {key: value for key, value in parameters.items() if value is not None}
    reply = _request(daemon, "GET", path, params=query)
    give_up = time.monotonic() + BUSY_SECONDS
    while (wait := _busy_seconds(reply)) and time.monotonic() + wait < give_up:
        time.sleep(wait)
        reply = _request(daemon, "GET", path, params=query)
    if reply.status_code != 200:
        raise _refusal(reply)
    return _json(reply)


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
    daemon = to_api(settings, role)
    reply = _request(daemon, "POST", path, json=body, timeout=timeout_seconds)
    if reply.status_code not in (200, 201, 202):
        raise _refusal(reply)
    return _json(reply)


def _json(reply: httpx2.Response) -> Any:
    try:
        return reply.json()
    except ValueError as error:
        raise _refusal(reply) from error


def _refusal(reply: httpx2.Response) -> Unreachable:
    """The error of a reply: Refused, with the daemon's sentence, where the request is to blame."""
    if wait := _busy_seconds(reply):
        return Unreachable(f"the daemon is too busy to answer now; try again in {wait} s")
    base = f"{reply.url.scheme}://{reply.url.netloc.decode()}"
    try:
        sentence = str(reply.json()["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return Unreachable(
            f"what answers at {base} is not ragvigil's API (status {reply.status_code}); "
            "--url or [client] url must be the daemon's [web] endpoint"
        )
    if reply.status_code in (404, 409, 413, 422):
        return Refused(sentence)
    if reply.status_code in (401, 403):
        return Unreachable(f"{base}: {sentence}; [client] token_file is what commands send")
    return Unreachable(f"{base}: {sentence}")


def _busy_seconds(reply: httpx2.Response) -> int:
    """The seconds after which a busy daemon wants to be asked again; 0 where it is not busy."""
    wait = reply.headers.get("retry-after", "")
    return int(wait) if reply.status_code == 503 and wait.isdecimal() else 0


def _request(
    daemon: Connection,
    method: str,
    path: str,
    *,
    timeout: float = TIMEOUT_SECONDS,
    **content: Any,
) -> httpx2.Response:
    import httpx2

    # Redirects are not followed, and proxies of the environment not used: both would get the token.
    with httpx2.Client(
        headers=daemon.headers, verify=daemon.tls or True, timeout=timeout, trust_env=False
    ) as client:
        try:
            return client.request(method, f"{daemon.base}/api/v1/{path}", **content)
        except (httpx2.ReadTimeout, httpx2.WriteTimeout) as error:
            raise Unreachable(
                f"the daemon at {daemon.base} is alive but slow: no answer in {timeout:.0f} s; "
                "try again in a minute"
            ) from error
        except httpx2.HTTPError as error:
            raise Unreachable(_advice(daemon.base, error)) from error


def _advice(base: str, error: Exception) -> str:
    keys = "url, ca_file and tls_certificate" if base.startswith("https:") else "url"
    return (
        f"no daemon answers at {base} ({error or type(error).__name__}); start one with "
        f"`ragvigil run`, or say with --url or in [client] {keys} how it is reached"
    )
