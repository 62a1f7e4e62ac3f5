"""Lists that were flattened into numbered attribute names, put together again."""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.model.span import AttributeValue

SLOTS = 10_001
"""Indices from here on are ignored: a huge index must not cost memory."""

FEW = {str(index): index for index in range(256)}
"""Almost all indices are found here at once."""
Rows = dict[int, dict[str, AttributeValue]]


def slot(digits: str) -> int | None:
    """The index that a name segment spells, None where it spells none that is allowed.

    >>> slot("12"), slot("10001"), slot("²"), slot("x")
    (12, None, None, None)
    """
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6):
        return None
    index = int(digits)
    return index if index < SLOTS else None


def gather(attributes: Mapping[str, AttributeValue]) -> dict[str, Rows]:
    """Groups `a.b.N.rest` names by `a.b`, then by N; other names are left out.

    >>> gather({"llm.prompts.1.text": "x", "llm.model": "m"})
    {'llm.prompts': {1: {'text': 'x'}}}
    """
    families: dict[str, Rows] = {}
    for key, value in attributes.items():
        parts = key.split(".", 3)
        if len(parts) != 4:
            continue
        root, name, digits, rest = parts
        index = FEW.get(digits)
        if index is None:
            index = slot(digits)
            if index is None:
                continue
        family = root + "." + name
        rows = families.get(family)
        if rows is None:
            rows = families[family] = {}
        row = rows.get(index)
        if row is None:
            rows[index] = {rest: value}
        else:
            row[rest] = value
    return families


def columns(row: Mapping[str, AttributeValue], prefix: str) -> Rows:
    """Groups `prefixN.rest` names inside one row by N.

    >>> columns({"contents.0.text": "a", "role": "user"}, "contents.")
    {0: {'text': 'a'}}
    """
    found: Rows = {}
    size = len(prefix)
    for key, value in row.items():
        if key.startswith(prefix):
            digits, _, rest = key[size:].partition(".")
            index = slot(digits)
            if index is not None:
                found.setdefault(index, {})[rest] = value
    return found
