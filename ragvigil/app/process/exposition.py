"""The metrics listener: `/metrics` of both processes, `/healthz`, `/readyz`."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prometheus_client import REGISTRY, generate_latest

from ragvigil.app.process.supervise import Core

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PROMETHEUS_TEXT = b"text/plain; version=0.0.4; charset=utf-8"


class Exposition:
    """ASGI application of the metrics listener.

    `is_accepting` returns whether the receivers accept spans. Each scrape asks the core for its
    series: a core that is down has no series, never stale ones.
    """

    def __init__(self, core: Core, is_accepting: Callable[[], bool], token: str | None) -> None:
        self._core = core
        self._is_accepting = is_accepting
        self._token = token

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answers GET /metrics, /healthz and /readyz; anything else is 404."""
        if scope["type"] != "http":
            return
        status, body, kind = await self._answer(scope)
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope) -> tuple[int, bytes, bytes]:
        path = scope["path"]
        if path == "/healthz":
            if self._core.stall:
                return 503, f"{self._core.stall}\n".encode(), b"text/plain"
            return (200 if self._is_accepting() else 503), b"", b"text/plain"
        if path == "/readyz":
            return (200 if await self._is_ready() else 503), b"", b"text/plain"
        if path == "/metrics":
            if not self._is_allowed(scope):
                return 401, b"a token is needed: Authorization: Bearer TOKEN\n", b"text/plain"
            core = await self._core.ask("metrics")
            return 200, generate_latest(REGISTRY) + (core or b""), PROMETHEUS_TEXT
        return 404, b"here are /metrics, /healthz and /readyz\n", b"text/plain"

    async def _is_ready(self) -> bool:
        answer = await self._core.ask("status")
        return self._is_accepting() and answer is not None and bool(json.loads(answer)["ready"])

    def _is_allowed(self, scope: Scope) -> bool:
        if self._token is None:
            return True
        header = dict(scope["headers"]).get(b"authorization", b"")
        # In constant time: the duration tells nothing about the token.
        return hmac.compare_digest(header, b"Bearer " + self._token.encode())
