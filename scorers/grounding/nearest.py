"""Finds the lines and the chunk of a context that have most in common with one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from scorers.grounding.claims import Claim, Weights
from scorers.grounding.context import Context, Line

GRAM = 4
"""Characters of a gram."""
LONGEST = 400
"""Most words of a sentence that are aligned with a line, and most grams of a word."""


class NearestLines:
    """The best lines for a claim; shares (0..1) are of the weight of the claim's words."""

    def __init__(self, claim: Claim, context: Context) -> None:
        self._claim = claim
        self._context = context
        near = context.nearest(claim.weighed)
        ranked = sorted((self._held(context.lines[place].distinct), -place) for place in near)
        self.place = -ranked[-1][1] if ranked else -1
        """Place of the best line; -1 if no line shares a word."""
        self.line: Line | None = context.lines[self.place] if ranked else None
        self.share = ranked[-1][0] if ranked else 0.0
        self._others = [-place for _, place in ranked[:-1]]
        self.chunk, self.chunk_share, self.chunk_lead = self._best_chunk(near)

    def _held(self, words: frozenset[str]) -> float:
        weighed = self._claim.weighed
        weights = [value for word, value in weighed.items() if word in words]
        return sum(weights) / self._claim.weight

    def _best_chunk(self, near: list[int]) -> tuple[int, float, float]:
        """The best chunk of the nearest lines, its share and its lead over the next one."""
        chunks = sorted({self._context.chunk_of[place] for place in near})
        ranked = sorted(
            (self._held(self._context.chunks[chunk].distinct), -chunk) for chunk in chunks
        )
        if not ranked:
            return -1, 0.0, 0.0
        lead = ranked[-1][0] - ranked[-2][0] if len(ranked) > 1 else 0.0
        return -ranked[-1][1], ranked[-1][0], lead

    def two_lines(self) -> float:
        """The share that the best line has together with the line that adds most to it."""
        if self.line is None:
            return 0.0
        rest = {w: v for w, v in self._claim.weighed.items() if w not in self.line.distinct}
        lines = [self._context.lines[place].distinct for place in self._others]
        added = (sum([v for w, v in rest.items() if w in words]) for words in lines)
        return self.share + max(added, default=0.0) / self._claim.weight

    def cosine(self, weights: Weights) -> float:
        """The geometric mean of the shares that claim and best line have of each other."""
        if self.line is None:
            return 0.0
        of_line = sum(map(weights.of, dict.fromkeys(self.line.words)))
        return self.share * sqrt(self._claim.weight / of_line)

    def aligned(self) -> float:
        """The share of the claim's words that the best line has in the same order."""
        from rapidfuzz.distance import LCSseq

        if self.line is None:
            return 0.0
        claim_words = self._claim.words[:LONGEST]
        return LCSseq.similarity(claim_words, self.line.words[:LONGEST]) / len(claim_words)

    def grams(self, words: list[str]) -> float:
        """The share of the 4-grams of some words that the best line has; 1 without any."""
        grams = [gram for word in words for gram in _grams(word[: LONGEST + GRAM - 1])]
        if not grams or self.line is None:
            return 0.0 if grams else 1.0
        # Words have no spaces: a gram with one, from two neighbours, is in no word.
        line = " ".join([word[: LONGEST + GRAM - 1] for word in self.line.distinct])
        held = frozenset(grams).intersection(_grams(line))
        return sum(gram in held for gram in grams) / len(grams)


def _grams(text: str) -> Iterator[tuple[str, ...]]:
    return zip(*(text[start:] for start in range(GRAM)), strict=False)
