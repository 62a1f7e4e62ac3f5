"""Checks every request first: Host allow-list, cross-site refusal, size limit, headers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragvigil.listener.mistakes import Mistake, Mistakes, is_export
from ragvigil.listener.rate import RateLimit
from ragvigil.model.endpoint import answers_to
from ragvigil.web.access import TOKEN_NEEDED, Access, Refused, peer_of
from ragvigil.web.errors import Page, error_response, for_reader, is_of_api
from ragvigil.web.identity import Identity, Way
from ragvigil.web.metrics import FOREIGN, IDENTITY_REFUSED, Foreign, Refusal

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With `no-referrer` browsers would send forms of our own pages with `Origin: null`.
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every reply has; a page that needs another policy sets it itself."""
READING = {"GET", "HEAD", "OPTIONS"}
SIGN_IN = "/sign-in"
"""The one form of somebody unknown."""
JSON = {"application/json"}
FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}


class Guard:
    """ASGI middleware. `hosts` are names without port; `max_body_bytes` bounds a request body.

    It finds out who sent a request, and passes `state.identity` and `state.person` on: None where
    nobody known did.

    A browser lets a page of another site post a plain form to this address, with the reader's
    cookie or through the reader's proxy. So neither `Sec-Fetch-Site` nor `Origin` of a request that
    changes something may name another site. Besides, pages take forms alone, which carry a token of
    the reader's (`pages/forms.py`); the API takes JSON alone, and neither a cookie nor the proxy's
    header is enough for it.

    `rate` bounds the requests of each person, and of each address of nobody known. `page` says to a
    browser why it was refused.
    `methods_instead` gives the methods of a path that has not the request's; else it is empty.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        hosts: Iterable[str],
        max_body_bytes: int,
        page: Page,
        methods_instead: Callable[[Scope], Collection[str]] = lambda _: (),
        rate: RateLimit | None = None,
    ) -> None:
        self._app = app
        self.access = access
        self._hosts = frozenset(host.lower() for host in hosts)
        self._max_body_bytes = max_body_bytes
        self._page = page
        self._methods_instead = methods_instead
        self._mistakes = Mistakes("web")
        self._rate = rate or RateLimit(None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 4xx, or passes the request on; every reply gets the headers."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    own.setdefault(name, value)
                # Here, outside of the answers that several readers may share.
                if renewed and "set-cookie" not in own:
                    own["set-cookie"] = renewed
            await send(message)

        renewed, identity = "", None
        refusal = self._foreign(scope)
        if refusal is None:
            try:
                identity = self.access.identify(scope)
            except Refused as refused:
                refusal = error_response(refused.status, str(refused))
            else:
                renewed = self.access.renewed(identity)
                refusal = self._too_often(scope, identity) or self._refusal(scope, identity)
        if refusal is not None:
            shown = for_reader(scope, refusal, self._page, self.access.prefix)
            await shown(scope, receive, with_headers)
            return
        state = {"identity": identity, "person": identity and identity.person}
        scope["state"] = {**scope.get("state", {}), **state}
        await self._app(scope, self._bounded(receive), with_headers)

    def _too_often(self, scope: Scope, identity: Identity | None) -> Response | None:
        wait = self._rate.wait_seconds(identity.person.name if identity else peer_of(scope))
        if not wait:
            return None
        headers = {"retry-after": str(math.ceil(wait))}
        return error_response(429, "too many requests; retry later", headers=headers)

    def _foreign(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not answers_to(headers.get("host", ""), self._hosts):
            FOREIGN.labels(Foreign.HOST).inc()
            return error_response(
                400, "this Host name is not served; see [web] external_url and allowed_hosts"
            )
        if scope["method"] not in READING and self._is_of_another_site(headers):
            FOREIGN.labels(Foreign.ORIGIN).inc()
            return error_response(
                403, "requests from other sites are refused; see [web] external_url"
            )
        return None

    def _refusal(self, scope: Scope, identity: Identity | None) -> Response | None:
        if scope["method"] in READING:
            return None
        headers = Headers(scope=scope)
        if is_export(scope["method"], scope["path"]):
            return error_response(404, self._mistakes.note(Mistake.OTLP, peer_of(scope)))
        methods = ", ".join(sorted(self._methods_instead(scope)))
        if methods:
            sentence = f"this address has no {scope['method']}, only {methods}"
            return error_response(405, sentence, headers={"allow": methods})
        # The routes check the permission themselves; this comes before any body is read.
        if identity is None and scope["path"] != SIGN_IN:
            status, more = self.access.challenge(scope)
            return error_response(status, TOKEN_NEEDED, headers=more)
        is_api = is_of_api(scope["path"])
        if is_api and identity and identity.way in (Way.SESSION, Way.PROXY):
            IDENTITY_REFUSED.labels(Refusal.SESSION_ACTS).inc()
            return error_response(
                403, "who signed in acts on the pages; here a program sends its token"
            )
        form = headers.get("content-type", "").partition(";")[0].strip().lower()
        if form not in (JSON if is_api else FORMS):
            expected = "application/json" if is_api else "a form of a page"
            return error_response(415, f"the body must be {expected}")
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
        return f"the body is longer than {self._max_body_bytes} bytes; see [web] max_body_bytes"

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
