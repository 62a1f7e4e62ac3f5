"""Results arrive at real OTLP receivers, over both protocols and through every kind of outage."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from gzip import decompress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from prometheus_client import REGISTRY

from collector.decode.spans import decode_logs, decode_spans
from collector.record.feedback import feedback_of
from collector.settings import CollectorSettings
from ragvigil.app.demo.child_daemon import free_port
from ragvigil.model.outcome import Outcome
from ragvigil.model.span import Closed, LogRecord, Trace
from scorers.export.queue import ExportQueue
from scorers.export.settings import ExportSettings
from tests.otlp import Listening, listening
from tests.outcomes import outcome_of
from tests.patience import PATIENCE_SECONDS

PROTOCOLS = ("grpc", "http/protobuf")
SECRET = "Bearer s3cret"


def settings_of(server: Listening, protocol: str, **settings: object) -> ExportSettings:
    endpoint = f"http://{server.grpc}" if protocol == "grpc" else server.http
    return ExportSettings.model_validate(
        {"protocol": protocol, "endpoint": endpoint, "timeout_seconds": 3.0} | settings
    )


@contextlib.contextmanager
def exporting(settings: ExportSettings) -> Iterator[ExportQueue]:
    made = ExportQueue(settings)
    made.start()
    try:
        yield made
    finally:
        made.stop(1.0)


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"ragvigil_{name}_total", labels) or 0.0


async def until(holds: Any, seconds: float = PATIENCE_SECONDS) -> None:
    """Waits until `holds()`."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_result_arrives_as_an_event_of_the_span_that_was_judged(
    protocol: str, tmp_path: Path
) -> None:
    outcome, headers = outcome_of(0xABC), tmp_path / "headers"
    headers.write_text(f"Authorization: {SECRET}\n")
    async with listening(CollectorSettings.model_validate({
        "grpc_token": "s3cret", "http_token": "s3cret",
    })) as server:  # fmt: skip
        with exporting(settings_of(server, protocol, headers_file=headers)) as sending:
            sending.offer([outcome])
            await until(lambda: server.spool.kept)
        (request,) = server.spool.requests()
    resource, scope = (
        request.resource_logs[0].resource,
        request.resource_logs[0].scope_logs[0].scope,
    )
    assert [(attribute.key, attribute.value.string_value) for attribute in resource.attributes] == [
        ("service.name", "ragvigil")
    ]
    assert scope.name == "ragvigil"
    first, second = decode_logs(request)
    record = outcome.records[0].record
    assert (first.event_name, first.body) == ("gen_ai.evaluation.result", None)
    assert (first.trace_id, first.span_id) == (record.trace_id, record.record_id)
    assert abs(first.time_unix_nano - time.time_ns()) < 60 * 10**9
    assert first.attributes["gen_ai.evaluation.name"] == "citation_validity"
    assert first.attributes["gen_ai.evaluation.score.value"] == 0.25
    assert first.attributes["gen_ai.evaluation.score.label"] == "quote_not_found"
    assert first.attributes["gen_ai.response.id"] == record.response_ids[0]
    assert first.attributes["ragvigil.inclusion_probability"] == 1.0
    assert "gen_ai.evaluation.explanation" not in first.attributes
    assert second.attributes["gen_ai.evaluation.name"] == "refusal"
    assert "gen_ai.evaluation.score.value" not in second.attributes


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_as_a_span_the_results_link_to_the_span_that_was_judged(protocol: str) -> None:
    outcome = outcome_of(0xABC)
    async with listening() as server:
        with exporting(settings_of(server, protocol, form="spans")) as sending:
            sending.offer([outcome])
            await until(lambda: server.spool.kept)
        (span,) = decode_spans(server.spool.requests()[0])
    record = outcome.records[0].record
    assert [(link.trace_id, link.span_id) for link in span.links] == [
        (record.trace_id, record.record_id)
    ]
    assert (span.trace_id[:16], span.parent_span_id) == (b"ragvigil".hex(), "")
    assert span.trace_id != record.trace_id
    assert span.attributes["openinference.span.kind"] == "EVALUATOR"
    assert span.attributes["evaluations.0.evaluation.score"] == 0.25
    trace = Trace(trace_id=span.trace_id, spans=(span,), closed=Closed.IDLE, received_unix_nano=1)
    assert feedback_of(trace) == (), "it is no feedback when it comes back"


@dataclass(kw_only=True)
class Receiver:
    """An HTTP receiver that answers as the test says; `results` are those it took."""

    status: int = 200
    waits: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    taken: list[LogRecord] = field(default_factory=list)
    requests: int = 0
    port: int = field(default_factory=free_port)

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = decompress(self.rfile.read(int(self.headers["content-length"])))
                receiver.requests += 1
                time.sleep(receiver.waits)
                if receiver.status == 200:
                    receiver.taken += decode_logs(ExportLogsServiceRequest.FromString(body))
                with contextlib.suppress(OSError):
                    self.send_response(receiver.status)
                    for name, value in receiver.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(receiver.body)))
                    self.end_headers()
                    self.wfile.write(receiver.body)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def settings(self, **settings: object) -> ExportSettings:
        given = {
            "protocol": "http/protobuf",
            "endpoint": f"http://127.0.0.1:{self.port}/otlp",
            "timeout_seconds": 0.5,
        }
        return ExportSettings.model_validate(given | settings)


