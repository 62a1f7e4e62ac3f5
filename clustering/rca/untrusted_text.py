"""Makes texts of strangers safe to show: to a model as fenced data, to people on one plain line.

A line of JSON holds no line break, so a text in it cannot end the fence, and the delimiter is drawn
anew for each run. The fence is bounded: of a long span the model sees less, nothing else changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

MOST_CHARACTERS = 8_000
LENGTHS = (4_000, 1_000, 250, 60)
"""Characters of each text, tried from the largest; the first with which everything fits is used."""
MOST_ITEMS = 60
KEY = 120


def fenced(value: object, delimiter: str) -> str:
    """The value as data between two delimiters, at most MOST_CHARACTERS between them."""
    return f"{delimiter} data\n{_bounded(value).replace(delimiter, '')}\n{delimiter} end of data"


def _bounded(value: object) -> str:
    text = ""
    for longest in LENGTHS:
        text = _line(_clipped(value, longest))
        if len(text) <= MOST_CHARACTERS:
            return text
    return f"{text[:MOST_CHARACTERS]}… (cut: {len(text)} characters)"


def _line(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    # Lone surrogates cannot travel; U+2028, U+2029 and U+0085 are line breaks to some readers.
    clean = text.encode("utf-8", "replace").decode()
    for mark in ("\u2028", "\u2029", "\u0085"):
        clean = clean.replace(mark, " ")
    return clean


def _clipped(value: object, longest: int) -> object:
    """The value with its strings, lists and mappings cut; what was cut is said in place."""
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        pairs = list(value.items())
        shown = {str(key)[:KEY]: _clipped(item, longest) for key, item in pairs[:MOST_ITEMS]}
        return shown if len(pairs) <= MOST_ITEMS else {**shown, "…": _more(pairs)}
    if isinstance(value, list | tuple):
        items = [_clipped(item, longest) for item in value[:MOST_ITEMS]]
        return items if len(value) <= MOST_ITEMS else [*items, _more(value)]
    return value


def _more(items: Sequence[object]) -> str:
    return f"{len(items) - MOST_ITEMS} more"
