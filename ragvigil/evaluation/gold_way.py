"""How far the gold chunks of a case came: retrieved, reranked, in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragvigil.model.record import Document, RagRecord
from scorers.context_recall import matches, ranking
from scorers.golden import Gold

NDCG = "ndcg@10"


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
