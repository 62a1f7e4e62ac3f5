"""A conversation with a model that may call tools: its messages and their answers so far."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragvigil.llm.outcome import Usage

EACH_TOKENS = 64
"""What a protocol adds to a call, an answer or a tool: ids and field names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that the model may call; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model's call of a tool; `arguments` is None if they are not one JSON object."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """A message of the model; `usage` is None if the provider did not report it."""

    text: str
    calls: tuple[ToolCall, ...]
    model: str
    usage: Usage | None
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A message and its answers: one text a call, or a remark if it called nothing."""

    message: AssistantMessage
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Everything that a request sends."""

    instructions: str
    opening: str
    exchanges: tuple[Exchange, ...] = ()
    tools: tuple[Tool, ...] = ()

    @property
    def most_input_tokens(self) -> int:
        """An upper bound of its tokens without the protocol's: no token is shorter than a byte."""
        parts = [part for exchange in self.exchanges for part in _parts(exchange)]
        tools = [
            f"{tool.name}{tool.description}{json.dumps(tool.schema)}" * 2 for tool in self.tools
        ]
        texts = (self.instructions, self.opening, *parts, *tools)
        return sum(len(text.encode("utf-8", "replace")) + EACH_TOKENS for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The model's next message; `usage` covers every attempt at it."""

    message: AssistantMessage
    usage: Usage
    attempts: int = 1


def _parts(exchange: Exchange) -> Sequence[str]:
    message = exchange.message
    calls = (f"{call.call_id}{call.tool}{json.dumps(call.arguments)}" for call in message.calls)
    return (message.text, *calls, *exchange.answers)
