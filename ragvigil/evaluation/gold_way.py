"""How far the gold chunks of a case came: retrieved, reranked, in the prompt, and unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragvigil.model.record import Document, RagRecord
from scorers.context_recall import FEWEST, covered, matches, ranking
from scorers.golden import Gold
from scorers.text.normalise import key, words

NDCG = "ndcg@10"
EDITED = 0.5
"""A chunk that has more of a gold text's words, and not the text, is an edited version of it."""


class GoldWay:
    """Where a record has the gold chunks; what the record does not show is None."""

    def __init__(self, gold: Sequence[Gold], record: RagRecord) -> None:
        self._gold, self._record = gold, record

    @cached_property
    def is_retrieved(self) -> bool | None:
        """Whether any gold chunk was retrieved."""
        return self._has("retrieved", self._record.retrieved)

    @cached_property
    def is_reranked(self) -> bool | None:
        """Whether any is left after the reranker; None where none ran."""
        if not self._record.reranked:
            return None
        return self._has("reranked", self._record.reranked)

    @cached_property
    def is_in_context(self) -> bool | None:
        """Whether any reached the prompt."""
        return self._has("context", self._record.context)

    @cached_property
    def covered(self) -> float | None:
        """The share of the gold texts that the prompt's chunks hold; None where that is unknown.

        A chunk of the right id may hold half of what it did: the corpus was split differently.
        """
        texts = [text for gold in self._gold if len(text := words(gold.text)) >= FEWEST]
        shown = self._record.context
        if not texts or self._is_hidden("context", shown):
            return None
        contents = [words(chunk.content or "") for chunk in shown]
        shares = [max(covered(text, contents), default=0) / len(text) for text in texts]
        return sum(shares) / len(shares)

    @cached_property
    def is_unchanged(self) -> bool | None:
        """Whether the chunks of the gold ids say what they said when the case was signed.

        None where none came with its text, or where a chunk of that id is quite another one.
        """
        shown = (*self._record.retrieved, *self._record.context)
        if "values" in self._record.truncated:
            return None
        kept = [
            _is_kept(gold.text, chunk.content)
            for gold in self._gold
            for chunk in shown
            if gold.text and chunk.content and gold.chunk_id == chunk.chunk_id
        ]
        known = [each for each in kept if each is not None]
        return all(known) if known else None

    @cached_property
    def precision(self) -> float | None:
        """Mean precision at the ranks of the prompt's gold chunks; 0 where none is there."""
        if self.is_in_context is None:
            return None
        places = matches(self._gold, self._record.context)
        gold_places = sorted({place for found in places for place in found})
        shares = [(number + 1) / (place + 1) for number, place in enumerate(gold_places)]
        return sum(shares) / len(shares) if shares else 0.0

    @cached_property
    def rerank_gain(self) -> float | None:
        """nDCG@10 after the reranker minus before; None where none ran."""
        if self.is_reranked is None or self.is_retrieved is None:
            return None
        return self._ndcg(self._record.reranked) - self._ndcg(self._record.retrieved)

    def _ndcg(self, chunks: Sequence[Document]) -> float:
        return ranking(matches(self._gold, chunks))[NDCG]

    def _is_hidden(self, field: str, chunks: Sequence[Document]) -> bool:
        is_cut = field in self._record.absent or field in self._record.truncated
        return is_cut or any(chunk.content is None for chunk in chunks)

    def _has(self, field: str, chunks: Sequence[Document]) -> bool | None:
        """Whether a gold chunk is among these; unknown where ids and texts cannot be compared."""
        if not self._gold or field in self._record.absent or field in self._record.truncated:
            return None
        if any(matches(self._gold, chunks)):
            return True
        has_ids = all(chunk.chunk_id not in ("", chunk.text_hash) for chunk in chunks)
        has_texts = all(chunk.content is not None for chunk in chunks)
        is_known = all(
            (gold.chunk_id and has_ids) or (gold.text and has_texts) for gold in self._gold
        )
        return False if is_known else None


def _is_kept(gold: str, content: str) -> bool | None:
    """Whether a chunk still has its gold text, or a part of it; None for another text altogether.

    >>> _is_kept("Refunds take 5 days.", "Note: refunds take 5 days.")
    True
    >>> _is_kept("Refunds take 5 days.", "Refunds take 9 days.")
    False
    """
    before, now = words(gold), words(content)
    if key(before) in key(now) or key(now) in key(before):
        return True
    most = max(len(set(before)), len(set(now)))
    return False if len(set(before) & set(now)) > EDITED * most else None
