"""Frozen values as JSON texts, and back by their types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Value = TypeVar("Value")


@cache
def type_hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields; working them out takes longer than reading a value."""
    return get_type_hints(kind)


def without_none(hint: Any) -> Any:
    """The type itself of an optional type; any other type as it is."""
    parts = [part for part in get_args(hint) if part is not NoneType]
    return parts[0] if NoneType in get_args(hint) and len(parts) == 1 else hint


def is_enum(hint: Any) -> bool:
    """Whether a type is that of an enum's members."""
    return isinstance(hint, type) and issubclass(hint, Enum)


def dump(value: Any) -> str:
    """A dataclass, a mapping, or a tuple of such as JSON."""
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    if is_dataclass(value):
        return json.dumps(_plain(value), ensure_ascii=False)
    return json.dumps([_plain(item) for item in value])


def _plain(item: Any) -> Any:
    return asdict(item) if is_dataclass(item) and not isinstance(item, type) else item


def load(hint: Any, text: str) -> Any:
    """The value of this type that a text holds.

    Raises ValueError, KeyError or TypeError where it holds none. A field that the text lacks has
    its default: texts of older versions are read.
    """
    return value_of(hint, json.loads(text))


def value_of(hint: Any, data: Any) -> Any:
    """The value of this type that JSON data stands for. Raises as `load` does."""
    inner = without_none(hint)
    items = get_args(inner)
    if data is None:
        return None
    if get_origin(inner) is tuple:
        kinds = [items[0]] * len(data) if items[-1] is Ellipsis else items
        return tuple(value_of(kind, item) for kind, item in zip(kinds, data, strict=True))
    if items and isinstance(data, dict):
        return {key: value_of(items[1], item) for key, item in data.items()}
    if is_dataclass(inner) and isinstance(inner, type):
        hints = type_hints(inner)
        if not isinstance(data, dict):
            raise TypeError(f"{type(data).__name__} is no {inner.__name__}")
        return inner(**{name: value_of(hints[name], item) for name, item in data.items()})
    return inner(data) if is_enum(inner) else data
