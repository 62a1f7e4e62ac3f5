"""Parses chat messages in the many shapes that instrumentors write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from collector.claims.claim import NO_TEXT, Message, Withheld
from collector.claims.documents import REDACTED
from collector.claims.flat import Rows, columns
from collector.claims.recover import as_container, looks_structured, text, unquoted

DEPTH = 6
"""Most levels of lists and mappings in which a text is searched."""
CALL_TYPES = ("tool_call", "tool_use", "function_call", "server_tool_call", "toolUse")
"""A tuple, as the type of a message may be a list, and no set can be asked for a list."""
CALL_OUTPUT = "function_call_output"
"""The type of a tool's result in OpenAI's Responses API, where calls and results are no parts."""
REASONING = ("reasoning", "thinking")
TEXT_KEYS = ("parts", "content", "contents", "blocks", "text")
"""Where a message has its text; the first that is there counts."""
PART_KEYS = ("content", "text", "response", "result", "output", "parts", "contents", "refusal")
FINISH_REASONS = ("finish_reason", "finishReason", "stop_reason")
OTHER_REPLIES = (
    "tool_calls", "function_call", "toolCalls", "functionCall", "invalid_tool_calls", "refusal",
    "audio", "images",
)  # fmt: skip
"""What a model may return in place of a text."""
REPLYING = ("assistant", "model")
OBSERVATION = re.compile(r"\s*Observation:\s*")
ENUM_ROLE = re.compile(r"\w*Role\.(\w{2,20})")
OTHER_ROLES = {
    "human": "user",
    "ai": "assistant",
    "AIMessage": "assistant",
    "HumanMessage": "user",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "tool_response": "tool",
    "tool-response": "tool",
}


def text_of(content: object, depth: int = DEPTH) -> str:
    """The text in a message's content, whatever its shape; joins parts by blank lines.

    >>> text_of([{"type": "text", "content": "a"}, {"type": "text", "text": "b"}])
    'a\\n\\nb'
    """
    if isinstance(content, str):
        return content
    if not depth:
        return ""
    if isinstance(content, list):
        return "\n\n".join(part for entry in content if (part := text_of(entry, depth - 1)))
    if isinstance(content, dict):
        if content.get("type") in REASONING:  # no part of what the user reads
            return ""
        for key in PART_KEYS:
            if content.get(key) is not None:
                return text_of(content[key], depth - 1)
    return ""


def joined_reply(parts: object) -> str:
    """The text of a model's reply. Its parts follow one another: the model wrote the space between.

    >>> joined_reply([{"text": "In 30 days,"}, {"text": " or less."}])
    'In 30 days, or less.'
    """
    if not isinstance(parts, list):
        return text_of(parts)
    return "".join(text_of(part) for part in parts)


def plain_role(role: str) -> str:
    """A role as chats name it: LangChain and smolagents have others, also as names of an enum.

    >>> plain_role("HumanMessage"), plain_role("MessageRole.USER"), plain_role("developer")
    ('user', 'user', 'developer')
    """
    named = ENUM_ROLE.fullmatch(role)
    role = named[1].lower() if named else role
    return OTHER_ROLES.get(role, role)


def _calls_tool(message: Mapping[str, object], parts: object) -> bool:
    if message.get("tool_calls") or message.get("function_call") or message.get("toolCalls"):
        return True
    if not isinstance(parts, list):
        return False
    return any(
        isinstance(part, dict)
        and (part.get("type") in CALL_TYPES or "toolUse" in part or is_function_call(part))
        for part in parts
    )


def is_function_call(part: Mapping[str, object]) -> bool:
    """Whether a part is one of OpenAI's tool calls, which Langtrace writes as content."""
    function = part.get("function")
    return part.get("type") == "function" and isinstance(function, dict) and "arguments" in function


def message_of(message: object, default_role: str = "") -> Message | None:
    """A message from a mapping or a text; None for anything else."""
    if isinstance(message, str):
        return Message(default_role, message)
    if not isinstance(message, dict):
        return None
    kind, message = _unwrapped(message)
    return _read(message, default_role, kind)


