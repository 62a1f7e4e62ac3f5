"""A judge that knows the labels: it answers each question of a rubric from what is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.rig.noisy_judge import NoisyJudge
from bench.rig.truth_service import Response, chance
from ragvigil.model.record import RagRecord
from scorers.judge.material import Item, Reference
from scorers.judge.question import Question
from scorers.judge_table import About, Grade
from scorers.text.normalise import words


@dataclass(frozen=True, kw_only=True)
class LabelJudge(NoisyJudge):
    """`truth_of` finds what the service did by a record's trace id."""

    truth_of: Callable[[str], Response]

    def reference(self, record: RagRecord) -> Reference:
        """The right answer."""
        told = self.truth_of(record.trace_id).question.sentences
        return Reference(answer=" ".join(sentence.text for sentence in told))

    def reply(self, question: Question) -> dict[str, Any]:
        """What is true of each item; the sentences of the right answer are the nuggets."""
        truth = self.truth_of(question.record.trace_id)
        if question.items:
            return {
                "verdicts": {
                    item.name: self._by(question, item, _goodness(question, item, truth))
                    for item in question.items
                }
            }
        nuggets = [
            {"nugget": sentence.text, "importance": "vital"}
            | self._by(
                question,
                Item(name=f"n{place}", text=sentence.text),
                float(_is_said(sentence.text, truth.text)),
            )
            for place, sentence in enumerate(truth.question.sentences)
        ]
        distinct = {tuple(words(nugget["nugget"])): nugget for nugget in nuggets}
        return {"nuggets": list(distinct.values())}

    def _by(self, question: Question, item: Item, goodness: float) -> dict[str, Any]:
        return self.verdict(question, item, _nearest(question, goodness))


def _nearest(question: Question, goodness: float) -> Grade:
    valued = [grade for grade in question.table.grades if grade.value is not None]
    return min(valued, key=lambda grade: abs((grade.value or 0.0) - goodness))


def _goodness(question: Question, item: Item, truth: Response) -> float:
    """How good the thing that is asked about is, 0..1."""
    about = question.table.about
    if about is About.CHUNKS:
        return _chunk_grade(truth, item.chunk_id)
    if about is About.CLAIMS:
        part = next((part for part in truth.parts if _is_said(item.text, part.text)), None)
        if question.rubric.name == "factual_accuracy":
            return float(part is None or part.is_true)
        return float(part is None or part.is_supported)
    if about is About.CITATIONS:
        own = {sentence.text: sentence.chunk_id for sentence in truth.question.sentences}
        named = item.chunk_id.split("/")[0]
        return float(
            any(_is_said(item.text, text) and chunk == named for text, chunk in own.items())
        )
    if about is About.NUGGETS:
        return float(_is_said(item.text, truth.text))
    return truth.quality


def _chunk_grade(truth: Response, chunk_id: str) -> float:
    """By the label: what answers is 2 or 3 of 3, the rest of its document 1 or 2."""
    chunks = {hit.chunk.chunk_id: hit.chunk for hit in (*truth.retrieved, *truth.kept)}
    drawn = chance("grade of a chunk", truth.question.number, chunk_id)
    chunk = chunks.get(chunk_id)
    if chunk is None:
        return 0.0
    if truth.question.answered_by(chunk):
        return 1.0 if drawn < 0.7 else 2 / 3
    if chunk.document_id in truth.question.documents:
        return 2 / 3 if drawn < 0.5 else 1 / 3
    return 1 / 3 if drawn < 0.25 else 0.0


def _is_said(text: str, whole: str) -> bool:
    """Whether a text says what another says, by its words."""
    own = set(words(text))
    return bool(own) and len(own & set(words(whole))) / len(own) >= 0.8
