"""OpenTelemetry for the service: the provider and what the five kinds of span carry."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from openinference.instrumentation import (
    Document,
    Message,
    OITracer,
    TokenCount,
    TracerProvider,
    get_embedding_attributes,
    get_llm_attributes,
    get_reranker_attributes,
    get_retriever_attributes,
)
from openinference.semconv.trace import SpanAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
)

from examples.helpdesk.answering import Answer, Prompt, count_tokens
from examples.helpdesk.chunking import Chunk
from examples.helpdesk.retrieval import Hit

VERSION = "1.4.0"
Attributes = dict[str, Any]


def make_provider(exporter: SpanExporter | None = None) -> TracerProvider:
    """A provider that sends to the `OTEL_EXPORTER_OTLP_*` endpoint, or to `exporter` at once."""
    resource = Resource.create(_defaults())
    provider = TracerProvider(resource=resource)
    processor = BatchSpanProcessor(_otlp()) if exporter is None else SimpleSpanProcessor(exporter)
    provider.add_span_processor(processor)
    return provider


def tracer_of(provider: TracerProvider) -> OITracer:
    """The tracer of the hand-made spans."""
    tracer = provider.get_tracer("examples.helpdesk", VERSION)
    assert isinstance(tracer, OITracer)
    return tracer


def embedding(model: str, text: str) -> Attributes:
    """The question that was embedded; the vector itself is of no use to a reader."""
    return get_embedding_attributes(model_name=model, embeddings=[{"text": text}])


def retrieved(hits: Sequence[Hit]) -> Attributes:
    """What the retriever returned, in order."""
    return get_retriever_attributes(documents=[_document(hit.chunk, hit.score) for hit in hits])


def reranked(question: str, hits: Sequence[Hit], fused: Sequence[tuple[Hit, float]]) -> Attributes:
    """What the reranker was given and what it kept."""
    return get_reranker_attributes(
        query=question,
        model_name="reciprocal-rank-fusion",
        top_k=len(fused),
        input_documents=[_document(hit.chunk, hit.score) for hit in hits],
        output_documents=[_document(hit.chunk, score) for hit, score in fused],
    )


def asked(model: str, prompt: Prompt) -> Attributes:
    """The prompt as the model saw it, and its parameters."""
    return get_llm_attributes(
        model_name=model,
        provider="helpdesk",
        invocation_parameters={"temperature": 0, "max_tokens": prompt.max_tokens},
        input_messages=[Message(role=m["role"], content=m["content"]) for m in prompt.messages()],
    )


def answered(prompt: Prompt, answer: Answer) -> Attributes:
    """The answer, its tokens, and why it ended."""
    used = count_tokens(prompt.system) + count_tokens(prompt.user)
    return {
        **get_llm_attributes(
            output_messages=[Message(role="assistant", content=answer.text)],
            token_count=TokenCount(
                prompt=used,
                completion=answer.completion_tokens,
                total=used + answer.completion_tokens,
            ),
        ),
        SpanAttributes.LLM_FINISH_REASON: answer.finish_reason,
    }


def _document(chunk: Chunk, score: float) -> Document:
    article = chunk.article
    return Document(
        id=chunk.chunk_id,
        content=chunk.text,
        score=round(score, 5),
        metadata={
            "document_id": article.article_id,
            "title": article.title,
            "updated": article.updated.isoformat(),
        },
    )


def _defaults() -> dict[str, str]:
    """Names for when `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` do not say."""
    given = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "helpdesk"}
    rest = {"service.version": VERSION, "deployment.environment.name": "demo"}
    return named | {key: value for key, value in rest.items() if f"{key}=" not in given}


def _otlp() -> SpanExporter:
    if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf") == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter()
    from opentelemetry.exporter.otlp.proto.http import trace_exporter

    return trace_exporter.OTLPSpanExporter()
