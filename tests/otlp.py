"""Real receivers on free ports, a spool that remembers, raw clients for the transports."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
import httpx2
from google.protobuf.json_format import MessageToDict
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.decode.shape import SHAPES
from collector.receiver.grpc import METHODS, serve_grpc
from collector.receiver.http import serve_http
from collector.receiver.receive import Gate
from collector.redaction.redact import Redactor
from collector.settings import CollectorSettings
from ragvigil.model.span import Signal
from tests.patience import PATIENCE_SECONDS

TRANSPORTS = ("grpc", "protobuf", "json")
KEY = b"k" * 32
TRACE_ID = bytes(range(1, 17))


@dataclass
class KeptSpool:
    """A spool in memory; `failure` is raised instead of keeping."""

    kept: list[dict[str, Any]] = field(default_factory=list)
    failure: Exception | None = None

    async def append(self, payload: bytes, **meta: Any) -> int:
        """Keeps the payload."""
        if self.failure is not None:
            raise self.failure
        self.kept.append({"payload": payload, **meta})
        return len(self.kept)

    def requests(self) -> list[Any]:
        """The kept requests, parsed."""
        return [SHAPES[kept["signal"]].request.FromString(kept["payload"]) for kept in self.kept]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client sees: `code` is the HTTP status or the gRPC code's name."""

    code: int | str
    body: Any = None
    status: Any = None
    trailers: dict[str, Any] = field(default_factory=dict)

    @property
    def rejected(self) -> int:
        """How many items the response calls rejected."""
        partial = self.body.get("partialSuccess", {})
        return int(partial.get("rejectedSpans", partial.get("rejectedLogRecords", 0)))

    @property
    def message(self) -> str:
        """The error message of the partial success."""
        return str(self.body.get("partialSuccess", {}).get("errorMessage", ""))


@dataclass(frozen=True, kw_only=True)
class Listening:
    """Running receivers."""

    gate: Gate
    spool: KeptSpool
    grpc: str
    http: str

    async def send(
        self,
        body: Any,
        transport: str,
        *,
        signal: str = "traces",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Sends a message, or raw bytes as they are, and returns what came back."""
        if transport == "grpc":
            return await _send_grpc(self.grpc, body, signal, headers or {})
        return await _send_http(self.http, body, transport, signal, headers or {})


@contextlib.asynccontextmanager
async def listening(settings: CollectorSettings | None = None) -> AsyncIterator[Listening]:
    """Both receivers in front of a KeptSpool."""
    given = settings or CollectorSettings()
    loopback = {"grpc_endpoint": "127.0.0.1:0", "http_endpoint": "127.0.0.1:0"}
    settings = given.model_copy(update=loopback)
    spool = KeptSpool()
    gate = Gate.open(settings, spool=spool, redactor=Redactor(settings.redact, key=KEY))
    async with serve_grpc(gate, settings) as grpc_port, serve_http(gate, settings) as http_port:
        yield Listening(
            gate=gate,
            spool=spool,
            grpc=f"127.0.0.1:{grpc_port}",
            http=f"http://127.0.0.1:{http_port}",
        )


async def _send_grpc(target: str, body: Any, signal: str, headers: dict[str, str]) -> Answer:
    method = next(path for path in METHODS if f".{signal.removesuffix('s')}" in path)
    raw = body if isinstance(body, bytes) else body.SerializeToString()
    async with grpc.aio.insecure_channel(
        target, options=[("grpc.max_send_message_length", 1 << 28)]
    ) as channel:
        call = channel.unary_unary(method)(raw, metadata=tuple(headers.items()), timeout=20)
        try:
            response = await call
        except grpc.aio.AioRpcError as error:
            trailers = dict(error.trailing_metadata() or ())
            details = trailers.get("grpc-status-details-bin")
            status = Status.FromString(details) if details else None
            return Answer(code=error.code().name, status=status, trailers=trailers)
    return Answer(code="OK", body=_read(response, signal))


async def _send_http(
    base: str, body: Any, transport: str, signal: str, headers: dict[str, str]
) -> Answer:
    media = "application/json" if transport == "json" else "application/x-protobuf"
    raw = body if isinstance(body, bytes) else encode(body, transport)
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        reply = await client.post(
            f"{base}/v1/{signal}", content=raw, headers={"content-type": media, **headers}
        )
    assert reply.headers["content-type"] == media
    sent = dict(reply.headers)
    if reply.status_code != 200:
        return Answer(code=reply.status_code, status=_status(reply, transport), trailers=sent)
    read = reply.json() if transport == "json" else _read(reply.content, signal)
    return Answer(code=200, body=read, trailers=sent)


def _status(reply: httpx2.Response, transport: str) -> Any:
    return reply.json() if transport == "json" else Status.FromString(reply.content)


def _read(response: bytes, signal: str) -> Any:
    shape = SHAPES[Signal.LOGS if signal == "logs" else Signal.TRACES]
    return MessageToDict(shape.response.FromString(response))


def encode(request: Any, transport: str) -> bytes:
    """A request in protobuf, or in OTLP/JSON with hex ids."""
    if transport != "json":
        return bytes(request.SerializeToString())
    return json.dumps(_hex_ids(MessageToDict(request, use_integers_for_enums=True))).encode()


def _hex_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_hex_ids(child) for child in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    return {
        key: base64.b64decode(child).hex() if key in ids else _hex_ids(child)
        for key, child in value.items()
    }


def trace_request(count: int = 1, **attributes: str) -> ExportTraceServiceRequest:
    """A request of `count` sound spans with these attributes."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "helpdesk"
    scope = resource.scope_spans.add()
    scope.scope.name = "test"
    for number in range(count):
        span = scope.spans.add(trace_id=TRACE_ID, span_id=(number + 1).to_bytes(8, "big"))
        span.name = "ask"
        span.start_time_unix_nano = 1_700_000_000_000_000_000 + number
        span.end_time_unix_nano = span.start_time_unix_nano + 1_000_000
        for key, value in attributes.items():
            span.attributes.add(key=key).value.string_value = value
    return request


def spans_of(request: Any) -> list[Any]:
    """The spans, or log records, of a request."""
    shape = SHAPES[Signal.TRACES if hasattr(request, "resource_spans") else Signal.LOGS]
    return [item for items in shape.lists(request) for item in items]


def log_request(count: int = 1, *, body: str = "hello") -> Any:
    """A request of `count` log records that belong to spans."""
    request = SHAPES[Signal.LOGS].request()
    scope = request.resource_logs.add().scope_logs.add()
    for number in range(count):
        record = scope.log_records.add(trace_id=TRACE_ID, time_unix_nano=number + 1)
        record.span_id = (number + 1).to_bytes(8, "big")
        record.body.string_value = body
    return request


def with_broken_text(request: Any) -> bytes:
    """The request with the text `BROKEN` made bytes that are not UTF-8."""
    return bytes(request.SerializeToString().replace(b"BROKEN", b"\xff\xfe\xfd\xfc\xfb\xfa"))
