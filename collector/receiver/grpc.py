"""OTLP/gRPC: generic handlers that pass raw bytes to `receive`, which HTTP uses too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import grpc
import grpc.aio

from collector.decode.otlp import Encoding
from collector.metrics import CONNECTIONS, CONNECTIONS_CLOSED, REFUSED
from collector.receiver.answer import CODES, retry_info, status
from collector.receiver.auth import Access, access_of, admit, headers_of, sender
from collector.receiver.grpc_connections import GrpcConnections
from collector.receiver.receive import Gate, accept
from collector.refusal import Refused
from collector.settings import CollectorSettings
from ragvigil.listener.limits import ConnectionCounts, ConnectionLimits
from ragvigil.listener.reloads import Reloads
from ragvigil.listener.serve import Tls
from ragvigil.model.span import Signal

PACKAGE = "opentelemetry.proto.collector"
METHODS = {
    f"/{PACKAGE}.trace.v1.TraceService/Export": Signal.TRACES,
    f"/{PACKAGE}.logs.v1.LogsService/Export": Signal.LOGS,
    f"/{PACKAGE}.metrics.v1.MetricsService/Export": None,
}
CODE_OF = {code.value[0]: code for code in grpc.StatusCode}
STOP_SECONDS = 5.0
IDLE_SECONDS = 300
MAX_STREAMS = 100
"""Calls of one connection at the same time; a client lets further ones wait."""


class OtlpGrpc(grpc.GenericRpcHandler):  # type: ignore[misc] # grpc has no types
    """The three Export methods."""

    def __init__(self, gate: Gate, access: Access, connections: GrpcConnections) -> None:
        self._gate = gate
        self._access = access
        self._connections = connections

    def take(self, access: Access) -> None:
        """Asks new calls for another token."""
        self._access = access

    def service(self, handler_call_details: Any) -> Any:
        """The handler of a method; None (UNIMPLEMENTED) for an unknown method."""
        method = handler_call_details.method
        if method not in METHODS:
            return None
        # A stream of requests, although there is one: gRPC calls the handler of a single request
        # only when its message is complete, so that nobody would wait for it.
        return grpc.stream_unary_rpc_method_handler(partial(self._export, METHODS[method]))

    async def _export(self, signal: Signal | None, messages: Any, context: Any) -> bytes:
        try:
            headers = _headers(context)
            backfill = admit(headers, self._access)
            self._gate.require_rate(sender(headers, self._access))
            self._gate.require_open()
            peer = context.peer()
            with self._gate.budget.hold() as hold:
                body = await self._connections.message(messages, peer, hold)
                with self._connections.answering(peer):
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
async def serve_grpc(
    gate: Gate, settings: CollectorSettings, reloads: Reloads | None = None
) -> AsyncIterator[int]:
    """Serves OTLP/gRPC on this event loop; yields the port.

    `reloads` reads token and certificate again.
    At the end it stops accepting and lets calls in progress finish, for at most `STOP_SECONDS`.
    Raises RuntimeError if the address cannot be used.
    """
    limits = ConnectionLimits(
        name="otlp_grpc",
        most=settings.limits.max_connections,
        counts=ConnectionCounts(open=CONNECTIONS, closed=CONNECTIONS_CLOSED),
    )
    connections = GrpcConnections(limits)
    server = grpc.aio.server(options=_options(gate.limits.max_body_bytes, limits))
    reloads = reloads or Reloads()
    handler = OtlpGrpc(gate, access_of(settings, "grpc"), connections)
    reloads.add(lambda: partial(handler.take, access_of(settings, "grpc")))
    server.add_generic_rpc_handlers((handler,))
    credentials = _credentials(settings, reloads)
    if credentials is None:
        port = server.add_insecure_port(settings.grpc_endpoint)
    else:
        port = server.add_secure_port(settings.grpc_endpoint, credentials)
    await server.start()
    watching = asyncio.create_task(connections.watch(port))
    try:
        yield port
    finally:
        await server.stop(STOP_SECONDS)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def _options(max_body_bytes: int, limits: ConnectionLimits) -> list[tuple[str, int]]:
    return [
        # Beyond this, before or after decompression, gRPC itself answers RESOURCE_EXHAUSTED.
        ("grpc.max_receive_message_length", max_body_bytes),
        # With it on, a second daemon would share the port instead of failing.
        ("grpc.so_reuseport", 0),
        # Allows clients that ping every 10 seconds while idle; faster ones are cut off.
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        # Beyond this a connection is closed as soon as it is accepted.
        ("grpc.max_allowed_incoming_connections", limits.most),
        # Until TLS, the preface and the client's settings are there.
        ("grpc.server_handshake_timeout_ms", int(limits.deadlines.head_seconds * 1000)),
        # Longer than a metrics exporter's pause of a minute; a client opens another by itself.
        ("grpc.max_connection_idle_ms", IDLE_SECONDS * 1000),
        ("grpc.max_concurrent_streams", MAX_STREAMS),
    ]


class _Certificate:
    """The certificate of new connections. gRPC asks for it, in threads of its own."""

    def __init__(self, configuration: Any) -> None:
        self.configuration = configuration

    def take(self, configuration: Any) -> None:
        """Gives this one from now on."""
        self.configuration = configuration


def _credentials(settings: CollectorSettings, reloads: Reloads) -> Any:
    tls = Tls(
        certificate=settings.tls_certificate,
        key=settings.tls_key,
        client_ca=settings.tls_client_ca,
    )
    if tls.certificate is None or tls.key is None:
        return None
    current = _Certificate(_configuration(tls))
    reloads.add(lambda: partial(current.take, _configuration(tls)))
    return grpc.dynamic_ssl_server_credentials(
        current.configuration,
        lambda: current.configuration,
        require_client_authentication=tls.client_ca is not None,
    )


def _configuration(tls: Tls) -> Any:
    """What gRPC takes as a certificate. Raises ValueError or OSError for a file that is wrong."""
    tls.context()  # gRPC itself would say only that a handshake failed
    assert tls.certificate is not None
    assert tls.key is not None
    return grpc.ssl_server_certificate_configuration(
        [(tls.key.read_bytes(), tls.certificate.read_bytes())],
        root_certificates=tls.client_ca.read_bytes() if tls.client_ca else None,
    )
