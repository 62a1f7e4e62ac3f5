"""Checks every request first: Host allow-list, cross-site refusal, size limit, headers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragvigil.listener.mistakes import Mistake, Mistakes, is_export
from ragvigil.model.endpoint import answers_to
from ragvigil.web.errors import error_response
from ragvigil.web.metrics import FOREIGN, Foreign
from ragvigil.web.permissions import TOKEN_NEEDED, Access

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every reply has; a page that needs another policy sets it itself."""
READING = {"GET", "HEAD", "OPTIONS"}


class Guard:
    """ASGI middleware. `hosts` are names without port; `max_body_bytes` bounds a request body.

    A browser lets a page of another site post a plain form to this address. So a request that
    changes something must be JSON, and neither `Sec-Fetch-Site` nor `Origin` may name another
    site. There are no cookies: a page of another site has no token that it could send.

    `methods_instead` gives the methods of a path that has not the request's; else it is empty.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        hosts: Iterable[str],
        max_body_bytes: int,
        methods_instead: Callable[[Scope], Collection[str]] = lambda _: (),
    ) -> None:
        self._app = app
        self._access = access
        self._hosts = frozenset(host.lower() for host in hosts)
        self._max_body_bytes = max_body_bytes
        self._methods_instead = methods_instead
        self._mistakes = Mistakes("web")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 4xx, or passes the request on; every reply gets the headers."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    own.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, with_headers)
            return
        await self._app(scope, self._bounded(receive), with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not answers_to(headers.get("host", ""), self._hosts):
            FOREIGN.labels(Foreign.HOST).inc()
            return error_response(
                400, "this Host name is not served; see [web] external_url and allowed_hosts"
            )
        if scope["method"] in READING:
            return None
        if is_export(scope["method"], scope["path"]):
            peer = (scope.get("client") or ("unknown",))[0]
            return error_response(404, self._mistakes.note(Mistake.OTLP, peer))
        methods = ", ".join(sorted(self._methods_instead(scope)))
        if methods:
            sentence = f"this address has no {scope['method']}, only {methods}"
            return error_response(405, sentence, headers={"allow": methods})
        # The routes check the permission themselves; this comes before any body is read.
        if self._access.role(*headers.getlist("authorization")) is None:
            return error_response(401, TOKEN_NEEDED, headers={"www-authenticate": "Bearer"})
        if self._is_of_another_site(headers):
            FOREIGN.labels(Foreign.ORIGIN).inc()
            return error_response(
                403, "requests from other sites are refused; see [web] external_url"
            )
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return error_response(415, "the body must be application/json")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._max_body_bytes:
            return error_response(413, self._too_long())
        return None

    def _is_of_another_site(self, headers: Headers) -> bool:
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return True
        # Older browsers send only `Origin`, which is "null" where they hide the site.
        origin = headers.get("origin", "http://localhost")
        return not answers_to(origin.partition("://")[2], self._hosts)

    def _too_long(self) -> str:
        return f"the body is longer than {self._max_body_bytes} bytes"

    def _bounded(self, receive: Receive) -> Receive:
        received = 0

        async def bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_body_bytes:
                raise HTTPException(413, self._too_long())
            return message

        return bounded
