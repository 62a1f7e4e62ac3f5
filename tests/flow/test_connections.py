"""Clients that hold connections: a real daemon with few descriptors, and exporters beside them."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.settings import CollectorSettings, LimitSettings
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.otlp import listening, trace_request
from tests.patience import PATIENCE_SECONDS
from tests.silent_clients import PREFACE, SETTINGS, headers, message, silent_clients

pytestmark = pytest.mark.slow

DESCRIPTORS = 512
SECONDS = 8.0
MOST_LINES = 20
MIB = 1 << 20


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    started = start(tmp_path_factory.mktemp("daemon"))
    resource.prlimit(started.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS // 2, DESCRIPTORS))
    try:
        started.wait_ready()
        yield started
    finally:
        started.stop()


def spans(count: int) -> list[ReadableSpan]:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    for number in range(count):
        provider.get_tracer("test").start_span(f"span {number}").end()
    return list(kept.get_finished_spans())


def exporter(daemon: ChildDaemon, transport: str) -> SpanExporter:
    if transport == "grpc":
        return GrpcExporter(
            endpoint=f"http://{daemon.grpc}", insecure=True, timeout=PATIENCE_SECONDS
        )
    return HttpExporter(endpoint=f"http://{daemon.http}/v1/traces", timeout=PATIENCE_SECONDS)


@contextlib.contextmanager
def exporting(daemon: ChildDaemon, transport: str) -> Iterator[list[SpanExportResult]]:
    """Exports five times a second, every third time over a new connection; yields the results."""
    results: list[SpanExportResult] = []
    stop = threading.Event()

    def export() -> None:
        kept = exporter(daemon, transport)
        while not stop.wait(0.2):
            if len(results) % 3:
                results.append(kept.export(spans(1)))
                continue
            fresh = exporter(daemon, transport)
            results.append(fresh.export(spans(1)))
            fresh.shutdown()
        kept.shutdown()

    thread = threading.Thread(target=export)
    thread.start()
    try:
        yield results
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("pid_file", ["daemon.lock", "core.lock"])
def test_the_limit_of_open_files_is_raised(daemon: ChildDaemon, pid_file: str) -> None:
    pid = int((daemon.data_dir / pid_file).read_text(encoding="ascii"))
    assert resource.prlimit(pid, resource.RLIMIT_NOFILE) == (DESCRIPTORS, DESCRIPTORS)


def test_a_low_limit_is_said_in_one_line_of_each_process(daemon: ChildDaemon) -> None:
    lines = (daemon.data_dir / "daemon.log").read_text().splitlines()
    assert sum("the limit of open files is low" in line for line in lines) == 2


def test_silent_clients_shut_out_nobody(daemon: ChildDaemon) -> None:
    log = daemon.data_dir / "daemon.log"
    before = len(log.read_bytes().splitlines())
    statuses = set()
    http = [daemon.http, daemon.metrics, daemon.web]
    with (
        silent_clients(http=http, grpc=[daemon.grpc], count=600),
        exporting(daemon, "grpc") as over_grpc,
        exporting(daemon, "http") as over_http,
    ):
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            for url in (f"{daemon.metrics}/healthz", f"{daemon.web}/api/v1/ledger"):
                statuses.add(httpx2.get(f"http://{url}", timeout=PATIENCE_SECONDS).status_code)
    assert statuses == {200}
    assert set(over_grpc) == set(over_http) == {SpanExportResult.SUCCESS}
    assert len(log.read_bytes().splitlines()) - before <= MOST_LINES
    metrics = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS).text
    assert 'ragvigil_connections_closed_total{listener="otlp_grpc",reason="made_room"}' in metrics


def test_a_stop_waits_for_no_silent_client_and_logs_no_error(tmp_path: Path) -> None:
    started = start(tmp_path)
    started.wait_ready()
    http = [started.http, started.metrics, started.web]
    with silent_clients(http=http, grpc=[started.grpc], count=60):
        assert started.stop() == 0
    log = (tmp_path / "daemon.log").read_text()
    assert "event=stopped" in log
    assert "Traceback" not in log
    assert "level=error" not in log


def settings_with(in_flight_bytes: int) -> CollectorSettings:
    limits = LimitSettings(max_body_bytes=4 * MIB, max_in_flight_bytes=in_flight_bytes)
    return CollectorSettings(limits=limits)


def half_body(address: str, declared: int, sent: bytes) -> socket.socket:
    """A connection to OTLP/HTTP that declares a body and sends a part of it."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    client = socket.create_connection((host, int(port)))
    head = "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\n"
    client.sendall(f"{head}content-length: {declared}\r\n\r\n".encode() + sent)
    client.setblocking(False)
    return client


def half_call(address: str, declared: int, sent: bytes) -> socket.socket:
    """A connection to OTLP/gRPC that declares a message and sends a part of it."""
    host, _, port = address.rpartition(":")
    client = socket.create_connection((host, int(port)))
    client.sendall(PREFACE + SETTINGS + headers(1) + message(1, declared, sent))
    client.setblocking(False)
    return client


async def until_used(budget: object, least: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while budget.used < least:  # type: ignore[attr-defined]
            await asyncio.sleep(0.02)


async def test_what_is_declared_takes_no_room() -> None:
    async with listening(settings_with(4 * MIB)) as server:
        clients = [half_body(server.http, 4 * MIB, b"x") for _ in range(3)]
        await until_used(server.gate.budget, 3)
        assert server.gate.budget.used == 3
        for transport in ("grpc", "protobuf"):
            answer = await server.send(trace_request(2), transport)
            assert answer.code in (200, "OK")
        for client in clients:
            client.close()


async def test_what_arrived_of_a_call_takes_room() -> None:
    async with listening(settings_with(4 * MIB)) as server:
        # Less than the window that gRPC opens before anybody reads from the connection.
        client = half_call(server.grpc, 3 * MIB, bytes(40_000))
        await until_used(server.gate.budget, 40_000)
        assert server.gate.budget.used < 45_000
        client.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while server.gate.budget.used:
                await asyncio.sleep(0.02)


@pytest.mark.parametrize("half", ["http", "grpc"])
async def test_a_half_body_that_holds_all_gives_way_to_a_small_request(half: str) -> None:
    async with listening(settings_with(40_000)) as server:
        hold = half_body if half == "http" else half_call
        client = hold(getattr(server, half), 3 * MIB, bytes(39_500))
        await until_used(server.gate.budget, 39_000)
        answer = await server.send(trace_request(20), "protobuf")
        assert answer.code == 200
        assert server.gate.budget.used == 0
        client.setblocking(True)
        async with asyncio.timeout(PATIENCE_SECONDS):  # it is told so: 503, or UNAVAILABLE
            assert await asyncio.to_thread(client.recv, 1 << 16)
        client.close()


async def test_half_bodies_that_hold_all_together_do_not_wait_for_each_other() -> None:
    async with listening(settings_with(MIB)) as server:
        clients = [half_body(server.http, 3 * MIB, bytes(500_000)) for _ in range(2)]
        await until_used(server.gate.budget, 900_000)
        clients[0].send(bytes(100_000))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while server.gate.budget.used > 700_000:  # one of them had to go
                await asyncio.sleep(0.02)
        for client in clients:
            client.close()
