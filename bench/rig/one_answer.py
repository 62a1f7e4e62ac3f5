"""One answer as an OTLP request: CHAIN > RETRIEVER, LLM, with the texts that the caller chooses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from hashlib import blake2b

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

SPANS = 3
QUESTION = "How long do card refunds take?"
CHUNK = "Card refunds take 5 to 7 business days."
ANSWER = f'It says "{CHUNK}" [doc-0].'


def trace_id_of(name: str) -> bytes:
    """16 bytes that stand for a name."""
    return blake2b(name.encode(), digest_size=16).digest()


def one_answer(
    trace_id: bytes,
    *,
    answer: str = ANSWER,
    question: str = QUESTION,
    chunks: Sequence[str] = (CHUNK,),
    document_ids: Sequence[str] = ("doc-0", "doc-1"),
) -> bytes:
    """The request, serialised; the spans end now."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.append(_pair("service.name", "answers"))
    scope = resource.scope_spans.add()
    documents = {}
    for place, (document_id, chunk) in enumerate(zip(document_ids, chunks, strict=False)):
        documents[f"retrieval.documents.{place}.document.id"] = document_id
        documents[f"retrieval.documents.{place}.document.content"] = chunk
    prompt = "\n\n".join((question, *chunks))
    model = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": prompt,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
    }
    kinds = {
        "CHAIN": {"http.route": "/ask", "input.value": question, "output.value": answer},
        "RETRIEVER": {"input.value": question, **documents},
        "LLM": model,
    }
    ended = time.time_ns()
    for number, (kind, attributes) in enumerate(kinds.items()):
        span = scope.spans.add(trace_id=trace_id, name=kind.lower())
        span.span_id = trace_id[:7] + bytes([number + 1])
        span.parent_span_id = b"" if kind == "CHAIN" else trace_id[:7] + b"\1"
        span.start_time_unix_nano, span.end_time_unix_nano = ended - 30_000_000, ended
        span.attributes.append(_pair("openinference.span.kind", kind))
        span.attributes.extend(_pair(key, value) for key, value in attributes.items())
    return request.SerializeToString()


def _pair(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))
