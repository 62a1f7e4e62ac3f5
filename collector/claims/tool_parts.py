"""Tool results among a message's parts, and the parts that a tool's result is wrapped in.

Several instrumentors send what a tool returned as parts of a user's message. These are no words
of the user: they become messages of the role `tool`.
"""

from __future__ import annotations

from collections.abc import Mapping

from collector.claims.claim import Listing, Message, Withheld
from collector.claims.messages import one, several
from collector.claims.recover import as_container, as_json, parse
from collector.claims.tool_results import documents_of

RESULT_TYPES = frozenset(
    {"tool_call_response", "tool_result", "function_response", "server_tool_call_response"}
)
RESULT_KEYS = ("toolResult", "function_response", "functionResponse")
RETURNED_KEYS = ("response", "result", "content", "output")
PART_KEYS = frozenset({"type", "text", "content", "annotations", "citations", "_meta"})
DEPTH = 4


def spoken(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    """Messages in which something is said or called, tool results apart.

    >>> result = {"type": "tool_call_response", "response": "[a-1] First."}
    >>> spoken([{"role": "user", "parts": [result, {"type": "text", "content": "Why?"}]}], "user")
    (Message(role='tool', text='[a-1] First.', calls_tool=False), \
Message(role='user', text='Why?', calls_tool=False))
    >>> spoken('[{"role": "user", "parts": [{"type": "text"}]}]', "user") is None
    True
    """
    found = several(value, role)
    if not isinstance(found, tuple):
        return found
    entries = as_container(value).value
    if isinstance(entries, list) and any(_results(entry) for entry in entries):
        found = tuple(message for entry in entries for message in _split(entry, role))
    return found if any(m.text or m.calls_tool for m in found) else None


def _parts(entry: object) -> tuple[str, list[object]]:
    """The name and the list of a message's parts."""
    if isinstance(entry, dict):
        for name in ("parts", "content"):
            if isinstance(entry.get(name), list):
                return name, entry[name]
    return "", []


def _results(entry: object) -> list[object]:
    return [part for part in _parts(entry)[1] if _is_result(part)]


def _is_result(part: object) -> bool:
    return isinstance(part, dict) and (
        part.get("type") in RESULT_TYPES or any(key in part for key in RESULT_KEYS)
    )


def _split(entry: object, role: str) -> list[Message]:
    """A message's tool results, each as a message, then what else it says."""
    name, parts = _parts(entry)
    found = [Message("tool", words(part)) for part in parts if _is_result(part)]
    rest = [part for part in parts if not _is_result(part)]
    if isinstance(entry, dict) and found:
        entry = {**entry, name: rest} if rest else None
    message = one(entry, role)
    return [*found, message] if message is not None else found


def words(part: object) -> str:
    """What a part that holds a tool's result says, structures as JSON text.

    >>> words({"toolResult": {"content": [{"json": {"chunks": [{"id": "a"}]}}]}})
    '{"chunks": [{"id": "a"}]}'
    """
    if isinstance(part, dict):
        inner = next((part[key] for key in RESULT_KEYS if isinstance(part.get(key), dict)), part)
        part = next((inner[key] for key in RETURNED_KEYS if inner.get(key) is not None), None)
    result = unwrapped(part)
    if isinstance(result, str) or result is None:
        return result or ""
    return as_json(result)


def unwrapped(result: object, depth: int = DEPTH) -> object:
    """A tool's result without the parts and the envelopes around it.

    >>> unwrapped({"content": [{"type": "text", "text": "[a-1] First."}], "isError": False})
    '[a-1] First.'
    """
    if isinstance(result, str) and result[:1] == '"':
        inner = parse(result).value
        return inner if isinstance(inner, str) else result
    container = as_container(result).value
    if isinstance(container, list) and depth:
        return _joined(container, depth)
    if not isinstance(container, dict) or not depth:
        return result
    if set(container) <= {*RETURNED_KEYS, "isError", "is_error", "status", "structuredContent"}:
        for key in RETURNED_KEYS:
            if container.get(key) is not None:
                return unwrapped(container[key], depth - 1)
    return result


def _joined(parts: list[object], depth: int) -> object:
    if len(parts) == 1 and isinstance(parts[0], dict) and set(parts[0]) <= {"json", "type"}:
        return unwrapped(parts[0].get("json"), depth - 1)
    texts = [_text(part, alone=len(parts) == 1) for part in parts]
    if not texts or None in texts:
        return parts
    return "\n\n".join(one_text for one_text in texts if one_text)


def _text(part: object, *, alone: bool) -> str | None:
    """The text of a part. Without a type several of them could as well be documents."""
    if not isinstance(part, Mapping) or not set(part) <= PART_KEYS:
        return None
    if part.get("type") != "text" and not (alone and "type" not in part):
        return None
    found = part.get("text", part.get("content"))
    return found if isinstance(found, str) else None


def returned_by_tool(result: object) -> Listing | None:
    """The documents in a tool's result, None where it is no retrieval.

    >>> found = returned_by_tool('[{"text": "[a-1] First.\\\\n[b-2] Second."}]')
    >>> [document.chunk_id for document in found.documents]
    ['a-1', 'b-2']
    >>> returned_by_tool('[{"text": "It is 20 degrees in Lisbon."}]') is None
    True
    """
    return documents_of(unwrapped(result))
