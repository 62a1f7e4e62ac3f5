"""OTLP/gRPC: generic handlers that pass raw bytes to `receive`, which HTTP uses too."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import grpc
import grpc.aio

from collector.decode.otlp import Encoding
from collector.metrics import REFUSED
from collector.receiver.answer import CODES, retry_info, status
from collector.receiver.auth import Access, access_of, admit, headers_of
from collector.receiver.receive import Gate, accept
from collector.refusal import Refused
from collector.settings import CollectorSettings
from ragvigil.model.span import Signal

PACKAGE = "opentelemetry.proto.collector"
METHODS = {
    f"/{PACKAGE}.trace.v1.TraceService/Export": Signal.TRACES,
    f"/{PACKAGE}.logs.v1.LogsService/Export": Signal.LOGS,
    f"/{PACKAGE}.metrics.v1.MetricsService/Export": None,
}
CODE_OF = {code.value[0]: code for code in grpc.StatusCode}
STOP_SECONDS = 5.0


class OtlpGrpc(grpc.GenericRpcHandler):  # type: ignore[misc] # grpc has no types
    """The three Export methods."""

    def __init__(self, gate: Gate, access: Access) -> None:
        self._gate = gate
        self._access = access

    def service(self, handler_call_details: Any) -> Any:
        """The handler of a method; None (UNIMPLEMENTED) for an unknown method."""
        method = handler_call_details.method
        if method not in METHODS:
            return None
        return grpc.unary_unary_rpc_method_handler(partial(self._export, METHODS[method]))

    async def _export(self, signal: Signal | None, body: bytes, context: Any) -> bytes:
        try:
            backfill = admit(_headers(context), self._access)
            with self._gate.budget.hold(len(body)):
                done = await accept(
                    body,
                    signal=signal,
                    encoding=Encoding.PROTOBUF,
                    gate=self._gate,
                    backfill=backfill,
                )
        except Refused as refused:
            REFUSED.labels(reason=refused.reason.value).inc()
            code = CODE_OF[CODES[refused.reason].grpc]
            await context.abort(code, str(refused), trailing_metadata=_trailers(refused))
            raise
        return done.encode(Encoding.PROTOBUF)


def _headers(context: Any) -> dict[str, str]:
    metadata = context.invocation_metadata() or ()
    return headers_of((key, value) for key, value in metadata if isinstance(value, str))


def _trailers(refused: Refused) -> tuple[tuple[str, bytes], ...]:
    """The status, and the delay again in the field where Python's exporter looks for it."""
    trailers = (("grpc-status-details-bin", status(refused)),)
    delay = retry_info(refused)
    return (*trailers, ("google.rpc.retryinfo-bin", delay)) if delay else trailers


@contextlib.asynccontextmanager
async def serve_grpc(gate: Gate, settings: CollectorSettings) -> AsyncIterator[int]:
    """Serves OTLP/gRPC on this event loop; yields the port.

    At the end it stops accepting and lets calls in progress finish, for at most `STOP_SECONDS`.
    Raises RuntimeError if the address cannot be used.
    """
    server = grpc.aio.server(
        options=[
            # Beyond this, before or after decompression, gRPC itself answers RESOURCE_EXHAUSTED.
            ("grpc.max_receive_message_length", gate.limits.max_body_bytes),
            # With it on, a second daemon would share the port instead of failing.
            ("grpc.so_reuseport", 0),
            # Allows clients that ping every 10 seconds while idle.
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ],
    )
    server.add_generic_rpc_handlers((OtlpGrpc(gate, access_of(settings, "grpc")),))
    credentials = _credentials(settings)
    if credentials is None:
        port = server.add_insecure_port(settings.grpc_endpoint)
    else:
        port = server.add_secure_port(settings.grpc_endpoint, credentials)
    await server.start()
    try:
        yield port
    finally:
        await server.stop(STOP_SECONDS)


def _credentials(settings: CollectorSettings) -> Any:
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    pair = (settings.tls_key.read_bytes(), settings.tls_certificate.read_bytes())
    authorities = settings.tls_client_ca.read_bytes() if settings.tls_client_ca else None
    return grpc.ssl_server_credentials(
        [pair], root_certificates=authorities, require_client_auth=authorities is not None
    )
