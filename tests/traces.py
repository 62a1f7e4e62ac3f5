"""Traces for tests, in few words."""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.model.span import (
    AttributeValue,
    Closed,
    Event,
    LogRecord,
    Resource,
    Scope,
    Span,
    SpanKind,
    StatusCode,
    Trace,
)

TRACE_ID = "ab" * 16
SECOND = 1_000_000_000
DOCUMENTS = (
    ("refund-01", "Customers can request a full refund within 30 days of delivery."),
    ("ship-02", "Standard shipping costs 3.90 EUR and is free for orders over 50 EUR."),
    ("acct-03", "An account is locked for 15 minutes after 6 failed sign-in attempts."),
)
QUESTION = "How long can I ask for a refund?"
ANSWER = "Within 30 days of delivery. [refund-01]"
PROMPT = (
    "Context:\n"
    + "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    + f"\n\nQuestion: {QUESTION}\nAnswer:"
)


def span(
    name: str,
    attributes: Mapping[str, AttributeValue] | None = None,
    *,
    parent: str = "",
    at: tuple[float, float] = (0, 1),
    kind: SpanKind = SpanKind.INTERNAL,
    status: StatusCode = StatusCode.UNSET,
    message: str = "",
    events: tuple[Event, ...] = (),
    logs: tuple[LogRecord, ...] = (),
    service: str = "shop",
    resource: Mapping[str, AttributeValue] | None = None,
    scope: str = "test",
    trace_state: str = "",
    dropped: int = 0,
    span_id: str = "",
) -> Span:
    """A span whose id is its name unless given; `at` is start and end in seconds."""
    return Span(
        trace_id=TRACE_ID,
        span_id=span_id or name,
        parent_span_id=parent,
        name=name,
        kind=kind,
        start_unix_nano=int((100 + at[0]) * SECOND),
        end_unix_nano=int((100 + at[1]) * SECOND),
        status=status,
        status_message=message,
        attributes=dict(attributes or {}),
        events=events,
        logs=logs,
        resource=Resource(attributes={"service.name": service, **(resource or {})}),
        scope=Scope(name=scope),
        trace_state=trace_state,
        dropped_attributes_count=dropped,
    )


def trace(*spans: Span) -> Trace:
    """The spans as one closed trace."""
    return Trace(trace_id=TRACE_ID, spans=spans, closed=Closed.IDLE, received_unix_nano=1)


def retriever(
    name: str = "retrieve",
    documents: tuple[tuple[str, str], ...] = DOCUMENTS,
    *,
    query: str = QUESTION,
    parent: str = "root",
    at: tuple[float, float] = (0.1, 0.2),
    **more: object,
) -> Span:
    """An OpenInference retriever."""
    attributes: dict[str, AttributeValue] = {"openinference.span.kind": "RETRIEVER"}
    if query:
        attributes["input.value"] = query
    for index, (identifier, text) in enumerate(documents):
        attributes[f"retrieval.documents.{index}.document.id"] = identifier
        attributes[f"retrieval.documents.{index}.document.content"] = text
    return span(name, attributes, parent=parent, at=at, **more)  # type: ignore[arg-type]


def llm(
    name: str = "llm",
    answer: str | None = ANSWER,
    *,
    prompt: str | None = PROMPT,
    parent: str = "root",
    at: tuple[float, float] = (0.3, 0.9),
    extra: Mapping[str, AttributeValue] | None = None,
    **more: object,
) -> Span:
    """An OpenInference chat completion."""
    attributes: dict[str, AttributeValue] = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "test-model",
    }
    if prompt is not None:
        attributes["llm.input_messages.0.message.role"] = "user"
        attributes["llm.input_messages.0.message.content"] = prompt
    if answer is not None:
        attributes["llm.output_messages.0.message.role"] = "assistant"
        attributes["llm.output_messages.0.message.content"] = answer
    return span(name, {**attributes, **(extra or {})}, parent=parent, at=at, **more)  # type: ignore[arg-type]


def rag_trace(answer: str = ANSWER, **more: object) -> Trace:
    """The plainest RAG trace: a root, a retriever and a model."""
    return trace(
        span("root", {"openinference.span.kind": "CHAIN"}),
        retriever(),
        llm(answer=answer, **more),  # type: ignore[arg-type]
    )
