"""A conversation as pydantic-ai sends it, and what comes back.

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

from ragvigil.llm.conversation import Call, Conversation, Exchange, Said
from ragvigil.llm.outcome import Usage

NOT_IN_NAMES, MOST_OF_A_NAME = re.compile(r"[^a-zA-Z0-9_-]"), 64
"""Models call `functions.look`; the servers refuse such a name when it goes back to them."""


def messages(conversation: Conversation) -> list[ModelMessage]:
    """The whole conversation. Arguments that were no JSON object go back as an empty one."""
    # As a part: `instructions` count only where the newest request repeats them.
    opening = ModelRequest(
        parts=[SystemPromptPart(conversation.instructions), UserPromptPart(conversation.opening)]
    )
    return [opening, *(one for told in conversation.exchanges for one in _exchange(told))]


def parameters(conversation: Conversation) -> ModelRequestParameters:
    """Its tools; their arguments are checked here, so no provider's strict form is asked for."""
    tools = [
        ToolDefinition(
            name=one.name,
            description=one.description,
            parameters_json_schema=dict(one.schema),
            strict=False,
        )
        for one in conversation.tools
    ]
    return ModelRequestParameters(function_tools=tools)


def said(got: ModelResponse, usage: Usage | None) -> Said:
    """What came back."""
    calls = (part for part in got.parts if isinstance(part, ToolCallPart))
    return Said(
        text=got.text or "",
        calls=tuple(map(_call, calls)),
        model=got.model_name or "",
        usage=usage,
        ended=str(got.finish_reason or ""),
    )


def _call(part: ToolCallPart) -> Call:
    try:
        arguments = part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError, RecursionError):
        arguments = None
    name = NOT_IN_NAMES.sub("_", part.tool_name)[:MOST_OF_A_NAME]
    return Call(call_id=part.tool_call_id, tool=name, arguments=arguments)


def _exchange(one: Exchange) -> Iterator[ModelMessage]:
    calls = [
        ToolCallPart(call.tool, dict(call.arguments or {}), call.call_id) for call in one.said.calls
    ]
    # A message must hold something: a turn without text or calls is told as one that was empty.
    text = [TextPart(one.said.text or "(nothing)")] if one.said.text or not calls else []
    yield ModelResponse(parts=[*text, *calls])
    answers: list[ModelRequestPart] = [
        ToolReturnPart(call.tool, answer, call.call_id)
        for call, answer in zip(one.said.calls, one.answers, strict=bool(calls))
    ]
    yield ModelRequest(parts=answers or [UserPromptPart("\n".join(one.answers))])
