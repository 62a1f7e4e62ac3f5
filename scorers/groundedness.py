"""Groundedness, by a small local model: does the context support every sentence of the answer?

    >>> from ragvigil import Document, RagRecord
    >>> chunk = Document(chunk_id="a", content="Card refunds take 5 to 7 business days to appear.")
    >>> answer = "Card refunds take 5 to 7 business days. Gold members may phone Ms Adler in Oslo."
    >>> record = RagRecord(record_id="1", trace_id="1", context=(chunk,), answer=answer)
    >>> score = LocalGroundedness().score(record)
    >>> score.label, [row["chunk_id"] for row in score.details["sentences"]]
    ('unsupported', ['a', None])

Each sentence is compared with the context (`grounding/evidence.py`); boosted trees estimate the
probability that it is supported (`models/groundedness.md`). The value is the mean of the two lowest
probabilities: near 1 where the context supports the whole answer. Range 0..1. The comparison is
lexical: it mostly misses a fact that was swapped for another one in the context. Kind `model`; runs
on every record, without an API.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Kind, Score
from scorers.grounding.claims import MOST
from scorers.grounding.features import AnswerFeatures, measure
from scorers.grounding.model import Model, answer_value, shipped_model
from scorers.text.stance import classify

UNREAD = f"only its first {MOST:,} sentences were read"


class LocalGroundedness:
    """Scores `groundedness` with the shipped model, or with the given one."""

    rubric = "groundedness"
    kind = Kind.MODEL

    def __init__(self, model: Model | None = None) -> None:
        self._model = model or shipped_model()

    def score(self, record: RagRecord) -> Score:
        """Scores how well the context supports the weakest sentences of the answer."""
        if not record.answer or not record.answer.strip():
            return Score.not_applicable(self.rubric, "there is no answer")
        chunks = [chunk for chunk in record.context if chunk.content and chunk.content.strip()]
        if not chunks:
            return Score.not_applicable(self.rubric, "no text reached the prompt")
        if classify(record.answer).label == "refused":
            return Score.not_applicable(self.rubric, "the answer refused")
        contents = [chunk.content or "" for chunk in chunks]
        measured = measure(record.answer, record.query or "", contents, self._model.weights)
        if not measured.rows:
            reason = "the answer has no words"
            return Score.not_applicable(
                self.rubric, reason if measured.is_whole else f"{reason}; {UNREAD}"
            )
        return self._scored(measured, chunks)

    def _scored(self, measured: AnswerFeatures, chunks: Sequence[Document]) -> Score:
        probabilities = self._model.probabilities(measured.rows)
        sentences = [
            {
                "start": claim.start,
                "end": claim.end,
                "supported": chance,
                "chunk_id": chunks[place].chunk_id if place >= 0 else None,
            }
            for claim, chance, place in zip(
                measured.claims, probabilities, measured.chunks, strict=True
            )
        ]
        unsupported = sum(chance < self._model.threshold for chance in probabilities)
        return Score(
            rubric=self.rubric,
            value=answer_value(probabilities),
            label="unsupported" if unsupported else "",
            explanation=_explanation(unsupported, measured),
            kind=Kind.MODEL,
            version=self._model.version,
            details={"sentences": sentences},
        )


def _explanation(unsupported: int, measured: AnswerFeatures) -> str:
    said = f"{unsupported} of {len(measured.claims)} sentences unsupported"
    return said if measured.is_whole else f"{said}; {UNREAD}"
