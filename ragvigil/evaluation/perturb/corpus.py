"""Chunks to choose from: those that are most like a question and do not answer it (BM25)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ragvigil.evaluation.case import Case
from scorers.context_recall import is_same_text
from scorers.golden import Gold
from scorers.text.normalise import words
from scorers.text.tokens import tokens

CANDIDATES = 50
"""Best matches among which those that do not answer are looked for."""
BEARS = 0.5
"""A chunk with so large a share of the answer's own words may answer: it is no negative."""
OWN_LENGTH = 3
"""Letters of the shortest word that counts as one of the answer's own; numbers always do."""


class Corpus:
    """A search index of chunks; the first of several with one text counts."""

    def __init__(self, chunks: Iterable[Gold]) -> None:
        by_text = {chunk.text.strip(): chunk for chunk in reversed([*chunks]) if chunk.text.strip()}
        self._chunks = [*reversed(by_text.values())]
        self._by_id = {chunk.chunk_id: chunk for chunk in self._chunks if chunk.chunk_id}
        self._index = _indexed([tokens(chunk.text) for chunk in self._chunks])

    def __len__(self) -> int:
        return len(self._chunks)

    def with_text(self, chunk: Gold, context: Sequence[Gold]) -> Gold:
        """The chunk with its text, from the context or from here; as it is where none has it."""
        if chunk.text:
            return chunk
        same = (each for each in context if each.chunk_id == chunk.chunk_id and each.text)
        return next(same, None) or self._by_id.get(chunk.chunk_id, chunk)

    def negatives(
        self, case: Case, gold: Sequence[Gold], *, most: int, without: Sequence[Gold] = ()
    ) -> tuple[Gold, ...]:
        """Up to `most` chunks that share words with the question and do not answer it, best first.

        A chunk that is gold, or that has half of the answer's own words, is left out.
        """
        barred = [*gold, *without]
        chosen: list[Gold] = []
        for chunk in self._like(case.question):
            if len(chosen) == most:
                break
            if not any(is_same_chunk(each, chunk) for each in (*barred, *chosen)) and not bears(
                case, chunk.text
            ):
                chosen.append(chunk)
        return tuple(chosen)

    def like(self, text: str, most: int) -> list[Gold]:
        """Up to `most` chunks that share words with a text, the most alike first."""
        return list(islice(self._like(text), most))

    def _like(self, question: str) -> Iterator[Gold]:
        known = [] if self._index is None else self._index.vocab_dict
        asked = [word for word in tokens(question) if word in known]
        if self._index is None or not asked:
            return
        places, scores = self._index.retrieve(
            [asked],
            k=min(CANDIDATES, len(self._chunks)),
            show_progress=False,
            backend_selection="numpy",
        )
        for place, score in zip(places[0].tolist(), scores[0].tolist(), strict=True):
            if score > 0:
                yield self._chunks[place]


def is_same_chunk(chunk: Gold, other: Gold) -> bool:
    """Whether two chunks have one id, or nearly one text."""
    if chunk.chunk_id and chunk.chunk_id == other.chunk_id:
        return True
    return is_same_text(words(chunk.text), words(other.text))


def own_words(case: Case) -> frozenset[str]:
    """The words of the expected answer that the question lacks: those that an answer adds."""
    facts = " ".join(fact.text for fact in case.facts)
    asked = set(words(case.question))
    return frozenset(
        word
        for word in words(f"{case.answer} {facts}")
        if word not in asked and (len(word) >= OWN_LENGTH or word[-1].isdigit() or word > "\u0dff")
    )


def bears(case: Case, text: str) -> bool:
    """Whether a text may answer the case: it has half of the words that an answer adds."""
    own = own_words(case)
    return bool(own) and len(own.intersection(words(text))) >= BEARS * len(own)


def _indexed(texts: Sequence[Sequence[str]]) -> Any:
    """A BM25 index; None without any word."""
    if not any(texts):
        return None
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index([list(text) for text in texts], show_progress=False)
    return index