def _read(message: Mapping[str, object], default_role: str, kind: str) -> Message:
    if message.get("type") == CALL_OUTPUT:
        return Message("tool", unpacked(message.get("output")))
    if message.get("type") in CALL_TYPES and "role" not in message:
        return Message("assistant", "", calls_tool=True)
    keys = (*TEXT_KEYS, "refusal")
    parts = next((message[key] for key in keys if message.get(key) is not None), "")
    role = text(message.get("role")) or kind or text(message.get("type")) or default_role
    role = plain_role(role)
    body = joined_reply(parts) if role in REPLYING else text_of(parts)
    return Message(role, body, _calls_tool(message, parts))


def _unwrapped(message: dict[str, object]) -> tuple[str, dict[str, object]]:
    """Unwraps LangChain's serialised forms and choices; returns their kind, and the message."""
    inner = message.get("kwargs")
    if isinstance(inner, dict) and "lc" in message:
        path = message.get("id")
        return (str(path[-1]) if isinstance(path, list) and path else ""), inner
    inner = message.get("data")
    if isinstance(inner, dict):
        return text(message.get("type")), inner
    inner = message.get("message")
    return "", inner if isinstance(inner, dict) else message


def messages_of(value: object, default_role: str = "") -> tuple[Message, ...] | Withheld | None:
    """Messages from a list, a mapping, or JSON text of either; None if there are none.

    >>> messages_of('[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]')
    (Message(role='user', text='hi', calls_tool=False),)
    """
    if value == REDACTED:
        return Withheld.HIDDEN
    container, complete = as_container(value)
    if container is None:
        if isinstance(value, str) and not looks_structured(value):
            return (Message(default_role, value),)
        return Withheld.TRUNCATED if not complete else None
    if isinstance(container, dict):
        container = _inside(container)
    while isinstance(container, list) and container and isinstance(container[0], list):
        container = container[0]  # LangChain batches: a list of conversations; we read the first
    if not isinstance(container, list):
        return None
    messages = tuple(
        m for m in (message_of(entry, default_role) for entry in container) if m is not None
    )
    if not complete and not any(message.text for message in messages):
        return Withheld.TRUNCATED
    return with_observations(messages) or None


