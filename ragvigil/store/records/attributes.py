"""Attribute values as strings, in the form that the Collector's ClickHouse exporter writes."""

from __future__ import annotations

import base64
import json

from ragvigil.model.span import AttributeValue


def as_text(value: AttributeValue) -> str:
    """The value as a string: JSON for lists and maps, base64 for bytes.

    >>> [as_text(value) for value in ("a", True, 0.5, 3, None, ["a", 1], {"b": b"x"})]
    ['a', 'true', '0.5', '3', '', '["a",1]', '{"b":"eA=="}']
    """
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_within)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _within(value: object) -> str:
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)
