"""A conversation with a model that may call tools: what was said, asked and answered so far."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragvigil.llm.outcome import Usage

EACH_TOKENS = 64
"""What a protocol adds to a call, an answer or a tool: ids, names of fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that the model may call; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool that the model calls; `arguments` is None where they are not one JSON object."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn of the model; `usage` is None where the provider did not say."""

    text: str
    calls: tuple[Call, ...]
    model: str
    usage: Usage | None
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A turn and what it was answered: one text a call, or a remark where it called nothing."""

    said: Said
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Everything that a request holds."""

    instructions: str
    opening: str
    exchanges: tuple[Exchange, ...] = ()
    tools: tuple[Tool, ...] = ()

    @property
    def most_input_tokens(self) -> int:
        """The most tokens that it can be, its protocol left out: none is shorter than a byte."""
        said = [part for one in self.exchanges for part in _parts(one)]
        tools = [f"{one.name}{one.description}{json.dumps(one.schema)}" * 2 for one in self.tools]
        texts = (self.instructions, self.opening, *said, *tools)
        return sum(len(text.encode("utf-8", "replace")) + EACH_TOKENS for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the model said next; `usage` covers every attempt."""

    said: Said
    usage: Usage
    attempts: int = 1


def _parts(one: Exchange) -> Sequence[str]:
    calls = (f"{call.call_id}{call.tool}{json.dumps(call.arguments)}" for call in one.said.calls)
    return (one.said.text, *calls, *one.answers)
