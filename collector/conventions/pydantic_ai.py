"""Pydantic AI before it used OTel's names: its own attributes, formats 1 and 2.

Agent runs have the conversation and its result, tool spans `tool_arguments` and `tool_response`,
model calls of format 1 a list of events. Formats 3 and later write `gen_ai.*` for everything except
the conversation. Logfire's spans of OpenAI and Anthropic clients have request and response bodies.
Source: pydantic/pydantic-ai 0.8 and 2, `models/instrumented.py` and `_instrumentation.py`;
pydantic/logfire, `_internal/integrations/llm_providers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Message, SpanRole, Withheld
from collector.claims.messages import is_empty_reply, message_of
from collector.claims.recover import as_container, number, text
from collector.claims.tool_results import messages_with_tools, tool_result_documents
from collector.claims.traced_calls import prompt_messages, question_in_arguments, reply_messages
from ragvigil.model.span import Attributes, Span

ROOTS = frozenset(
    {"pydantic_ai", "all_messages_events", "tool_arguments", "tool_response",
     "events", "operation", "logfire", "request_data", "response_data"}
)  # fmt: skip

ROLES = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}  # fmt: skip
RUN = ("pydantic_ai.all_messages", "all_messages_events")
TOOL_SPANS = frozenset({"running tool", "running output function"})


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims under Pydantic AI's and Logfire's own names."""
    attributes = span.attributes
    if "operation.cost" in attributes:
        yield Claim(Field.COST_USD, number(attributes["operation.cost"]), 4)
    if any(name in attributes for name in RUN):
        yield from _run(attributes)
    if _is_tool(span):
        yield from _tool(attributes)
    if "events" in attributes:
        yield Claim(Field.PROMPT, partial(_events, attributes["events"], is_choice=False), 9)
        yield Claim(Field.REPLY, partial(_events, attributes["events"], is_choice=True), 9)
    if "request_data" in attributes and "response_data" in attributes:
        yield from _bodies(attributes)


def _run(attributes: Attributes) -> Iterator[Claim]:
    """An agent's run. It has the whole conversation; the last question is this run's."""
    yield Claim(Field.ROLE, SpanRole.AGENT, 8)
    yield Claim(Field.AGENT_NAME, text(attributes.get("agent_name")), 4)
    yield Claim(Field.INPUT, partial(_question, attributes), 7)
    result = attributes.get("final_result")
    if result is not None and not isinstance(as_container(result).value, list):
        yield Claim(Field.OUTPUT, result, 5)  # in a list it is unknown which part is the answer


def _question(attributes: Attributes) -> str | None:
    for name in RUN:
        if name in attributes:
            read = messages_with_tools if name == RUN[0] else _events
            conversation = read(attributes[name], "user")
            messages = conversation if isinstance(conversation, tuple) else ()
            texts = [m.text for m in messages if m.role == "user" and m.text.strip()]
            if texts:
                return texts[-1]
    return None


def _is_tool(span: Span) -> bool:
    attributes = span.attributes
    if "tool_arguments" in attributes or "tool_response" in attributes:
        return True
    return span.name in TOOL_SPANS and "gen_ai.tool.name" in attributes


def _tool(attributes: Attributes) -> Iterator[Claim]:
    yield Claim(Field.ROLE, SpanRole.TOOL, 8)
    if "tool_arguments" in attributes:
        yield Claim(Field.QUERY, partial(question_in_arguments, attributes["tool_arguments"]), 7)
    if "tool_response" in attributes:
        yield Claim(Field.OUTPUT, attributes["tool_response"], 7)
        yield Claim(Field.RETRIEVED, partial(tool_result_documents, attributes["tool_response"]), 7)


def _events(
    value: object, role: str = "user", *, is_choice: bool | None = None
) -> tuple[Message, ...] | Withheld | None:
    """Messages in a list of events; `is_choice` selects replies or everything else."""
    container, complete = as_container(value)
    events = container if isinstance(container, list) else []
    selected = [
        event
        for event in events
        if isinstance(event, Mapping) and text(event.get("event.name")) in ROLES
        if is_choice is None or is_choice == (event.get("event.name") == "gen_ai.choice")
    ]
    messages = [message for event in selected if (message := _message(event, role)) is not None]
    if any(message.text or message.calls_tool for message in messages):
        return tuple(messages)
    if is_choice and complete and is_empty_reply(selected):
        return NO_TEXT
    return None if complete else Withheld.TRUNCATED


def _message(event: Mapping[str, object], role: str) -> Message | None:
    own_role = ROLES[text(event.get("event.name"))]
    message = message_of(dict(event), role)
    return message._replace(role=own_role) if message is not None else None


def _bodies(attributes: Attributes) -> Iterator[Claim]:
    """The request and response of a client, as Logfire records them."""
    asked_for = as_container(attributes["request_data"]).value
    response = as_container(attributes["response_data"]).value
    if not isinstance(asked_for, dict) or not isinstance(response, dict):
        return
    if not ("messages" in asked_for and ("message" in response or "combined_chunk_content"
                                         in response)):  # fmt: skip
        return
    yield Claim(Field.ROLE, SpanRole.LLM, 11)
    yield Claim(Field.PROMPT, partial(prompt_messages, asked_for), 9)
    if "message" in response:
        yield Claim(Field.REPLY, partial(reply_messages, response["message"]), 9)
    else:
        chunks = response["combined_chunk_content"]
        # Without a finish reason, a stream that brought no text may as well have been aborted.
        yield Claim(Field.REPLY, reply_messages(chunks) or None, 9)
