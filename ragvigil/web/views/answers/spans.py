"""Spans of a trace as the API shows them, and what a page says of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, Field

from ragvigil.model.figures import count, counted, duration, share
from ragvigil.web.drawings.waterfall import Timed
from ragvigil.web.views.values import time_or_none

KINDS = (
    *("openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name"),
    *("langfuse.observation.type", "span.kind"),
)
"""Attributes that say what a span does, the most telling first."""
WORDS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "generation"), "llm"),
    **dict.fromkeys(("embeddings",), "embedding"),
    **dict.fromkeys(("execute_tool",), "tool"),
    **dict.fromkeys(("retrieval", "query"), "retriever"),
}
HUES = {
    **dict.fromkeys(("retriever", "embedding", "reranker"), "retrieval"),
    "llm": "generation",
}
FACTS = {
    "model": ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
    "prompt": ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens"),
    "answer": (
        *("gen_ai.usage.output_tokens", "llm.token_count.completion"),
        *("gen_ai.usage.completion_tokens",),
    ),
    "ended": ("gen_ai.response.finish_reasons", "llm.finish_reason"),
    "temperature": ("gen_ai.request.temperature", "llm.temperature"),
}
"""What is said of a span before its raw attributes; `prompt` and `answer` are tokens."""
SHOWN, MOST_ATTRIBUTES = 4_000, 200
"""Characters of a value, and attributes of a span, that a page shows."""
MOST_SPANS = 200
"""Spans that a page draws."""


class SpanEventForm(BaseModel):
    """Something that happened within a span."""

    name: str
    time: datetime | None
    attributes: dict[str, str]


class SpanForm(BaseModel):
    """One span as it was sent, with the texts of its chunks."""

    span_id: str
    parent_id: str = Field(description="empty for a root")
    name: str
    kind: str = Field(description="what it does: llm, retriever; else the kind of OpenTelemetry")
    service: str
    start: datetime
    seconds: float
    failed: bool
    message: str = Field(description="of the status")
    scope: str = Field(description="the instrumentation that made it")
    attributes: dict[str, str]
    resource: dict[str, str]
    events: list[SpanEventForm]


class SpansForm(BaseModel):
    """The spans of a trace by their start; empty where they are past their retention."""

    trace_id: str
    spans: list[SpanForm]
    not_kept: int = Field(
        default=0, description="spans that the setting `store.spans` left out when they came"
    )


def spans_form(trace_id: str, rows: Sequence[Mapping[str, Any]], not_kept: int = 0) -> SpansForm:
    """Spans from rows of the store; a span that was sent twice is there once, the newest."""
    newest = {row["SpanId"]: row for row in sorted(rows, key=lambda row: row["Generation"])}
    ordered = sorted(newest.values(), key=lambda row: (row["start_nanos"], row["SpanId"]))
    return SpansForm(trace_id=trace_id, spans=list(map(_span, ordered)), not_kept=not_kept)


def _span(row: Mapping[str, Any]) -> SpanForm:
    attributes = dict(row["SpanAttributes"])
    start = time_or_none(int(row["start_nanos"]))
    names, times = row["Events.Name"], row["Events.Timestamp"]
    events = zip(names, times, row["Events.Attributes"], strict=True)
    return SpanForm(
        span_id=row["SpanId"],
        parent_id=row["ParentSpanId"],
        name=row["SpanName"],
        kind=kind_of(attributes, row["SpanKind"]),
        service=row["ServiceName"],
        start=start or datetime.fromtimestamp(0),
        seconds=int(row["Duration"]) / 1e9,
        failed=str(row["StatusCode"]).casefold().endswith("error"),
        message=row["StatusMessage"],
        scope=f"{row['ScopeName']} {row['ScopeVersion']}".strip(),
        attributes=attributes,
        resource=dict(row["ResourceAttributes"]),
        events=[
            SpanEventForm(name=name, time=_time(time), attributes=dict(values))
            for name, time, values in events
        ],
    )


def _time(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None


def kind_of(attributes: Mapping[str, str], kind: str) -> str:
    """What a span does, in a word.

    >>> kind_of({"gen_ai.operation.name": "chat"}, "Client"), kind_of({}, "SERVER")
    ('llm', 'server')
    """
    said = next((attributes[name] for name in KINDS if attributes.get(name)), kind).casefold()
    return WORDS.get(said, said)[:20]


def timed(spans: Sequence[SpanForm]) -> list[Timed]:
    """Spans to draw, the first MOST_SPANS."""
    first = min((span.start for span in spans), default=None)
    return [
        Timed(
            span_id=span.span_id,
            parent_id=span.parent_id,
            name=span.name or "a span without a name",
            kind=span.kind,
            begin=(begin := _nanos(span.start - first)) if first else 0,
            end=begin + round(span.seconds * 1e9),
            hue=HUES.get(span.kind, ""),
            has_failed=span.failed,
        )
        for span in spans[:MOST_SPANS]
    ]


def _nanos(length: timedelta) -> int:
    return (length // timedelta(microseconds=1)) * 1000


def spans_heading(spans: Sequence[SpanForm], not_kept: int = 0) -> str:
    """Where the time went, in a sentence."""
    if not spans and not_kept:
        return "The spans were not kept"
    if not spans:
        return "The spans are no longer stored"
    failed = sum(span.failed for span in spans)
    begin = min(span.start for span in spans)
    total = max((span.start - begin).total_seconds() + span.seconds for span in spans)
    model = sum(span.seconds for span in spans if span.kind == "llm")
    if failed:
        return f"{failed} of {counted(len(spans), 'span')} failed"
    if 0 < model <= total:
        return f"The model took {duration(model)} of {duration(total)}"
    return f"{counted(len(spans), 'span')} in {duration(total)}"


def chosen_span(spans: Sequence[SpanForm], span_id: str) -> SpanForm | None:
    """The span asked for; else the first that failed, the model's, or the first of all."""
    wanted = (
        lambda span: span.span_id == span_id,
        lambda span: span.failed,
        lambda span: span.kind == "llm",
    )
    chosen = (next(filter(is_it, spans), None) for is_it in wanted)
    return next((span for span in chosen if span), spans[0] if spans else None)


def span_facts(span: SpanForm, spans: Sequence[SpanForm]) -> Iterator[tuple[str, str]]:
    """Names and values that say most about a span."""
    whole = max((each.seconds for each in spans), default=0.0)
    part = f", {share(min(1.0, span.seconds / whole))}" if whole > 0 else ""
    yield "took", f"{duration(span.seconds)}{part}"
    yield "does", span.kind
    yield "service", span.service
    for name, keys in FACTS.items():
        value = next((span.attributes[key] for key in keys if span.attributes.get(key)), "")
        if value and name in ("prompt", "answer"):
            value = f"{count(int(value))} tokens" if value.isdecimal() and len(value) < 12 else ""
        if value:
            yield name, value[:200]
    if span.message:
        yield "error" if span.failed else "status", span.message[:SHOWN]
    if span.scope:
        yield "made by", span.scope


def raw_attributes(span: SpanForm) -> list[tuple[str, str]]:
    """The attributes as text, long values cut; how many characters are left out is said."""
    rows = [(name, _cut(value)) for name, value in sorted(span.attributes.items())]
    rows += [
        (f"event {event.name}: {name}", _cut(value))
        for event in span.events
        for name, value in sorted(event.attributes.items())
    ]
    return rows[:MOST_ATTRIBUTES]


def _cut(value: str) -> str:
    if len(value) <= SHOWN:
        return value
    return f"{value[:SHOWN]}… and {counted(len(value) - SHOWN, 'character')} more"
