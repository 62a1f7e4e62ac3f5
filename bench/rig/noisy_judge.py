"""A judge without a model: it goes through the rubrics' real questions and readings, and errs.

Every derived score is computed by the real code. A share of the verdicts is another grade of the
scale, drawn by the answer's id, so that a rerun errs in the same places.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.rig.truth_service import chance
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.judge.job import families
from scorers.judge.material import Item, Reference
from scorers.judge.question import Question, ask_about
from scorers.judge.verdicts import Incomplete, read_scores
from scorers.judge_table import NO_FAILURE, Grade, QuoteFrom
from scorers.rubric import Rubric, load_rubrics

if TYPE_CHECKING:
    from ragvigil.llm.client import Client

NAME = "openai:labels"
DELIMITER = "5c1e0f7a9b3d2468"
MOST_CHARACTERS = 60_000
QUOTED_WORDS = 6
ENDING = {"failure_type": NO_FAILURE, "failure_mode": ""}


@dataclass(frozen=True, kw_only=True)
class NoisyJudge(ABC):
    """See `JudgeAccess`. A subclass says what it thinks; this class makes it err."""

    noise: float = 0.1
    reason: str = ""
    model_settings: LlmSettings | None = None

    @abstractmethod
    def reply(self, question: Question) -> dict[str, Any]:
        """The reply to a question, in the question's form, its verdicts by `verdict`."""
        ...

    def reference(self, record: RagRecord) -> Reference:  # noqa: ARG002
        """What is known of the right answer: nothing."""
        return Reference()

    def judge_now(
        self,
        records: Sequence[RagRecord],
        purpose: Purpose,  # noqa: ARG002
        rubrics: Sequence[str] = (),
    ) -> list[tuple[Score, ...]]:
        """Scores of each record by these rubrics, and those derived from them."""
        return [self.scores(record, rubrics) for record in records]

    def with_client(  # noqa: B027
        self, asks: Callable[[Client], Coroutine[Any, Any, Any]]
    ) -> None:
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

    def verdict(self, question: Question, item: Item, grade: Grade) -> dict[str, Any]:
        """The verdict on an item with this grade, or in error with another one."""
        table = question.table
        name = (question.record.trace_id, question.rubric.name, item.name)
        if chance("noise", *name) < self.noise:
            valued = [other for other in table.grades if other.value is not None]
            others = [other for other in valued if other != grade]
            grade = others[int(chance("grade", *name) * len(others))]
        verdict: dict[str, Any] = {"grade": int(grade.name) if table.is_numeric else grade.name}
        if table.quote_from is not None:
            verdict["quote"] = _quote(question, item, grade)
        return verdict | ({"reason": ""} if table.reasons else {})

    def _family(
        self, record: RagRecord, rubric: Rubric, derived: Sequence[Rubric]
    ) -> tuple[Score, ...]:
        questions = ask_about(
            record,
            rubric,
            delimiter=DELIMITER,
            most_characters=MOST_CHARACTERS,
            reference=self.reference(record),
        )
        if isinstance(questions, Score):
            return (questions,)
        replies = [
            question.form.model_validate(self.reply(question) | ENDING) for question in questions
        ]
        read = read_scores(questions, replies, judge=NAME, derived=derived)
        return () if isinstance(read, Incomplete) else read


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
