"""Separates tool results from a message's other parts, unwraps them, and finds documents in them.

Agents retrieve through tools. Several instrumentors send a tool's result as parts of a user's
message. The user did not write these parts: they become messages of the role `tool`, and so do
documents that are parts of a request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from collector.claims.claim import NO_TEXT, Listing, Message, Withheld
from collector.claims.documents import draft, find_documents, listing
from collector.claims.field_names import Kind, kind_of_name
from collector.claims.messages import is_empty_reply, message_of, messages_of
from collector.claims.passage_text import Block
from collector.claims.passages import passages
from collector.claims.prompt_chunks import as_id, marked_blocks
from collector.claims.recover import as_container, as_json, joined_objects, parse
from collector.claims.source_blocks import blocks_as_text, is_source_block

RESULT_TYPES = (
    "tool_call_response",
    "tool_result",
    "function_response",
    "server_tool_call_response",
)
RESULT_KEYS = ("toolResult", "function_response", "functionResponse")
RETURNED_KEYS = ("response", "result", "content", "output", "blocks")
ENVELOPE_KEYS = frozenset(
    {*RETURNED_KEYS, "isError", "is_error", "status", "structuredContent", "tool_name",
     "raw_input", "raw_output"}
)  # fmt: skip
PART_KEYS = frozenset({"type", "text", "content", "annotations", "citations", "_meta"})
CUT = re.compile(r"\s*(?:\.{3}|…)?\s*[\[(<]+\s*truncated\b[^\])>\n]{0,40}[\])>]+\s*\Z", re.I)
"""What instrumentors write where they cut a long result: AG2's `...[truncated]`."""
LONGEST_CUT = 80
OBJECTS = ("{", "[{")
DEPTH = 4
"""Most envelopes around a result that are unwrapped."""


