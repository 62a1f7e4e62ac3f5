"""The exporters of the OpenTelemetry SDK against the receivers."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio
import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.decode.spans import decode_spans
from collector.settings import CollectorSettings, LimitSettings
from tests.otlp import Listening, listening, trace_request

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def finished_spans() -> tuple[ReadableSpan, ...]:
    """A root and a child, made by the SDK."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "helpdesk"}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("test", "1.2")
    with tracer.start_as_current_span("ask", kind=trace.SpanKind.SERVER) as root:
        root.set_attribute("input.value", "where is my parcel?")
        root.set_attribute("tags", ["a", "b"])
        with tracer.start_as_current_span("retrieve") as child:
            child.add_event("found", {"count": 3})
    return kept.get_finished_spans()


def exporters(server: Listening) -> dict[str, SpanExporter]:
    """An exporter a transport."""
    url = f"{server.http}/v1/traces"
    return {
        "grpc": GrpcExporter(endpoint=server.grpc, insecure=True),
        "http": HttpExporter(endpoint=url),
        "http gzip": HttpExporter(endpoint=url, compression=Compression.Gzip),
    }


@pytest.mark.parametrize("name", ["grpc", "http", "http gzip"])
async def test_an_sdk_exporter_delivers_its_spans(name: str) -> None:
    async with listening() as server:
        exporter = exporters(server)[name]
        done = await asyncio.to_thread(exporter.export, finished_spans())
        await asyncio.to_thread(exporter.shutdown)
        assert done is SpanExportResult.SUCCESS
        child, root = decode_spans(server.spool.requests()[0])
        assert (root.name, root.kind.name, root.parent_span_id) == ("ask", "SERVER", "")
        assert root.attributes == {"input.value": "where is my parcel?", "tags": ["a", "b"]}
        assert root.resource.attributes["service.name"] == "helpdesk"
        assert (root.scope.name, root.scope.version) == ("test", "1.2")
        assert child.parent_span_id == root.span_id
        assert [(event.name, event.attributes) for event in child.events] == [
            ("found", {"count": 3})
        ]


@pytest.mark.parametrize("name", ["grpc", "http"])
async def test_an_sdk_exporter_comes_back_after_an_overload(name: str) -> None:
    async with listening() as server:
        exporter: Any = exporters(server)[name]
        with server.gate.budget.hold(server.gate.limits.max_in_flight_bytes):
            sending = asyncio.create_task(asyncio.to_thread(exporter.export, finished_spans()))
            await asyncio.sleep(0.5)
            assert not sending.done()
        assert await sending is SpanExportResult.SUCCESS
        await asyncio.to_thread(exporter.shutdown)
        assert len(server.spool.kept) == 1


async def test_gzip_over_grpc_is_undone_and_a_bomb_is_refused_for_good() -> None:
    limits = LimitSettings(max_body_bytes=1 << 20)
    async with (
        listening(CollectorSettings(limits=limits)) as server,
        grpc.aio.insecure_channel(
            server.grpc, options=[("grpc.max_send_message_length", 1 << 28)]
        ) as channel,
    ):
        export = channel.unary_unary(EXPORT)
        body = trace_request(3).SerializeToString()
        assert await export(body, compression=grpc.Compression.Gzip) == b""
        assert server.spool.requests() == [trace_request(3)]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await export(bytes(100 << 20), compression=grpc.Compression.Gzip)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "google.rpc.retryinfo-bin" not in dict(caught.value.trailing_metadata() or ())


async def test_other_services_and_methods_are_unimplemented() -> None:
    async with listening() as server, grpc.aio.insecure_channel(server.grpc) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(EXPORT.replace("Export", "Import"))(b"")
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
