"""Strands Agents: OTel's events with Bedrock's blocks in them, also on tools and agents.

By default blocks are JSON text in `content`, or in `message` of a choice; a tool's span has its
arguments in `gen_ai.tool.message` and its result in `gen_ai.choice`. With the newer conventions it
writes `gen_ai.client.inference.operation.details`, which `otel_genai` reads.
Source: strands-agents/sdk-python 1.62, `telemetry/tracer.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Message, SpanRole
from collector.claims.messages import is_empty_reply, text_of
from collector.claims.recover import as_container, text
from collector.claims.tool_results import messages_with_tools, tool_result_documents
from collector.claims.traced_calls import question_in_arguments
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"gen_ai"})

SYSTEM = "strands-agents"
SYSTEM_NAMES = ("gen_ai.system", "gen_ai.provider.name")
ADDED = "\n"
"""An agent's answer is its result as text, in which each block ends with a new line."""
SPOKEN = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool",
}  # fmt: skip


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a Strands span from its events."""
    attributes = span.attributes
    # The events have OTel's names, so only the system says that the blocks are Strands'.
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
            yield Claim(Field.QUERY, partial(question_in_arguments, event.attributes["content"]), 5)
        elif event.name == "gen_ai.choice" and "message" in event.attributes:
            result = event.attributes["message"]
            yield Claim(Field.OUTPUT, result, 5)
            yield Claim(Field.RETRIEVED, partial(tool_result_documents, result), 5)


def _prompt(span: Span) -> tuple[Message, ...] | None:
    """All messages in order; tool results become messages of their own."""
    messages: list[Message] = []
    for event in span.events:
        if event.name in SPOKEN and "content" in event.attributes:
            messages += _messages_in(event.attributes, "content", SPOKEN[event.name])
    return tuple(messages) if any(m.text or m.calls_tool for m in messages) else None


def _reply(span: Span) -> tuple[Message, ...] | None:
    messages: list[Message] = []
    contents: list[AttributeValue] = []
    for event in span.events:
        if event.name == "gen_ai.choice" and "message" in event.attributes:
            messages += _messages_in(event.attributes, "message", "assistant")
            contents.append(event.attributes["message"])
    if any(m.text or m.calls_tool for m in messages):
        return tuple(messages)
    return NO_TEXT if contents and all(map(_is_empty, contents)) else None


def _is_empty(content: object) -> bool:
    blocks, complete = as_container(content)
    if blocks is None:
        return content == ""
    return complete and is_empty_reply([{"content": blocks}])


def _messages_in(attributes: Attributes, name: str, role: str) -> list[Message]:
    """The messages in the blocks of an event."""
    value = attributes[name]
    blocks = as_container(value).value
    if not isinstance(blocks, list):
        return [Message(role, text(value))]
    messages = messages_with_tools(
        [{"role": role, "content": [_without_citations(block) for block in blocks]}], role
    )
    return list(messages) if isinstance(messages, tuple) else []


def _without_citations(block: object) -> object:
    """A block unchanged; a block with citations becomes the text that they support."""
    if isinstance(block, dict) and isinstance(block.get("citationsContent"), dict):
        return {"text": text_of(block["citationsContent"].get("content"))}
    return block


def _agent(span: Span) -> Iterator[Claim]:
    """An agent's run or a cycle of it: the user's last message, and the answer."""
    for event in span.events:
        attributes = event.attributes
        if event.name == "gen_ai.user.message" and "content" in attributes:
            yield Claim(Field.INPUT, partial(_words, attributes, "content", "user"), 5)
        elif event.name == "gen_ai.choice" and "message" in attributes:
            yield Claim(Field.OUTPUT, partial(_words, attributes, "message", "assistant"), 5)
        elif "gen_ai.output.messages" in attributes:
            yield Claim(Field.OUTPUT, partial(_answer, attributes["gen_ai.output.messages"]), 5)


def _words(attributes: Attributes, name: str, role: str) -> str | None:
    messages = [
        m for m in _messages_in(attributes, name, role) if m.role == role and not m.calls_tool
    ]
    return messages[-1].text.removesuffix(ADDED) or None if messages else None


def _answer(messages: object) -> str | None:
    messages_ = messages_with_tools(messages, "assistant")
    if not isinstance(messages_, tuple) or not messages_ or messages_[-1].calls_tool:
        return None
    return messages_[-1].text.removesuffix(ADDED) or None
