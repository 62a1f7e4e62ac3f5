"""A conversation in the form in which pydantic-ai sends it, and its response.

Imports pydantic_ai; only what opens a client imports this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from ragvigil.llm.conversation import AssistantMessage, Conversation, Exchange, ToolCall
from ragvigil.llm.outcome import Usage

NOT_IN_NAMES, MOST_OF_A_NAME = re.compile(r"[^a-zA-Z0-9_-]"), 64
"""Models call `functions.look`; the servers refuse such a name when it is sent back to them."""


def messages(conversation: Conversation) -> list[ModelMessage]:
    """The messages of a conversation; arguments that were not a JSON object become an empty one."""
    # A part, not `instructions`: those count only if the newest request repeats them.
    opening = ModelRequest(
        parts=[SystemPromptPart(conversation.instructions), UserPromptPart(conversation.opening)]
    )
    return [opening, *(part for exchange in conversation.exchanges for part in _exchange(exchange))]


def parameters(conversation: Conversation) -> ModelRequestParameters:
    """The tools of a conversation; not strict, as their arguments are checked here."""
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.schema),
            strict=False,
        )
        for tool in conversation.tools
    ]
    return ModelRequestParameters(function_tools=tools)


def message_of(response: ModelResponse, usage: Usage | None) -> AssistantMessage:
    """The message of a response."""
    calls = (part for part in response.parts if isinstance(part, ToolCallPart))
    return AssistantMessage(
        text=response.text or "",
        calls=tuple(map(_call, calls)),
        model=response.model_name or "",
        usage=usage,
        ended=str(response.finish_reason or ""),
    )


def _call(part: ToolCallPart) -> ToolCall:
    try:
        arguments = part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError, RecursionError):
        arguments = None
    name = NOT_IN_NAMES.sub("_", part.tool_name)[:MOST_OF_A_NAME]
    return ToolCall(call_id=part.tool_call_id, tool=name, arguments=arguments)


def _exchange(exchange: Exchange) -> Iterator[ModelMessage]:
    message = exchange.message
    calls = [
        ToolCallPart(call.tool, dict(call.arguments or {}), call.call_id) for call in message.calls
    ]
    # A message must not be empty.
    text = [TextPart(message.text or "(nothing)")] if message.text or not calls else []
    yield ModelResponse(parts=[*text, *calls])
    answers: list[ModelRequestPart] = [
        ToolReturnPart(call.tool, answer, call.call_id)
        for call, answer in zip(message.calls, exchange.answers, strict=bool(calls))
    ]
    yield ModelRequest(parts=answers or [UserPromptPart("\n".join(exchange.answers))])
