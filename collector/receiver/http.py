"""OTLP/HTTP: a small ASGI application that passes bodies to `receive`, as gRPC does."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any

from collector.decode.otlp import Encoding
from collector.metrics import CONNECTIONS, CONNECTIONS_CLOSED, REFUSED
from collector.receiver.answer import CODES, status, status_json
from collector.receiver.auth import Access, access_of, admit, headers_of, require_host, sender
from collector.receiver.compression import decompress
from collector.receiver.incoming import ClientGone, IncomingBody, Receive
from collector.receiver.receive import Gate, accept
from collector.refusal import Refusal, Refused, TooLarge
from collector.settings import CollectorSettings
from ragvigil.listener.limits import ConnectionCounts, ConnectionLimits
from ragvigil.listener.reloads import Reloads
from ragvigil.listener.serve import Tls, serve
from ragvigil.model.span import Signal

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PREFIXES = ("/v1/", "/api/public/otel/v1/", "/tracer/v1/")
SIGNALS = {"traces": Signal.TRACES, "logs": Signal.LOGS, "metrics": None}
PATHS = {prefix + name: signal for prefix in PREFIXES for name, signal in SIGNALS.items()}
MEDIA_TYPES = {
    Encoding.PROTOBUF: b"application/x-protobuf",
    Encoding.JSON: b"application/json",
}
ENCODINGS = {media.decode(): encoding for encoding, media in MEDIA_TYPES.items()}
STOP_SECONDS = 5


class OtlpHttp:
    """The application: POST of /v1/traces, /v1/logs, /v1/metrics, also below other prefixes."""

    def __init__(self, gate: Gate, access: Access) -> None:
        self._gate = gate
        self._access = access

    def take(self, access: Access) -> None:
        """Asks new requests for another token."""
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, every refusal with a google.rpc.Status in the request's encoding."""
        if scope["type"] != "http":
            return
        headers = headers_of(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        )
        encoding = _encoding(headers)
        incoming = IncomingBody(receive)
        try:
            answer = await self._accept(scope, headers, encoding, incoming)
        except Refused as refused:
            REFUSED.labels(reason=refused.reason.value).inc()
            if "expect" not in headers:  # with Expect: 100-continue no body is on its way yet
                await incoming.drain()
            await _refuse(send, refused, encoding, is_read=incoming.is_over)
        except ClientGone:
            REFUSED.labels(reason=Refusal.DISCONNECTED.value).inc()
        else:
            await _send(send, 200, answer, encoding or Encoding.JSON)

    async def _accept(
        self,
        scope: Scope,
        headers: dict[str, str],
        encoding: Encoding | None,
        incoming: IncomingBody,
    ) -> bytes:
        require_host(headers, self._access)
        signal = _signal(scope)
        if encoding is None:
            raise Refused(Refusal.MEDIA_TYPE, f"content-type must be one of {', '.join(ENCODINGS)}")
        backfill = admit(headers, self._access)
        self._gate.require_rate(sender(headers, self._access))
        self._gate.require_open()
        limit = self._gate.limits.max_body_bytes
        _require_small(headers, limit)
        with self._gate.budget.hold() as hold:
            body = await incoming.read(limit, hold)
            coding = headers.get("content-encoding", "")
            body = await decompress(body, coding, limit=limit, hold=hold)
            done = await accept(
                body, signal=signal, encoding=encoding, gate=self._gate, backfill=backfill
            )
        return done.encode(encoding)


def _signal(scope: Scope) -> Signal | None:
    path = scope["path"].rstrip("/")
    if path not in PATHS:
        raise Refused(Refusal.PATH, f"the paths are {', '.join(f'/v1/{name}' for name in SIGNALS)}")
    if scope["method"] != "POST":
        raise Refused(Refusal.METHOD, "OTLP requests must use POST")
    return PATHS[path]


def _encoding(headers: dict[str, str]) -> Encoding | None:
    return ENCODINGS.get(headers.get("content-type", "").partition(";")[0].strip().lower())


def _require_small(headers: dict[str, str], limit: int) -> None:
    """Raises TooLarge if the client declares more than `limit` bytes.

    Nothing is kept free for what is declared: who declares much and sends nothing would shut out
    the others.
    """
    length = headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length) > limit:
        raise TooLarge(f"the body is larger than {limit} bytes")


async def _refuse(
    send: Send, refused: Refused, encoding: Encoding | None, *, is_read: bool
) -> None:
    """Sends the refusal; closes the connection if the body was not read to its end."""
    extra = [] if is_read else [(b"connection", b"close")]
    if refused.retry_seconds:
        extra.append((b"retry-after", str(refused.retry_seconds).encode()))
    if refused.reason is Refusal.METHOD:
        extra.append((b"allow", b"POST"))
    if refused.reason is Refusal.UNAUTHENTICATED:
        extra.append((b"www-authenticate", b"Bearer"))
    body = status(refused) if encoding is Encoding.PROTOBUF else status_json(refused)
    await _send(send, CODES[refused.reason].http, body, encoding or Encoding.JSON, extra)


async def _send(
    send: Send,
    code: int,
    body: bytes,
    encoding: Encoding,
    extra: list[tuple[bytes, bytes]] | None = None,
) -> None:
    headers = [
        (b"content-type", MEDIA_TYPES[encoding]),
        (b"content-length", str(len(body)).encode()),
        *(extra or []),
    ]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def serve_http(
    gate: Gate, settings: CollectorSettings, reloads: Reloads | None = None
) -> AsyncIterator[int]:
    """Serves OTLP/HTTP on this event loop; yields the port.

    `reloads` reads token and certificate again.
    At the end it stops accepting and lets requests in progress finish, for at most
    `STOP_SECONDS`. Raises OSError if the address cannot be used.
    """
    limits = ConnectionLimits(
        name="otlp_http",
        most=settings.limits.max_connections,
        counts=ConnectionCounts(open=CONNECTIONS, closed=CONNECTIONS_CLOSED),
    )
    tls = Tls(
        certificate=settings.tls_certificate,
        key=settings.tls_key,
        client_ca=settings.tls_client_ca,
    )
    reloads = reloads or Reloads()
    application = OtlpHttp(gate, access_of(settings, "http"))
    reloads.add(lambda: partial(application.take, access_of(settings, "http")))
    async with serve(
        application,
        settings.http_endpoint,
        limits,
        tls=tls,
        stop_seconds=STOP_SECONDS,
        reloads=reloads,
    ) as port:
        yield port
