"""Does a quote that a judge gives stand where it says?"""

from __future__ import annotations

from collections.abc import Iterable

from scorers.text.normalise import key, length, parts, words
from scorers.text.prepared import prepared
from scorers.text.quoting import ALIKE, holds

LEAST = 3
"""Words of a quote that proves anything (a character of an unspaced script is half a word)."""


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quote, verbatim or but for harmless slips of a key.

    Ellipses may leave something out. A quote of one or two words proves nothing unless it is
    the whole text.

    >>> is_quoted("refunds take 5 days", ["Card refunds take 5 days."])
    True
    >>> is_quoted("refunds take 9 days", ["Card refunds take 5 days."])
    False
    """
    segments = [found for part in parts(quote) if (found := words(part))]
    if not segments:
        return False
    said = [word for segment in segments for word in segment]
    chunks = (prepared(text) for text in texts)
    if length(said) < LEAST:
        return any(key(said) == chunk.key for chunk in chunks)
    distinct = frozenset(said)
    return any(
        len(distinct & chunk.distinct) >= ALIKE * len(distinct) and holds(segments, chunk)
        for chunk in chunks
    )
