"""Strands Agents: OTel's events with Bedrock's blocks in them, on tools and agents as well.

By default a block stands in `content`, or in `message` of a choice, as JSON text; a tool's span
has its arguments in `gen_ai.tool.message` and its result in `gen_ai.choice`. With the newer
conventions it writes `gen_ai.client.inference.operation.details`, read by `otel_genai`.
Source: strands-agents/sdk-python 1.62, `telemetry/tracer.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import Claim, Field, Message, SpanRole
from collector.claims.messages import text_of
from collector.claims.recover import as_container, text
from collector.claims.tool_parts import returned_by_tool, spoken
from collector.claims.traced_calls import asked
from ragvigil.model.span import Attributes, Span

ROOTS = frozenset({"gen_ai"})

SYSTEM = "strands-agents"
SYSTEM_NAMES = ("gen_ai.system", "gen_ai.provider.name")
ADDED = "\n"
"""An agent's answer is its result as text, which ends each of its blocks with a new line."""
SPOKEN = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool",
}  # fmt: skip


def claims(span: Span) -> Iterator[Claim]:
    """What the events of a Strands span say."""
    attributes = span.attributes
    if not any(attributes.get(name) == SYSTEM for name in SYSTEM_NAMES):
        return
    operation = text(attributes.get("gen_ai.operation.name"))
    if operation == "execute_event_loop_cycle":
        yield Claim(Field.ROLE, SpanRole.CHAIN, 5)
    if not span.events:
        return
    if operation == "execute_tool":
        yield from _tool(span)
    elif operation == "chat":
        yield Claim(Field.PROMPT, partial(_prompt, span), 4)
        yield Claim(Field.REPLY, partial(_reply, span), 4)
    else:
        yield from _agent(span)


def _tool(span: Span) -> Iterator[Claim]:
    for event in span.events:
        if event.name == "gen_ai.tool.message" and "content" in event.attributes:
            yield Claim(Field.QUERY, partial(asked, event.attributes["content"]), 5)
        elif event.name == "gen_ai.choice" and "message" in event.attributes:
            result = event.attributes["message"]
            yield Claim(Field.OUTPUT, result, 5)
            yield Claim(Field.RETRIEVED, partial(returned_by_tool, result), 5)


def _prompt(span: Span) -> tuple[Message, ...] | None:
    """All messages in their order, tool results apart."""
    found: list[Message] = []
    for event in span.events:
        if event.name in SPOKEN and "content" in event.attributes:
            found += _said(event.attributes, "content", SPOKEN[event.name])
    return tuple(found) if any(m.text or m.calls_tool for m in found) else None


def _reply(span: Span) -> tuple[Message, ...] | None:
    found: list[Message] = []
    for event in span.events:
        if event.name == "gen_ai.choice" and "message" in event.attributes:
            found += _said(event.attributes, "message", "assistant")
    return tuple(found) if any(m.text or m.calls_tool for m in found) else None


def _said(attributes: Attributes, name: str, role: str) -> list[Message]:
    """What the blocks of one message say."""
    value = attributes[name]
    blocks = as_container(value).value
    if not isinstance(blocks, list):
        return [Message(role, text(value))]
    found = spoken([{"role": role, "content": [_cited(one) for one in blocks]}], role)
    return list(found) if isinstance(found, tuple) else []


def _cited(block: object) -> object:
    """A block of text; one with citations holds the text that they are for."""
    if isinstance(block, dict) and isinstance(block.get("citationsContent"), dict):
        return {"text": text_of(block["citationsContent"].get("content"))}
    return block


def _agent(span: Span) -> Iterator[Claim]:
    """An agent's run or a cycle of it: the user's last message, and what was answered."""
    for event in span.events:
        attributes = event.attributes
        if event.name == "gen_ai.user.message" and "content" in attributes:
            yield Claim(Field.INPUT, partial(_words, attributes, "content", "user"), 5)
        elif event.name == "gen_ai.choice" and "message" in attributes:
            yield Claim(Field.OUTPUT, partial(_words, attributes, "message", "assistant"), 5)
        elif "gen_ai.output.messages" in attributes:
            yield Claim(Field.OUTPUT, partial(_answer, attributes["gen_ai.output.messages"]), 5)


def _words(attributes: Attributes, name: str, role: str) -> str | None:
    said = [m for m in _said(attributes, name, role) if m.role == role and not m.calls_tool]
    return said[-1].text.removesuffix(ADDED) or None if said else None


def _answer(messages: object) -> str | None:
    found = spoken(messages, "assistant")
    if not isinstance(found, tuple) or found[-1].calls_tool:
        return None
    return found[-1].text.removesuffix(ADDED) or None
