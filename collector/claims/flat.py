"""Rebuilds lists that were flattened into numbered attribute names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ragvigil.model.span import AttributeValue

SLOTS = 10_001
"""Indices from here on are ignored: a huge index must not take memory."""

Rows = dict[int, dict[str, AttributeValue]]
Layout = tuple[tuple[str, tuple[tuple[int, tuple[tuple[str, str], ...]], ...]], ...]
"""Families, their indices, and for each index pairs of (rest of the name, whole name)."""
CACHED_NAMES = 256
"""Up to so many names a layout is cached: a service sends few different sets of names."""


def slot(digits: str) -> int | None:
    """The index in a segment of a name; None if it is no allowed index.

    >>> slot("12"), slot("10001"), slot("²"), slot("x")
    (12, None, None, None)
    """
    # isascii, because isdigit() accepts `²`; the length keeps int() cheap.
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6):
        return None
    index = int(digits)
    return index if index < SLOTS else None


def gather(attributes: Mapping[str, AttributeValue]) -> dict[str, Rows]:
    """Groups `a.b.N.rest` names by `a.b`, then by N; other names are left out.

    >>> gather({"llm.prompts.1.text": "x", "llm.model": "m"})
    {'llm.prompts': {1: {'text': 'x'}}}
    """
    names = tuple(attributes)
    layout = _layout(names) if len(names) <= CACHED_NAMES else _read_layout(names)
    return {
        family: {index: {rest: attributes[name] for rest, name in row} for index, row in rows}
        for family, rows in layout
    }


def _read_layout(names: tuple[str, ...]) -> Layout:
    families: dict[str, dict[int, dict[str, str]]] = {}
    for name in names:
        parts = name.split(".", 3)
        index = slot(parts[2]) if len(parts) == 4 else None
        if index is not None:
            rows = families.setdefault(f"{parts[0]}.{parts[1]}", {})
            rows.setdefault(index, {})[parts[3]] = name
    return tuple(
        (family, tuple((index, tuple(row.items())) for index, row in rows.items()))
        for family, rows in families.items()
    )


_layout = lru_cache(maxsize=512)(_read_layout)


def columns(row: Mapping[str, AttributeValue], prefix: str) -> Rows:
    """Groups `prefixN.rest` names inside one row by N.

    >>> columns({"contents.0.text": "a", "role": "user"}, "contents.")
    {0: {'text': 'a'}}
    """
    rows: Rows = {}
    size = len(prefix)
    for key, value in row.items():
        if key.startswith(prefix):
            digits, _, rest = key[size:].partition(".")
            index = slot(digits)
            if index is not None:
                rows.setdefault(index, {})[rest] = value
    return rows
