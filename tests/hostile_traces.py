"""Captured traces with a text in the place of what was asked, answered or retrieved."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from bench.rig.captures import Capture, Truth
from ragvigil.model.span import Span, Trace

Change = Callable[[str], str]
PARTS = ("answer", "chunk", "values")
STACKS = ("oi-openai-manual", "ollm-openai-chroma", "langfuse-langchain", "vercel-ai-json")
"""Captured requests of the ways to send texts: alone, in events, in JSON, in JSON within JSON."""
LEAST_CHARACTERS = 24
"""A shorter value of a captured span is a name or a number, no text."""
ESCAPED = 3
"""How often a text may be encoded as JSON within JSON."""


def sample(capture: Capture) -> tuple[Trace, Truth]:
    """The first answered trace of a capture, and what is known of it."""
    return next(
        (capture.traces[trace_id], row)
        for trace_id, rows in capture.truth.items()
        for row in rows
        if row["answer"] and trace_id in capture.traces
    )


def with_text(trace: Trace, truth: Truth, part: str, text: str) -> Trace:
    """The trace with this text as `answer`, first `chunk`, or in all its `values`."""
    if part == "values":
        return _changed(trace, lambda value: text if len(value) >= LEAST_CHARACTERS else value)
    chunks = truth["retrieved"] or [{"text": ""}]
    known = str(chunks[0]["text"] if part == "chunk" else truth[part])
    pairs = [pair for pair in zip(_written(known), _written(text), strict=True) if pair[0]]

    def replaced(value: str) -> str:
        for old, new in pairs:
            value = value.replace(old, new)
        return value

    return _changed(trace, replaced)


def bytes_of(trace: Trace) -> int:
    """The bytes of all strings in a trace's attributes, events and logs."""
    sizes: list[int] = []

    def counted(value: str) -> str:
        sizes.append(len(value.encode()))
        return value

    _changed(trace, counted)
    return sum(sizes)


def _written(text: str) -> Iterator[str]:
    """A text as spans write it: as JSON within JSON first, and then as it is."""
    for is_ascii in (False, True):
        levels = [text]
        for _ in range(ESCAPED):
            levels.append(json.dumps(levels[-1], ensure_ascii=is_ascii)[1:-1])
        yield from reversed(levels[1:])
    yield text


def _changed(trace: Trace, change: Change) -> Trace:
    """The trace with every string of its spans' attributes, events and logs changed."""
    return replace(trace, spans=tuple(_span(span, change) for span in trace.spans))


def _span(span: Span, change: Change) -> Span:
    return replace(
        span,
        attributes=_value(span.attributes, change),
        events=tuple(
            replace(event, attributes=_value(event.attributes, change)) for event in span.events
        ),
        logs=tuple(
            replace(log, attributes=_value(log.attributes, change), body=_value(log.body, change))
            for log in span.logs
        ),
    )


def _value(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_value(entry, change) for entry in value)
    if isinstance(value, Mapping):
        return {key: _value(entry, change) for key, entry in value.items()}
    return value
