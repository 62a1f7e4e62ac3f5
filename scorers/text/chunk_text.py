"""Chunks made ready for comparison, once per content: the same chunk returns in many records."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from itertools import accumulate

from scorers.text.normalise import key, words
from scorers.text.sentences import sentences

BYTES_PER_CHARACTER = 40
BYTES_PER_CHUNK = 1024
"""An upper estimate of what a prepared chunk weighs, all of its parts computed."""


class ChunkText:
    """One text's words and what is derived from them; parts are computed when first asked for."""

    def __init__(self, content: str) -> None:
        self._content = content
        self.words = words(content)
        self.key = key(self.words)

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The distinct words."""
        return frozenset(self.words)

    @cached_property
    def starts(self) -> frozenset[int]:
        """The words that begin a sentence."""
        lengths = [len(words(sentence.text)) for sentence in sentences(self._content)]
        return frozenset(accumulate(lengths, initial=0))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The distinct words cut to their first five characters: a stem for any language."""
        return frozenset(word[:5] for word in self.distinct)


class ChunkTextCache:
    """The least recently used leave when the estimated weight passes `max_bytes`. Not locked."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, ChunkText] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, content: str) -> ChunkText:
        """The chunk with this content, prepared now or before."""
        cached = self._kept.get(content)
        if cached is not None:
            self._kept.move_to_end(content)
            return cached
        chunk_text = ChunkText(content)
        self._kept[content] = chunk_text
        self._bytes += _weight(content)
        while self._bytes > self._max_bytes and len(self._kept) > 1:
            oldest, _ = self._kept.popitem(last=False)
            self._bytes -= _weight(oldest)
        return chunk_text

    def forget(self) -> None:
        """Lets all chunks go."""
        self._kept.clear()
        self._bytes = 0


def _weight(content: str) -> int:
    return BYTES_PER_CHUNK + BYTES_PER_CHARACTER * len(content)


CHUNKS = ChunkTextCache(max_bytes=128 << 20)
"""The process' own: every scorer reads the same chunks of a record."""


def chunk_text(content: str) -> ChunkText:
    """The chunk with this content, from the process' cache.

    >>> chunk_text("Refunds take 5 days.").words
    ['refunds', 'take', '5', 'days']
    """
    return CHUNKS.get(content)
