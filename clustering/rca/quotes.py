"""Does a quote stand in a stored span?

Word for word, but for case and white space: what an agent half remembers is no evidence.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator

from clustering.rca.reading import Form

LEAST = 12
"""Characters of a quote that proves anything, unless it is the whole of a value."""


def stands_in(quote: str, span: Form) -> bool:
    """Whether a text of the span holds the quote.

    >>> span = {"SpanAttributes": {"error": "Index v7\\nhas no  chunks"}}
    >>> stands_in("index v7 has no chunks", span)
    True
    >>> stands_in("index v8 has no chunks", span)
    False
    """
    said = _plain(quote)
    if not said:
        return False
    texts = map(_plain, texts_of(span))
    return any(said == text or (len(said) >= LEAST and said in text) for text in texts)


def texts_of(span: Form) -> Iterator[str]:
    """The texts of a span: name, status, values of attributes, and the strings in JSON of them."""
    yield span.get("SpanName", "")
    yield span.get("StatusMessage", "")
    yield from span.get("Events.Name", ())
    for attributes in (span.get("SpanAttributes", {}), *span.get("Events.Attributes", ())):
        for value in attributes.values():
            yield value
            yield from _strings_in(value)


def _strings_in(value: str) -> Iterator[str]:
    if not value.lstrip().startswith(("{", "[", '"')):
        return
    try:
        waiting = [json.loads(value)]
    except (ValueError, RecursionError):
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()
