"""Prepares chunks for comparison, once per content: the same chunk returns in many records."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate
from threading import Lock
from typing import Any, TypeVar

from scorers.text.editing import rendered
from scorers.text.normalise import key, words
from scorers.text.sentences import sentences

BYTES_PER_CHARACTER = 64
BYTES_PER_CHUNK = 2048
"""Upper estimates of the memory of a prepared chunk with all of its parts computed."""
_PAUSE = re.compile(r"[,;:](?!\d)|[()\[\]{}—，、；：（）「」『』【】،؛]|(?<=\s)[-–](?=\s)")


Part = TypeVar("Part")


class ChunkText:
    """The words of a text and what is derived from it; each part is computed on first use."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._derived: dict[Callable[[str], Any], Any] = {}

    def derived(self, compute: Callable[[str], Part]) -> Part:
        """What a scorer makes of the text: kept with it, and dropped with it."""
        if compute not in self._derived:
            self._derived[compute] = compute(self._content)
        part: Part = self._derived[compute]
        return part

    @cached_property
    def rendered(self) -> ChunkText | None:
        """The text without its markup; None where it has none."""
        plain = rendered(self._content)
        return ChunkText(plain) if plain != self._content else None

    @cached_property
    def words(self) -> list[str]:
        """The words in their order."""
        return words(self._content)

    @cached_property
    def key(self) -> str:
        """The words as one text."""
        return key(self.words)

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The set of words."""
        return frozenset(self.words)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The offsets of each word."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, []).append(place)
        return places

    @cached_property
    def starts(self) -> frozenset[int]:
        """Offsets of the words that begin a sentence, and the number of words."""
        lengths = [len(words(sentence.text)) for sentence in sentences(self._content)]
        return frozenset(accumulate(lengths, initial=0))

    @cached_property
    def pauses(self) -> frozenset[int]:
        """Offsets of the words behind a comma, colon, bracket or dash, and the number of words."""
        lengths = [len(words(stretch)) for stretch in _PAUSE.split(self._content)]
        return frozenset(accumulate(lengths))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The set of words cut to their first five characters: a stem for any language."""
        return frozenset(word[:5] for word in self.distinct)


class ChunkTextCache:
    """Caches prepared chunks up to an estimated `max_bytes`; evicts the least recently used."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, ChunkText] = OrderedDict()
        # The pipeline's thread and the judge's both read chunks; without the lock one may evict a
        # chunk between the other's look and its move to the end.
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, content: str) -> ChunkText:
        """Returns the prepared chunk with this content, from the cache where it is there."""
        with self._lock:
            cached = self._kept.get(content)
            if cached is not None:
                self._kept.move_to_end(content)
                return cached
        chunk_text = ChunkText(content)
        with self._lock:
            if content not in self._kept:
                self._bytes += _weight(content)
            self._kept[content] = chunk_text
            while self._bytes > self._max_bytes and len(self._kept) > 1:  # the newest always stays
                oldest, _ = self._kept.popitem(last=False)
                self._bytes -= _weight(oldest)
        return chunk_text

    def bound(self, max_bytes: int) -> None:
        """Sets another limit; it holds from the next chunk on."""
        self._max_bytes = max_bytes

    def forget(self) -> None:
        """Empties the cache."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0


def _weight(content: str) -> int:
    return BYTES_PER_CHUNK + BYTES_PER_CHARACTER * len(content)


CHUNKS = ChunkTextCache(max_bytes=128 << 20)
"""The cache of this process: all scorers read the same chunks of a record."""


def chunk_text(content: str) -> ChunkText:
    """Returns the prepared chunk with this content, from the cache of the process.

    >>> chunk_text("Refunds take 5 days.").words
    ['refunds', 'take', '5', 'days']
    """
    return CHUNKS.get(content)
