"""The metrics listener: `/metrics` of both processes, `/healthz`, `/readyz`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from enum import StrEnum
from typing import Any

from prometheus_client import REGISTRY, Counter, generate_latest

from alerts.settings import MetricsSettings
from collector.receiver.receive import DISK_IS_SHORT
from ragvigil.app.process.supervise import Core
from ragvigil.listener.mistakes import Mistake, Mistakes, is_export
from ragvigil.model.endpoint import answers_to, is_loopback, split_endpoint
from ragvigil.model.token import bearer, is_same

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class ScrapeRefusal(StrEnum):
    """Why /metrics was refused; a label of `ragvigil_scrapes_refused_total`."""

    HOST = "host"
    TOKEN = "token"


REFUSED = Counter(
    "ragvigil_scrapes_refused", "Requests for /metrics refused, by reason.", ["reason"]
)
REFUSALS = {
    ScrapeRefusal.HOST: (421, b"this Host name is not served; list it in [metrics] allowed_hosts"),
    ScrapeRefusal.TOKEN: (401, b"a token is needed: Authorization: Bearer TOKEN"),
}
PROMETHEUS_TEXT = b"text/plain; version=0.0.4; charset=utf-8"


class Exposition:
    """ASGI application of the metrics listener.

    `is_accepting` returns whether the receivers accept spans, `is_disk_short` whether they refuse
    them for want of space. Each scrape asks the core for its series: a core that is down has no
    series, never stale ones.
    """

    def __init__(
        self,
        core: Core,
        is_accepting: Callable[[], bool],
        settings: MetricsSettings,
        is_disk_short: Callable[[], bool] = lambda: False,
    ) -> None:
        self._core = core
        self._is_accepting, self._is_disk_short = is_accepting, is_disk_short
        self._token = settings.secret()
        self._is_loopback = is_loopback(split_endpoint(settings.endpoint)[0])
        self._hosts = settings.allowed_hosts
        self._mistakes = Mistakes("metrics")

    def take(self, token: str | None) -> None:
        """Asks new scrapes for another token."""
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
            is_ready, words = await self._readiness()
            return (200 if is_ready else 503), words.encode(), b"text/plain"
        if path == "/metrics":
            refusal = self._refusal(scope)
            if refusal is not None:
                REFUSED.labels(reason=refusal.value).inc()
                status, sentence = REFUSALS[refusal]
                return status, sentence + b"\n", b"text/plain"
            core = await self._core.ask("metrics")
            return 200, generate_latest(REGISTRY) + (core or b""), PROMETHEUS_TEXT
        if is_export(scope["method"], path):
            peer = (scope.get("client") or ("unknown",))[0]
            return 404, self._mistakes.note(Mistake.OTLP, peer).encode() + b"\n", b"text/plain"
        return 404, b"here are /metrics, /healthz and /readyz\n", b"text/plain"

    async def _readiness(self) -> tuple[bool, str]:
        """Whether the daemon is ready; why it is not, or what it is behind by, and remarks."""
        if not self._is_accepting():
            return False, "ragvigil is stopping\n"
        if self._is_disk_short():
            return False, f"{DISK_IS_SHORT}; free some, or lower [store] max_bytes\n"
        answer = await self._core.ask("status")
        if answer is None:
            why = self._core.stall or self._core.trouble
            return False, f"{why or 'the core process is not running; the spool takes spans'}\n"
        status = json.loads(answer)
        if not status["ready"]:
            return False, f"{status.get('stands_by') or 'the core process is starting'}\n"
        lines = [f"ready, {status['behind']}"] if status["behind"] else []
        return True, "".join(f"{line}\n" for line in (*lines, *status["remarks"]))

    def _refusal(self, scope: Scope) -> ScrapeRefusal | None:
        if self._is_loopback and not answers_to(", ".join(_values(scope, b"host")), self._hosts):
            return ScrapeRefusal.HOST
        if self._token is None:
            return None
        sent = _values(scope, b"authorization")
        is_known = len(sent) == 1 and is_same(self._token, bearer(sent[0]))
        return None if is_known else ScrapeRefusal.TOKEN


def _values(scope: Scope, name: bytes) -> list[str]:
    """The values of a header, as often as it was sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
