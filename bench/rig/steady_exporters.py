"""Real OTLP exporters that send a few spans all the time, over kept and over new connections."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

EVERY_SECONDS = 0.2
EXPORTS_A_CONNECTION = 5
"""After as many, a sender that reconnects makes a new exporter."""


@dataclass
class Exported:
    """Spans by what became of them, and how long each export took."""

    accepted: int = 0
    refused: int = 0
    seconds: list[float] = field(default_factory=list)


class Sender(threading.Thread):
    """Exports `spans` spans every EVERY_SECONDS; reconnects now and then if asked to.

    An export is given up after `timeout` seconds, its retries included.
    """

    def __init__(
        self, transport: str, address: str, *, spans: int, reconnects: bool, timeout: float
    ) -> None:
        super().__init__(name=f"{transport} exporter")
        self.exported = Exported()
        self._transport, self._address, self._timeout = transport, address, timeout
        self._spans, self._reconnects = spans, reconnects
        self._stop_asked = threading.Event()

    def run(self) -> None:
        """Exports until `stop`."""
        exporter = self._exporter()
        due = time.monotonic()
        for number in itertools.count(1):
            if self._stop_asked.is_set():
                break
            if self._reconnects and number % EXPORTS_A_CONNECTION == 0:
                exporter.shutdown()
                exporter = self._exporter()
            self._export(exporter, _spans(self._spans))
            due += EVERY_SECONDS
            self._stop_asked.wait(max(0.0, due - time.monotonic()))
        exporter.shutdown()

    def stop(self) -> None:
        """Ends after the export under way."""
        self._stop_asked.set()

    def _exporter(self) -> SpanExporter:
        if self._transport == "grpc":
            return GrpcExporter(
                endpoint=f"http://{self._address}", insecure=True, timeout=self._timeout
            )
        return HttpExporter(endpoint=f"http://{self._address}/v1/traces", timeout=self._timeout)

    def _export(self, exporter: SpanExporter, spans: list[ReadableSpan]) -> None:
        started = time.monotonic()
        result = exporter.export(spans)
        self.exported.seconds.append(time.monotonic() - started)
        if result is SpanExportResult.SUCCESS:
            self.exported.accepted += len(spans)
        else:
            self.exported.refused += len(spans)


def _spans(count: int) -> list[ReadableSpan]:
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "steady"}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("steady")
    for number in range(count):
        with tracer.start_as_current_span(f"span {number}"):
            pass
    return list(kept.get_finished_spans())


@contextlib.contextmanager
def steady_exporters(
    grpc: str, http: str, *, spans_a_second: int, timeout: float
) -> Iterator[list[Sender]]:
    """Four senders: gRPC and HTTP, each on a kept connection and on new ones."""
    addresses = (("grpc", grpc), ("http", http))
    spans = max(1, round(spans_a_second * EVERY_SECONDS / 4))
    senders = [
        Sender(transport, address, spans=spans, reconnects=reconnects, timeout=timeout)
        for transport, address in addresses
        for reconnects in (False, True)
    ]
    for sender in senders:
        sender.start()
    try:
        yield senders
    finally:
        for sender in senders:
            sender.stop()
        for sender in senders:
            sender.join()
