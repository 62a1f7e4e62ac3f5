"""The tracing that a new user sets up: one instrumentor, one exporter, and FastAPI's own spans."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SimpleSpanProcessor,
    SpanExporter,
)


def trace_to(service: str, endpoint: str, protocol: str, copy: Path) -> TracerProvider:
    """A provider that exports to `endpoint`, and writes each span as a line of JSON to `copy`."""
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(_exporter(endpoint, protocol)))
    lines: IO[str] = copy.open("a", encoding="utf-8")
    provider.add_span_processor(
        SimpleSpanProcessor(ConsoleSpanExporter(out=lines, formatter=_line))
    )
    trace.set_tracer_provider(provider)
    return provider


def instrument(app: FastAPI, framework: str, instrumentor: str) -> None:
    """Instruments FastAPI and the framework, as the instrumentors' front pages say."""
    FastAPIInstrumentor.instrument_app(app)
    _instrumentor(framework, instrumentor).instrument()


def _exporter(endpoint: str, protocol: str) -> SpanExporter:
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc

        return Grpc(endpoint=f"http://{endpoint}", insecure=True)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http

    return Http(endpoint=f"http://{endpoint}/v1/traces")


def _instrumentor(framework: str, instrumentor: str) -> Any:
    if (framework, instrumentor) == ("langchain", "openinference"):
        from openinference.instrumentation.langchain import LangChainInstrumentor

        return LangChainInstrumentor()
    if (framework, instrumentor) == ("llamaindex", "openinference"):
        from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

        return LlamaIndexInstrumentor()
    if (framework, instrumentor) == ("langchain", "openllmetry"):
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor

        return LangchainInstrumentor()
    from opentelemetry.instrumentation.llamaindex import LlamaIndexInstrumentor as Traceloop

    return Traceloop()


def _line(span: ReadableSpan) -> str:
    return span.to_json(indent=None) + "\n"