def numbers(receiver: Receiver) -> set[int]:
    return {int(result.trace_id, 16) for result in receiver.taken}


async def test_what_was_offered_while_the_receiver_was_down_arrives_when_it_is_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    receiver, failures = Receiver(), counted("export_failures")
    with exporting(receiver.settings()) as sending:
        sending.offer([outcome_of(1)])
        await until(lambda: sending.status()["failing"])
        sending.offer([outcome_of(2)])
        with receiver.serving():
            await until(lambda: numbers(receiver) == {1, 2})
            await until(lambda: not sending.status()["failing"])
    assert counted("export_failures") > failures
    said = capsys.readouterr().out
    assert (said.count("export fails"), said.count("export works again")) == (1, 1)
    assert "refused" in said.lower(), "the line says why"


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (429, {"retry-after": "60"}),
        (500, {}),
        (401, {}),
        (302, {"location": "http://127.0.0.1:9/"}),
    ],
)
async def test_what_a_receiver_does_not_take_is_no_exported_result(
    status: int, headers: dict[str, str]
) -> None:
    receiver = Receiver(status=status, headers=headers)
    exported = counted("exported_results")
    with receiver.serving(), exporting(receiver.settings()) as sending:
        sending.offer([outcome_of(1)])
        await until(lambda: sending.status()["failing"])
        assert counted("exported_results") == exported
        receiver.status, receiver.headers = 200, {}
        await until(lambda: counted("exported_results") == exported + 2)
    assert numbers(receiver) == {1}


async def test_a_slow_receiver_delays_no_offer_and_what_does_not_fit_is_counted() -> None:
    receiver, full = Receiver(waits=0.2), counted("export_dropped", reason="queue_full")
    outcomes: list[Outcome] = [outcome_of(number) for number in range(1, 101)]
    with receiver.serving(), exporting(receiver.settings(max_queue=20)) as sending:
        sending.offer(outcomes[:1])
        await until(lambda: receiver.requests)
        sending.offer(outcomes[1:])
        assert sending.status()["waiting"] == 21
        await until(lambda: sending.status()["waiting"] == 0)
    assert counted("export_dropped", reason="queue_full") == full + 2 * 79
    assert numbers(receiver) == set(range(1, 22))


async def test_what_a_receiver_rejects_out_of_a_request_is_counted() -> None:
    answer = ExportLogsServiceResponse()
    answer.partial_success.rejected_log_records = 1
    rejected, exported = counted("export_dropped", reason="rejected"), counted("exported_results")
    receiver = Receiver(body=answer.SerializeToString())
    with receiver.serving(), exporting(receiver.settings()) as sending:
        sending.offer([outcome_of(1)])
        await until(lambda: counted("exported_results") == exported + 1)
    assert counted("export_dropped", reason="rejected") == rejected + 1


@contextlib.asynccontextmanager
async def overloaded(server: Listening) -> AsyncIterator[None]:
    """The receiver answers RESOURCE_EXHAUSTED or 503."""
    with server.gate.budget.hold(server.gate.limits.max_in_flight_bytes):
        yield


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_receiver_without_room_gets_the_results_when_it_has(protocol: str) -> None:
    async with listening() as server:
        with exporting(settings_of(server, protocol, timeout_seconds=1.0)) as sending:
            async with overloaded(server):
                sending.offer([outcome_of(1)])
                await until(lambda: sending.status()["failing"])
            await until(lambda: server.spool.kept)
        assert len(server.spool.kept) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_receiver_that_is_gone_does_not_delay_the_end(protocol: str) -> None:
    settings = ExportSettings.model_validate(
        {"protocol": protocol, "endpoint": f"http://127.0.0.1:{free_port()}", "timeout_seconds": 60}
    )
    lost = counted("export_dropped", reason="shutdown")
    sending = ExportQueue(settings)
    sending.start()
    sending.offer([outcome_of(1)])
    await asyncio.sleep(0.3)
    await asyncio.to_thread(sending.stop, 0.5)
    assert counted("export_dropped", reason="shutdown") == lost + 2
    assert not any(thread.name == "export" for thread in threading.enumerate())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that nobody else signed, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "certificate.pem", folder / "key.pem"
    asked = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 "
        f"-addext subjectAltName=IP:127.0.0.1 -out {made[0]} -keyout {made[1]}"
    )
    subprocess.run(asked.split(), check=True, capture_output=True)
    return made


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_over_tls_only_a_receiver_whose_authority_is_known_gets_results(
    protocol: str, certificate: tuple[Path, Path]
) -> None:
    given = CollectorSettings(tls_certificate=certificate[0], tls_key=certificate[1])
    async with listening(given) as server:
        port = (server.grpc if protocol == "grpc" else server.http).rpartition(":")[2]
        address = {"endpoint": f"https://127.0.0.1:{port}", "timeout_seconds": 1.0}
        with exporting(settings_of(server, protocol, **address)) as sending:
            sending.offer([outcome_of(1)])
            await until(lambda: sending.status()["failing"])
        assert server.spool.kept == []
        known = settings_of(server, protocol, **address, ca_file=certificate[0])
        with exporting(known) as sending:
            sending.offer([outcome_of(1)])
            await until(lambda: server.spool.kept)
