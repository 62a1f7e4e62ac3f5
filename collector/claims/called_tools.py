"""The names of the tools that a model's reply calls, of calls of every shape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.claims.flat import Rows
from collector.claims.messages import CALL_TYPES, is_function_call
from collector.claims.recover import as_container, text

CALL_NAME = re.compile(r"(?:^|\.)tool_calls\.\d+\.(?:tool_call\.function\.)?name")
LISTS = ("tool_calls", "toolCalls", "parts", "content", "output")
CALLS = frozenset({"tool_calls", "toolCalls", "toolUse"})
HOLDERS = ("message", "function", "toolUse")
DEPTH = 8
"""Most levels of messages, parts and calls in which names are searched."""


def tools_in_rows(rows: Rows) -> tuple[str, ...]:
    """The names in flattened messages.

    >>> tools_in_rows({0: {"message.tool_calls.0.tool_call.function.name": "search_docs"}})
    ('search_docs',)
    >>> tools_in_rows({0: {"role": "assistant", "tool_calls.0.name": "search_docs"}})
    ('search_docs',)
    """
    return tuple(
        text(row[key]) for _, row in sorted(rows.items()) for key in row if CALL_NAME.search(key)
    )


def tools_in(reply: object) -> tuple[str, ...]:
    """The names in messages, as structures or JSON text.

    >>> call = {"id": "c", "function": {"name": "search_docs", "arguments": "{}"}}
    >>> tools_in([{"message": {"role": "assistant", "tool_calls": [call]}}])
    ('search_docs',)
    >>> tools_in('[{"role": "assistant", "parts": [{"type": "tool_call", "name": "search_docs"}]}]')
    ('search_docs',)
    >>> tools_in([{"role": "assistant", "content": [{"type": "function", **call}]}])
    ('search_docs',)
    >>> tools_in([{"type": "function_call", "name": "search_docs", "arguments": "{}"}])
    ('search_docs',)
    """
    return tuple(_names(as_container(reply).value, DEPTH, is_call=False))


def _names(value: object, depth: int, *, is_call: bool) -> Iterator[str]:
    if isinstance(value, list) and depth:
        for entry in value:
            yield from _names(entry, depth - 1, is_call=is_call)
    elif isinstance(value, dict) and depth:
        if (is_call or value.get("type") in CALL_TYPES) and isinstance(value.get("name"), str):
            yield value["name"]
        for key in (*LISTS, *HOLDERS):
            inner = value.get(key)
            if isinstance(inner, (list, dict)):
                inside = is_call or key in CALLS or is_function_call(value)
                yield from _names(inner, depth - 1, is_call=inside)
