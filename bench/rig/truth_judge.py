"""A judge that knows the labels: it answers each question of a rubric from what is true.

It goes through the rubrics' real questions and readings, so that every derived score is computed by
the real code; a tenth of its verdicts is another grade of the scale, drawn by the answer's id.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.rig.truth_service import Response, chance
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.judge.job import families
from scorers.judge.material import Item, Reference
from scorers.judge.question import Question, ask_about
from scorers.judge.verdicts import Incomplete, read_scores
from scorers.judge_table import NO_FAILURE, About, Grade, QuoteFrom
from scorers.rubric import Rubric, load_rubrics
from scorers.text.normalise import words

if TYPE_CHECKING:
    from ragvigil.llm.client import Client

NAME = "openai:labels"
DELIMITER = "5c1e0f7a9b3d2468"
MOST_CHARACTERS = 60_000
QUOTED_WORDS = 6


@dataclass(frozen=True)
class LabelJudge:
    """`truth_of` finds what the service did by a record's trace id. See `JudgeAccess`."""

    truth_of: Callable[[str], Response]
    noise: float = 0.1
    reason: str = ""
    model_settings: LlmSettings | None = None

    def judge_now(
        self,
        records: Sequence[RagRecord],
        purpose: Purpose,  # noqa: ARG002
        rubrics: Sequence[str] = (),
    ) -> list[tuple[Score, ...]]:
        """Scores of each record by these rubrics, and those derived from them."""
        return [self.scores(record, rubrics) for record in records]

    def with_client(self, asks: Callable[[Client], Coroutine[Any, Any, Any]]) -> None:
        """There is no model to ask anything else."""

    def scores(self, record: RagRecord, rubrics: Sequence[str] = ()) -> tuple[Score, ...]:
        """The scores of one record, none without rubrics."""
        every = load_rubrics()
        named = {every[name].derived_from or name for name in rubrics if name in every}
        return tuple(
            score
            for family in families(every, sorted(named))
            if named
            for score in self._family(record, family.asked, family.derived)
        )

    def _family(
        self, record: RagRecord, rubric: Rubric, derived: Sequence[Rubric]
    ) -> tuple[Score, ...]:
        truth = self.truth_of(record.trace_id)
        questions = ask_about(
            record,
            rubric,
            delimiter=DELIMITER,
            most_characters=MOST_CHARACTERS,
            reference=Reference(
                answer=" ".join(sentence.text for sentence in truth.question.sentences)
            ),
        )
        if isinstance(questions, Score):
            return (questions,)
        replies = [
            question.form.model_validate(self._reply(question, truth)) for question in questions
        ]
        read = read_scores(questions, replies, judge=NAME, derived=derived)
        return () if isinstance(read, Incomplete) else read

    def _reply(self, question: Question, truth: Response) -> dict[str, Any]:
        ending = {"failure_type": NO_FAILURE, "failure_mode": ""}
        if question.items:
            verdicts = {
                item.name: self._verdict(question, item, _goodness(question, item, truth))
                for item in question.items
            }
            return {"verdicts": verdicts, **ending}
        nuggets = [
            {"nugget": sentence.text, "importance": "vital"}
            | self._verdict(
                question,
                Item(name=f"n{place}", text=sentence.text),
                float(_is_said(sentence.text, truth.text)),
            )
            for place, sentence in enumerate(truth.question.sentences)
        ]
        distinct = {tuple(words(nugget["nugget"])): nugget for nugget in nuggets}
        return {"nuggets": list(distinct.values()), **ending}

    def _verdict(self, question: Question, item: Item, goodness: float) -> dict[str, Any]:
        table = question.table
        valued = [grade for grade in table.grades if grade.value is not None]
        grade = min(valued, key=lambda grade: abs((grade.value or 0.0) - goodness))
        name = (question.record.trace_id, question.rubric.name, item.name)
        if chance("noise", *name) < self.noise:
            others = [other for other in valued if other != grade]
            grade = others[int(chance("grade", *name) * len(others))]
        verdict: dict[str, Any] = {"grade": int(grade.name) if table.is_numeric else grade.name}
        if table.quote_from is not None:
            verdict["quote"] = _quote(question, item, grade)
        return verdict | ({"reason": ""} if table.reasons else {})


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


def _quote(question: Question, item: Item, grade: Grade) -> str:
    """Words that stand where the rubric looks for them; none where the grade needs none."""
    if not grade.quote:
        return ""
    passages = question.material.passages
    texts = {
        QuoteFrom.ITEM: [passage.text for passage in passages if passage.name == item.passage],
        QuoteFrom.CONTEXT: [passage.text for passage in passages],
        QuoteFrom.ANSWER: [question.record.answer or ""],
        QuoteFrom.REFERENCE: list(question.reference.texts),
    }[question.table.quote_from or QuoteFrom.CONTEXT]
    return next((" ".join(text.split()[:QUOTED_WORDS]) for text in texts if text.strip()), "")
