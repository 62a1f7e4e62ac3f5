"""The desk as an instrumented service: it answers over HTTP and exports its spans over OTLP."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tests import evaluated_desk as desk


def with_prompt(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """A reply that says what its prompt held: every chunk."""
    shown = {"prompt_ids": reply.get("chunk_ids", []), "prompt_texts": reply.get("chunk_texts", [])}
    return {**reply, **shown}


def answer(question: str) -> Mapping[str, Any]:
    """What the service replies, as a function."""
    return with_prompt(desk.REPLIES[question])


class TracedDesk(BaseHTTPRequestHandler):
    """Answers with text and chunks, beside the spans of its retriever and its model."""

    tracer: Tracer
    passes_on = True
    """Whether it goes on with the trace that it is asked under."""
    traces_steps = True
    """Whether it has spans of its retriever and its model."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        context = asked.get("context")
        sent = dict(self.headers.items()) if self.passes_on else {}
        parent = TraceContextTextMapPropagator().extract(
            {name.lower(): value for name, value in sent.items()}
        )
        with self.tracer.start_as_current_span("POST /ask", parent, SpanKind.SERVER):
            reply = (
                self._answer(asked["question"], context)
                if self.traces_steps
                else answer(asked["question"])
            )
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, question: str, context: list[str] | None) -> Mapping[str, Any]:
        reply = desk.answer(question, context)
        kind = "openinference.span.kind"
        with self.tracer.start_as_current_span(
            "ask", attributes={kind: "CHAIN", "input.value": question}
        ) as chain:
            with self.tracer.start_as_current_span(
                "search", attributes={kind: "RETRIEVER"}
            ) as span:
                span.set_attribute("input.value", question)
                chunks = zip(reply.get("chunk_ids", ()), reply.get("chunk_texts", ()), strict=True)
                for place, (chunk_id, text) in enumerate(chunks):
                    prefix = f"retrieval.documents.{place}.document"
                    span.set_attribute(f"{prefix}.id", chunk_id)
                    span.set_attribute(f"{prefix}.content", text)
            with self.tracer.start_as_current_span("model", attributes={kind: "LLM"}) as span:
                shown = "\n".join(reply.get("chunk_texts", ()))
                prompt = f"Documents:\n{shown}\n\nQuestion: {question}"
                span.set_attribute("llm.model_name", "desk-1")
                span.set_attribute("llm.input_messages.0.message.role", "user")
                span.set_attribute("llm.input_messages.0.message.content", prompt)
                span.set_attribute("llm.output_messages.0.message.role", "assistant")
                span.set_attribute("llm.output_messages.0.message.content", reply["answer"])
            chain.set_attribute("output.value", reply["answer"])
        return with_prompt(reply)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def traced_desk(otlp: str, **kind: bool) -> Iterator[str]:
    """Serves the desk, which exports to `http://{otlp}`; yields its address.

    `kind` are attributes of `TracedDesk`.
    """
    provider = TracerProvider(resource=Resource.create({"service.name": "desk"}))
    exporter = OTLPSpanExporter(endpoint=f"http://{otlp}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=50))
    handler = type("Desk", (TracedDesk,), {"tracer": provider.get_tracer("desk"), **kind})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/ask"
        finally:
            server.shutdown()
            provider.shutdown()
