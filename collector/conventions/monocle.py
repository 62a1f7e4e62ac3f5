"""Monocle (LF AI & Data): `span.type`, with content in the events `data.input` and `data.output`.

What a retriever returned is one text that is cut after 100 characters; chunks are read from the
prompt. The messages of a model are JSON objects whose only key is the role. A client's own span
inside of a framework's (`inference.modelapi`) has no content.
Source: monocle_apptrace 0.8.15, `instrumentation/common/constants.py` and its metamodels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Message, SpanRole, Withheld
from collector.claims.recover import as_container, number, text, whole
from collector.claims.tool_results import tool_documents
from collector.claims.traced_calls import question_in_arguments
from ragvigil.model.span import Span

ROOTS = frozenset({"monocle_apptrace"})
MARK = "monocle_apptrace.version"
"""`span.type` alone is a name that others use too."""

ROLES = {
    "workflow": SpanRole.CHAIN, "agentic.session": SpanRole.CHAIN,
    "agentic.turn": SpanRole.AGENT, "agentic.invocation": SpanRole.AGENT,
    "agentic.delegation": SpanRole.CHAIN,
    "agentic.tool.invocation": SpanRole.TOOL, "agentic.mcp.invocation": SpanRole.TOOL,
    "retrieval": SpanRole.RETRIEVER,
    "embedding": SpanRole.EMBEDDING, "embedding.modelapi": SpanRole.EMBEDDING,
    "inference": SpanRole.LLM, "inference.framework": SpanRole.LLM,
    "inference.modelapi": SpanRole.LLM,
}  # fmt: skip
USAGE = {
    "prompt_tokens": (Field.INPUT_TOKENS, whole), "completion_tokens": (Field.OUTPUT_TOKENS, whole),
    "finish_reason": (Field.FINISH_REASON, text), "temperature": (Field.TEMPERATURE, number),
}  # fmt: skip


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a Monocle span."""
    attributes = span.attributes
    role = ROLES.get(text(attributes.get("span.type"))) if MARK in attributes else None
    if role is None:
        return
    yield Claim(Field.ROLE, role, 4)
    given, returned = (
        _content(span, "data.input", "input"),
        _content(span, "data.output", "response"),
    )
    if role is SpanRole.LLM:
        yield from _model_call(span, given, returned)
    elif role is SpanRole.RETRIEVER:
        yield Claim(Field.QUERY, partial(question_in_arguments, given), 4)
        if returned:
            yield Claim(Field.RETRIEVED, Withheld.TRUNCATED, 60)
    elif role is SpanRole.TOOL:
        yield Claim(Field.TOOL_NAME, text(attributes.get("entity.1.name")), 4)
        yield Claim(Field.QUERY, partial(question_in_arguments, given), 5)
        yield Claim(Field.OUTPUT, returned, 5)
        yield Claim(Field.RETRIEVED, partial(tool_documents, returned), 5)
    elif role is SpanRole.EMBEDDING:
        yield Claim(Field.QUERY, partial(question_in_arguments, given), 6)
    else:
        yield Claim(Field.INPUT, given, 5)
        yield Claim(Field.OUTPUT, returned, 5)


def _content(span: Span, event: str, name: str) -> object:
    values = [found.attributes.get(name) for found in span.events if found.name == event]
    return next((value for value in values if value not in (None, "", [])), None)


def _model_call(span: Span, given: object, returned: object) -> Iterator[Claim]:
    yield Claim(Field.MODEL, text(span.attributes.get("entity.2.name")), 6)
    yield Claim(Field.PROMPT, partial(_messages, given, "user"), 4)
    yield Claim(Field.REPLY, partial(_messages, returned, "assistant"), 4)
    yield Claim(Field.CALLED_TOOLS, partial(_called, returned), 4)
    for event in span.events:
        if event.name == "metadata":
            for name, (field, read) in USAGE.items():
                if name in event.attributes:
                    yield Claim(field, read(event.attributes[name]), 4)


def _messages(value: object, role: str) -> tuple[Message, ...] | None:
    """Messages such as `{"user": "how?"}`, JSON text each; a call of tools stands in for a text."""
    entries = value if isinstance(value, list) else [value] if value else []
    messages = [message for entry in entries for message in _message(entry, role)]
    if not messages:
        return None
    return tuple(messages) if any(m.text or m.calls_tool for m in messages) else NO_TEXT


def _message(entry: object, role: str) -> Iterator[Message]:
    container = as_container(entry).value
    if not isinstance(container, dict):
        yield Message(role, text(entry))
        return
    for name, said in container.items():
        calls = _calls(said)
        yield Message(name, "" if calls else text(said), calls_tool=bool(calls))


def _calls(said: object) -> list[str]:
    """The names of the tools that a message calls; empty for a text."""
    inner = as_container(said).value
    entries = inner if isinstance(inner, list) else [inner]
    names = [entry.get("name") for entry in entries if isinstance(entry, dict) and "args" in entry]
    return [name for name in names if isinstance(name, str)]


def _called(returned: object) -> tuple[str, ...]:
    container = as_container(returned).value
    return tuple(
        name
        for said in (container.values() if isinstance(container, dict) else ())
        for name in _calls(said)
    )
