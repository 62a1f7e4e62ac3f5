"""Indexes the chunks of one record for comparison with the sentences of its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import chain, pairwise
from math import log

from scorers.text.chunk_text import ChunkText, chunk_text

COMMON = 64
"""Most lines indexed for one word: a word of more lines does not locate anything."""
NEAREST = 6
"""Lines with most votes of a sentence's words that are compared in full."""
STEM = 5
CACHED_CHARACTERS = 16_384


class Line:
    """A sentence of a chunk: its words in order, and their set."""

    __slots__ = ("distinct", "words")

    def __init__(self, words: Sequence[str], distinct: frozenset[str] | None = None) -> None:
        self.words = words
        self.distinct = frozenset(words) if distinct is None else distinct


def _lines(content: str) -> tuple[Line, ...]:
    chunk = chunk_text(content)
    starts = sorted(chunk.starts)
    if starts == [0, len(chunk.words)]:  # the line is the chunk: a table, a title, no sentence ends
        return (Line(chunk.words, chunk.distinct),)
    ends = [*starts[1:], len(chunk.words)]
    return tuple(
        Line(chunk.words[begin:end])
        for begin, end in zip(starts, ends, strict=True)
        if begin < min(end, len(chunk.words))
    )


def lines(content: str) -> tuple[Line, ...]:
    """The sentences of a chunk that have words; cached for short chunks.

    >>> [line.words for line in lines("Cards take 5 days. Cash is instant.")]
    [['cards', 'take', '5', 'days'], ['cash', 'is', 'instant']]
    """
    if len(content) > CACHED_CHARACTERS:
        return _lines(content)
    return chunk_text(content).derived(_lines)


class Context:
    """What the chunks have of an answer: the `words`, `stems` and `pairs` of its sentences, and an
    index of the lines that contain each word.

    `sentences` are the words of each. What no sentence has is not gathered: sets of all words and
    pairs of eight chunks would take longer than the comparison.
    """

    def __init__(self, contents: Iterable[str], sentences: Sequence[Sequence[str]]) -> None:
        self.chunks: list[ChunkText] = []
        self.lines: list[Line] = []
        self.chunk_of: list[int] = []
        for place, content in enumerate(contents):
            self.chunks.append(chunk_text(content))
            chunk_lines = lines(content)
            self.lines += chunk_lines
            self.chunk_of += [place] * len(chunk_lines)
        answer_words = frozenset(chain.from_iterable(sentences))
        stems = frozenset([word[:STEM] for word in answer_words])
        pairs = frozenset(chain.from_iterable(map(pairwise, sentences)))
        self.words = self.known(answer_words)
        self.stems = frozenset[str]().union(*(chunk.stems & stems for chunk in self.chunks))
        written = chain.from_iterable(pairwise(chunk.words) for chunk in self.chunks)
        self.pairs = pairs.intersection(written)
        self.size = sum(len(chunk.words) for chunk in self.chunks)
        self._places = self._index(self.words)

    def known(self, words: frozenset[str]) -> frozenset[str]:
        """Those of some words that a chunk has."""
        return frozenset[str]().union(*(chunk.distinct & words for chunk in self.chunks))

    def _index(self, answer_words: Set[str]) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, line in enumerate(self.lines):
            for word in line.distinct & answer_words:
                indexed = places.setdefault(word, [])
                if len(indexed) < COMMON:
                    indexed.append(place)
        return places

    def rarity(self, word: str) -> float:
        """Inverse frequency over the lines; highest for a word that no line has."""
        having = len(self._places.get(word, ()))
        return log(1 + (len(self.lines) + 1) / (0.5 + having))

    def nearest(self, weighed: dict[str, float]) -> list[int]:
        """Places of the NEAREST lines with most of the weight of these words."""
        votes: dict[int, float] = {}
        for word, weight in weighed.items():
            for place in self._places.get(word, ()):
                votes[place] = votes.get(place, 0.0) + weight
        return sorted(votes, key=votes.__getitem__, reverse=True)[:NEAREST]

    def is_together(self, first: str, other: str) -> bool:
        """Whether a line contains both words."""
        places = self._places.get(first, ())
        return bool(places) and not set(places).isdisjoint(self._places.get(other, ()))
