"""What a scripted model says in conversations with tools, in OpenAI's and Anthropic's protocols."""

from __future__ import annotations

import json
from typing import Any

from tests.llm_server import Call, Fault

Called = tuple[str, dict[str, Any] | str]
"""A tool's name and its arguments, as a string where they are to be malformed."""


def calling(
    *calls: Called, text: str | None = None, tokens: int = 100, seconds: float = 0.0
) -> Fault:
    """A turn that calls these tools, in OpenAI's protocol."""
    tools = [
        {
            "id": f"call-{number}",
            "type": "function",
            "function": {"name": name, "arguments": _text(arguments)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text} | ({"tool_calls": tools} if tools else {})
    ended = "tool_calls" if tools else "stop"
    body = {
        "id": "1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": ended, "message": message}],
        "usage": {
            "prompt_tokens": tokens - 1, "completion_tokens": 1, "total_tokens": tokens,
        },
    }  # fmt: skip
    return Fault(body=json.dumps(body).encode(), seconds=seconds)


def calling_anthropic(name: str, arguments: dict[str, Any]) -> Fault:
    """A turn that calls one tool, in Anthropic's protocol."""
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted",
        "content": [{"type": "tool_use", "id": "call-0", "name": name, "input": arguments}],
        "stop_reason": "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 99, "output_tokens": 1},
    }  # fmt: skip
    return Fault(body=json.dumps(body).encode())


def calling_bedrock(name: str, arguments: dict[str, Any]) -> Fault:
    """A turn that calls one tool, in Bedrock's protocol."""
    call = {"toolUse": {"toolUseId": "call-0", "name": name, "input": arguments}}
    body = {
        "output": {"message": {"role": "assistant", "content": [call]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 99, "outputTokens": 1, "totalTokens": 100},
        "metrics": {"latencyMs": 1},
    }
    return Fault(body=json.dumps(body).encode())


def answers(call: Call) -> list[str]:
    """What the tools had answered by this request, in OpenAI's protocol."""
    return [message["content"] for message in call.body["messages"] if message["role"] == "tool"]


def offered(call: Call) -> list[str]:
    """Names of the tools that this request offers, in OpenAI's protocol."""
    return [tool["function"]["name"] for tool in call.body["tools"]]


def _text(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