def with_observations(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages; ReAct's "Observation:" in the user's name after a reply is a tool's result.

    >>> with_observations([Message("assistant", "Action: find"), Message("user", "Observation: a")])
    (Message(role='assistant', text='Action: find', calls_tool=False), \
Message(role='tool', text='a', calls_tool=False))
    """
    return tuple(
        Message("tool", message.text[observed.end() :])
        if message.role == "user"
        and at
        and messages[at - 1].role in REPLYING
        and (observed := OBSERVATION.match(message.text))
        else message
        for at, message in enumerate(messages)
    )


def _inside(container: Mapping[str, object]) -> object:
    """The messages in a request or response body."""
    for key in ("messages", "input", "contents", "choices", "generations", "output", "candidates"):
        inner = container.get(key)
        if isinstance(inner, (list, dict)):
            system = container.get("system") or container.get("instructions")
            messages = inner if isinstance(inner, list) else [inner]
            return [{"role": "system", "content": system}, *messages] if system else messages
        if isinstance(inner, str):
            return [{"role": "user", "content": inner}]
    return [container]


def is_empty_reply(value: object) -> bool:
    """Whether a model's reply arrived whole, and is neither a text nor a call.

    A part without a member for its text is hidden, and a reply whose finish reason is there but
    empty was aborted: neither is an empty reply.

    >>> [is_empty_reply(reply) for reply in ("", '""', '{"role": "assistant", "content": ""}')]
    [True, True, True]
    >>> is_empty_reply([{"role": "assistant", "parts": []}])
    True
    >>> is_empty_reply([{"role": "assistant", "parts": [{"type": "text"}]}])
    False
    >>> is_empty_reply('{"choices": [{"message": {"content": ""}, "finish_reason": null}]}')
    False
    """
    if isinstance(value, str) and not unquoted(value).strip():
        return True
    container, complete = as_container(value)
    if isinstance(container, dict):
        container = _inside(container) if not isinstance(container.get("input"), str) else None
    while isinstance(container, list) and container and isinstance(container[0], list):
        container = container[0]
    if not complete or not isinstance(container, list) or not container:
        return False
    return all(_is_empty(entry) for entry in container)


def _is_empty(message: object) -> bool:
    if not isinstance(message, dict):
        return isinstance(message, str) and not message.strip()
    for _ in range(DEPTH):  # a choice or a generation holds the message
        if not all(message.get(key, True) for key in FINISH_REASONS):
            return False
        _, message = _unwrapped(message)
    extra = message.get("additional_kwargs")
    holders = (message, extra) if isinstance(extra, dict) else (message,)
    if any(holder.get(key) for holder in holders for key in OTHER_REPLIES):
        return False
    content = next((message[key] for key in TEXT_KEYS if key in message), message)
    if isinstance(content, list):
        return all(_is_empty_part(part) for part in content)
    return content is None or (isinstance(content, str) and not content.strip())


def _is_empty_part(part: object) -> bool:
    """Whether a part has an empty text. Thoughts are none, but they show that nothing is hidden."""
    if not isinstance(part, dict):
        return isinstance(part, str) and not part.strip()
    if part.get("type") in REASONING:
        return len(part) > 1
    return ("text" in part or "content" in part) and not text_of(part).strip()


def messages_of_rows(rows: Rows) -> tuple[Message, ...] | Withheld | None:
    """Messages from the flattened names `N.message.role`, `N.message.content`, …"""
    messages = []
    hidden = False
    for index in sorted(rows):
        row = rows[index]
        content = row.get("message.content", row.get("content"))
        if content == REDACTED:
            hidden = True
            content = None
        if content is None and len(row) > 1:
            content = _parts(row, "" if row.get("message.role") in REPLYING else "\n\n")
            hidden = hidden or REDACTED in content
        calls = any("tool_call" in key or "function_call" in key for key in row)
        role = plain_role(text(row.get("message.role", row.get("role"))))
        results = _function_results(row) if not content else ""
        if results:
            role, content = "tool", results
        messages.append(Message(role, unpacked(content), calls and role != "tool"))
    if hidden and not any(message.text.replace(REDACTED, "").strip() for message in messages):
        return Withheld.HIDDEN
    if any(message.text or message.calls_tool for message in messages):
        return with_observations(messages)
    is_empty = any(row.get("message.content", row.get("content")) == "" for row in rows.values())
    return NO_TEXT if is_empty else None


def _parts(row: Mapping[str, object], separator: str) -> str:
    parts = columns(row, "message.contents.") or columns(row, "contents.")  # type: ignore[arg-type]
    texts = []
    for index in sorted(parts):
        part = parts[index]
        if text(part.get("message_content.type", part.get("type"))) != "reasoning":
            texts.append(text(part.get("message_content.text", part.get("text"))))
    return separator.join(filter(None, texts))


def _function_results(row: Mapping[str, object]) -> str:
    """The results of functions in a message without a content: AutoGen's `function.N`."""
    results = columns(row, "function.")  # type: ignore[arg-type]
    texts = (text_of(as_container(results[index].get("")).value) for index in sorted(results))
    return "\n\n".join(filter(None, texts))


def unpacked(content: object) -> str:
    """The text of content that is JSON text of parts; any other text unchanged."""
    if not isinstance(content, str):
        return text_of(content)
    if content.startswith(('[{"', "[{'")):
        container = as_container(content).value
        if isinstance(container, list) and all(_is_part(part) for part in container):
            return text_of(container)
    return content


def _is_part(part: object) -> bool:
    return isinstance(part, dict) and "type" in part and ("text" in part or "content" in part)
