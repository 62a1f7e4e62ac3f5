"""Search and reranking of the service: two plain functions, which write down what they return."""

from __future__ import annotations

import re
from collections.abc import Sequence

import journal
from corpus import Chunk, chunks

TOP, KEEP, TIGHT = 8, 3, 2
CHUNKS = {chunk.id: chunk for chunk in chunks()}
WORDS = re.compile(r"\w+")
COMMON = frozenset({"a", "for", "what", "about", "ticket"})


def search(question: str) -> list[tuple[Chunk, float]]:
    """Up to `TOP` chunks that share words with the question, by an old-fashioned score."""
    asked = _words(question)
    scored = [
        (chunk, round(len(asked & words) / (1 + len(words) ** 0.5), 4))
        for chunk, words in ((chunk, _words(chunk.text)) for chunk in CHUNKS.values())
        if asked & words
    ]
    # The best last, so that reranking has work.
    found = sorted(scored, key=lambda pair: (-pair[1], pair[0].id))[:TOP]
    found.sort(key=lambda pair: (pair[1], pair[0].id))
    journal.note(retrieved=journal.listed(found))
    return found


def rerank(question: str, found: Sequence[Chunk]) -> list[tuple[Chunk, float]]:
    """The `KEEP` best chunks, by the share of the question's words in the sentence that differs."""
    asked = _words(question)
    scored = [
        (chunk, round(len(asked & _words(chunk.text.split("\n")[1])) / max(1, len(asked)), 4))
        for chunk in found
    ]
    kept = sorted(scored, key=lambda pair: (-pair[1], pair[0].id))[:KEEP]
    journal.note(reranked=journal.listed(kept))
    return kept


def fitting(kept: Sequence[tuple[Chunk, float]], *, is_tight: bool) -> list[Chunk]:
    """The chunks that the prompt has room for."""
    return [chunk for chunk, _ in kept[: TIGHT if is_tight else KEEP]]


def _words(text: str) -> frozenset[str]:
    return frozenset(WORDS.findall(text.lower())) - COMMON
