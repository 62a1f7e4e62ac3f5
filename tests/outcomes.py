"""Small closed traces for tests of the store."""

from __future__ import annotations

import time

from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import Absent, Citation, Document, RagRecord
from ragvigil.model.score import Layer, Score
from ragvigil.model.span import Closed, Event, LogRecord, Resource, Scope, Span, SpanKind, Trace

NOW = time.time_ns()
SECOND = 10**9
CHUNK = "Card refunds take five to seven business days, counted from the day of the return."


def trace_of(
    number: int,
    *,
    spans: int = 2,
    text: str = CHUNK,
    received: int = NOW,
    closed: Closed = Closed.ROOT_ENDED,
) -> Trace:
    """A trace whose first span carries `text` inside a longer value."""
    trace_id = f"{number:032x}"
    resource = Resource(attributes={"service.name": "helpdesk"})
    made = tuple(
        Span(
            trace_id=trace_id,
            span_id=f"{number:08x}{place:08x}",
            parent_span_id=f"{number:08x}{0:08x}" if place else "",
            name="ask" if place == 0 else "retrieve",
            kind=SpanKind.SERVER,
            start_unix_nano=received - SECOND + place,
            end_unix_nano=received - SECOND + place + 1000,
            attributes={"input.value": f"Answer from: {text} Thanks.", "top_k": 4, "flags": [True]},
            events=(Event(name="token", time_unix_nano=received, attributes={"n": 1}),),
            logs=(
                LogRecord(trace_id=trace_id, span_id="", time_unix_nano=received, body={"c": text}),
            ),
            resource=resource,
            scope=Scope(name="tests", version="1"),
        )
        for place in range(spans)
    )
    return Trace(trace_id=trace_id, spans=made, closed=closed, received_unix_nano=received)


def outcome_of(
    number: int,
    *,
    value: float | None = 0.25,
    spans: int = 2,
    route: str = "/ask",
    label: str = "quote_not_found",
    time_unix_nano: int = NOW,
    gone: tuple[str, ...] = (),
    records: int = 1,
    received: int = NOW,
    text: str = CHUNK,
) -> Outcome:
    """A scored trace with `records` records of two scores each."""
    trace = trace_of(number, spans=spans, text=text, received=received)
    scored = tuple(
        _scored(trace, place, value=value, route=route, label=label, text=text)
        for place in range(records)
    )
    return Outcome(
        trace=trace,
        outcome=TraceOutcome.SCORED if records else TraceOutcome.NOT_RAG,
        time_unix_nano=time_unix_nano,
        records=scored,
        gone=gone,
    )


def _scored(
    trace: Trace, place: int, *, value: float | None, route: str, label: str, text: str
) -> ScoredRecord:
    document = Document(
        chunk_id="refund-02", content=text, document_id="refund", score=0.5, metadata={"page": 3}
    )
    hidden = Document(chunk_id="hidden", rank=1)
    record = RagRecord(
        record_id=f"{trace.trace_id[-8:]}{place:08x}",
        trace_id=trace.trace_id,
        generation=trace.generation,
        service="helpdesk",
        environment="prod",
        route=route,
        query="How long?",
        answer='It says "five to seven" [1].',
        retrieved=(document, hidden),
        context=(document,),
        citations=(Citation(target="1", chunk_id="refund-02", index=0, marker="[1]", start=24),),
        absent={"usage": Absent.NOT_SENT},
        session_id="session-1",
        response_ids=(f"resp-{trace.trace_id[-4:]}",),
        instrumentors=("openinference.instrumentation.langchain",),
    )
    validity = Score(
        rubric="citation_validity", value=value, label=label, scorer="citations", version="1",
        explanation="why", details={"failed": [1]},
    )  # fmt: skip
    unseen = Score.not_applicable("chunk_utilization", "no texts", absent="document_texts")
    applies = Score(rubric="refusal", label="answered", layer=Layer.GENERATION, explanation="words")
    shape = {"answer_characters": 28.0, "cost_usd": None}
    return ScoredRecord(record=record, scores=(validity, unseen, applies), shape=shape)
