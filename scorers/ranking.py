"""Ranking by golden questions: recall, precision, nDCG and reciprocal rank, a series each.

    >>> from ragvigil import Document, RagRecord
    >>> from scorers.golden import parse_case
    >>> case = parse_case({"question": "How long is it?", "gold_chunk_ids": ["a", "b"]})
    >>> chunks = tuple(Document(chunk_id=name) for name in ("x", "a", "y"))
    >>> record = RagRecord(record_id="1", trace_id="1", query="how long is it", retrieved=chunks)
    >>> [scorer([case]).score(record).value for scorer in (RecallAtK, PrecisionAtK, ReciprocalRank)]
    [0.5, 0.2, 0.5]

The numbers are those of `context_recall` (`ranking` there; the tests compare them with those of
trec_eval), at the cut-off K, about as many chunks as a prompt has; its details have the other
cut-offs. Range 0..1. A record that asks no golden question has no such score: `context_recall` says
why.

Sources: Jarvelin and Kekalainen 2002 for nDCG; trec_eval for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.context_recall import ContextRecall
from scorers.golden import Case, read_golden
from scorers.settings import ScorersSettings

K = 5


class _Ranking:
    """Scores one number of the ranking."""

    rubric: str
    number: str
    is_sparse = True

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self._recall = ContextRecall(cases)

    @classmethod
    def from_settings(cls, settings: ScorersSettings) -> Self:
        """A scorer with the cases of `[scorers] golden`. Raises BadGolden."""
        return cls(read_golden(settings.golden).values() if settings.golden else ())

    def score(self, record: RagRecord) -> Score:
        """Scores the place of the gold chunks among those retrieved."""
        recall = self._recall.score(record)
        if recall.value is None:
            return replace(recall, rubric=self.rubric, details={})
        return Score(
            rubric=self.rubric,
            value=float(str(recall.details[self.number])),
            explanation=f"{self.number}: {recall.explanation}",
            details={"matched": recall.details["matched"]},
        )


class RecallAtK(_Ranking):
    """Scores `recall_at_k`: the share of the gold chunks among the first K."""

    rubric, number = "recall_at_k", f"recall@{K}"


class PrecisionAtK(_Ranking):
    """Scores `precision_at_k`: the share of the first K that are gold chunks."""

    rubric, number = "precision_at_k", f"precision@{K}"


class Ndcg(_Ranking):
    """Scores `ndcg`: how near the first K come to the best order."""

    rubric, number = "ndcg", f"ndcg@{K}"


class ReciprocalRank(_Ranking):
    """Scores `mrr`: one over the place of the first gold chunk; its mean over answers is MRR."""

    rubric, number = "mrr", "mrr"


RANKINGS = (RecallAtK, PrecisionAtK, Ndcg, ReciprocalRank)
