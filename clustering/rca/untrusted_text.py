"""Texts of strangers on their way to a model: one line of JSON between lines with a delimiter.

A line of JSON holds no line break, so what stands in it cannot end the data, and the delimiter is
drawn for each run. It is bounded: who writes a long span gets less of it shown, nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

MOST_CHARACTERS = 8_000
LENGTHS = (4_000, 1_000, 250, 60)
"""Characters of each text, from the longest that may be shown; the first that fits is taken."""
MOST_ITEMS = 60
KEY = 120


def fenced(value: object, delimiter: str) -> str:
    """The value as data, at most MOST_CHARACTERS long but for the delimiters."""
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
    plain = text.encode("utf-8", "replace").decode()
    for mark in ("\u2028", "\u2029", "\u0085"):
        plain = plain.replace(mark, " ")
    return plain


def _clipped(value: object, longest: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        pairs = list(value.items())
        shown = {str(key)[:KEY]: _clipped(one, longest) for key, one in pairs[:MOST_ITEMS]}
        return shown if len(pairs) <= MOST_ITEMS else {**shown, "…": _more(pairs)}
    if isinstance(value, list | tuple):
        items = [_clipped(one, longest) for one in value[:MOST_ITEMS]]
        return items if len(value) <= MOST_ITEMS else [*items, _more(value)]
    return value


def _more(items: Sequence[object]) -> str:
    return f"{len(items) - MOST_ITEMS} more"