def messages_with_tools(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    """Messages with a text or a tool call; tool results become messages of their own.

    NO_TEXT if the messages are there, and empty.

    >>> result = {"type": "tool_call_response", "response": "[a-1] First."}
    >>> question = {"type": "text", "content": "Why?"}
    >>> messages_with_tools([{"role": "user", "parts": [result, question]}], "user")
    (Message(role='tool', text='[a-1] First.', calls_tool=False), \
Message(role='user', text='Why?', calls_tool=False))
    >>> messages_with_tools('[{"role": "user", "parts": [{"type": "text"}]}]', "user") is None
    True
    """
    messages = messages_of(value, role)
    if not isinstance(messages, tuple):
        return messages
    entries = as_container(value).value
    if isinstance(entries, list) and any(_result_parts(entry) for entry in entries):
        messages = tuple(message for entry in entries for message in _split(entry, role))
    if any(m.text or m.calls_tool for m in messages):
        return messages
    return NO_TEXT if is_empty_reply(value) else None


def _parts(entry: object) -> tuple[str, list[object]]:
    """The key and the list of a message's parts."""
    if isinstance(entry, dict):
        for name in ("parts", "content"):
            if isinstance(entry.get(name), list):
                return name, entry[name]
    return "", []


def _result_parts(entry: object) -> list[object]:
    return [part for part in _parts(entry)[1] if _is_result(part)]


def _is_result(part: object) -> bool:
    return isinstance(part, dict) and (
        part.get("type") in RESULT_TYPES
        or any(key in part for key in RESULT_KEYS)
        or is_source_block(part)
    )


def _split(entry: object, role: str) -> list[Message]:
    """A message's tool results, each as a message, then its other parts as a message."""
    name, parts = _parts(entry)
    sources = [part for part in parts if isinstance(part, dict) and is_source_block(part)]
    results = [Message("tool", blocks_as_text(sources))] if sources else []
    results += [Message("tool", result_text(part)) for part in parts
                if _is_result(part) and not is_source_block(part)]  # fmt: skip
    rest = [part for part in parts if not _is_result(part)]
    if isinstance(entry, dict) and results:
        entry = {**entry, name: rest} if rest else None
    message = message_of(entry, role)
    return [*results, message] if message is not None else results


def result_text(part: object) -> str:
    """The text of a part that holds a tool's result; structures become JSON text.

    >>> result_text({"toolResult": {"content": [{"json": {"chunks": [{"id": "a"}]}}]}})
    '{"chunks": [{"id": "a"}]}'
    """
    if isinstance(part, dict):
        inner = next((part[key] for key in RESULT_KEYS if isinstance(part.get(key), dict)), part)
        part = next((inner[key] for key in RETURNED_KEYS if inner.get(key) is not None), None)
    result = unwrap(part)
    if isinstance(result, str) or result is None:
        return result or ""
    return as_json(result)


def unwrap(result: object, depth: int = DEPTH) -> object:
    """A tool's result without the parts and envelopes around it.

    >>> unwrap({"content": [{"type": "text", "text": "[a-1] First."}], "isError": False})
    '[a-1] First.'
    """
    if isinstance(result, str) and result[:1] == '"':
        inner = parse(result).value
        return inner if isinstance(inner, str) else result
    container = as_container(result).value
    if isinstance(container, list) and depth:
        return _join(container, depth)
    if not isinstance(container, dict) or not depth:
        return result
    if set(container) <= ENVELOPE_KEYS:
        for key in RETURNED_KEYS:
            if container.get(key) is not None:
                return unwrap(container[key], depth - 1)
    return result


def _join(parts: list[object], depth: int) -> object:
    if len(parts) == 1 and isinstance(parts[0], dict) and set(parts[0]) <= {"json", "type"}:
        return unwrap(parts[0].get("json"), depth - 1)
    texts = [_text(part, alone=len(parts) == 1) for part in parts]
    if not texts or None in texts:
        return parts
    return "\n\n".join(filter(None, texts))


def _text(part: object, *, alone: bool) -> str | None:
    """The text of a part. Several parts without a type could as well be documents."""
    if not isinstance(part, Mapping) or not set(part) <= PART_KEYS:
        return None
    if part.get("type") != "text" and not (alone and "type" not in part):
        return None
    text = part.get("text", part.get("content"))
    return text if isinstance(text, str) else None


def tool_result_documents(result: object) -> Listing | None:
    """The documents in a tool's result; None if it is no retrieval.

    >>> listing = tool_result_documents('[{"text": "[a-1] First.\\\\n[b-2] Second."}]')
    >>> [document.chunk_id for document in listing.documents]
    ['a-1', 'b-2']
    >>> tool_result_documents('[{"text": "It is 20 degrees in Lisbon."}]') is None
    True
    """
    whole = _without_cut(result)
    if whole is not None:
        return _cut_short(tool_documents(unwrap(whole)))
    return tool_documents(unwrap(result))


def _without_cut(result: object) -> str | None:
    """A result that its instrumentor cut, without the mark of the cut; None if it is whole."""
    if not isinstance(result, str):
        return None
    mark = CUT.search(result[-LONGEST_CUT:])
    if mark:
        return result[: len(result) - len(mark[0])]
    if not result.lstrip().startswith(OBJECTS):
        return None
    container, complete = as_container(result)
    return result if container and not complete else None


def _cut_short(found: Listing | None) -> Listing | None:
    """The documents in front of a cut; the last one lost a part of its text."""
    if found is None:
        return None
    return Listing(found.documents[:-1], complete=False)


def tool_documents(result: object) -> Listing | None:
    """Documents in a tool's result, as data or as marked text; None if it is no retrieval.

    >>> [document.chunk_id for document in tool_documents("[a-1] First.\\n[b-2] Second.").documents]
    ['a-1', 'b-2']
    >>> tool_documents("It is 20 degrees in Lisbon.") is None
    True
    >>> found = '{"id": "a-1", "content": "First."}\\n\\n{"id": "b-2", "content": "Second."}'
    >>> [document.chunk_id for document in tool_documents(found).documents]
    ['a-1', 'b-2']
    """
    whole = _without_cut(result)
    if whole is not None:
        return _cut_short(_documents(whole))
    return _documents(result)


def _documents(result: object) -> Listing | None:
    items = joined_objects(result) if isinstance(result, str) and result[:1] == "{" else []
    # MCP sends each item of a list as a text part. A single object may be anything.
    data = find_documents(items if len(items) > 1 else result)
    if isinstance(data, Listing):
        return _with_texts(data)
    blocks = _passages(result) if isinstance(result, str) else ()
    marked = listing([draft(as_id(block.label), block.text) for block in blocks])
    return marked if blocks and isinstance(marked, Listing) else None


def _with_texts(found: Listing | Withheld | None) -> Listing | None:
    """A list of which at least one document has its text; None for any other."""
    if isinstance(found, Listing) and any(document.content for document in found.documents):
        return found
    return None


def single_document(result: object) -> Listing | None:
    """The only document that a search returned, without a list around it; None if it is none.

    >>> single_document('{"id": "a-1", "content": "First."}').documents[0].chunk_id
    'a-1'
    >>> single_document('{"status": "ok"}') is None
    True
    """
    container = as_container(result).value
    found = find_documents([container]) if isinstance(container, dict) else None
    return _with_texts(found)


def _passages(result: str) -> tuple[Block, ...]:
    """The marked passages of a text, which may begin with a title: "Retrieved documents:"."""
    title, colon, rest = result.lstrip().partition(":\n")
    is_titled = colon and "\n" not in title and kind_of_name(title) is Kind.CONTEXT
    body = rest.lstrip("\n") if is_titled else result
    return passages(body).blocks if marked_blocks(body) else ()
