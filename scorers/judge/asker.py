"""Asks a model about one record by one rubric, and returns scores or why there are none."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import structlog
from pydantic import BaseModel

from ragvigil.llm.client import Client
from ragvigil.llm.outcome import OUTAGES, Failure, Purpose, Reply
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score
from scorers.absence import first_absent
from scorers.judge import metrics
from scorers.judge.question import Question, ask_about
from scorers.judge.references import References
from scorers.judge.settings import JudgeSettings
from scorers.judge.verdicts import JUDGE, Incomplete, read_scores
from scorers.rubric import Rubric

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A judged rubric and the rubrics that are computed from its grades."""

    asked: Rubric
    derived: tuple[Rubric, ...] = ()

    def __iter__(self) -> Iterator[Rubric]:
        yield from (self.asked, *self.derived)


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricResult:
    """The scores of a family of rubrics; `is_passing` if asking again later may help."""

    scores: tuple[Score, ...]
    is_passing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks one model about records. `model` is its name in the settings.

    `most_characters` bounds a prompt. `is_fresh` bypasses the cache of replies. `strict_quotes` is
    that of `read_scores`.
    """

    client: Client
    model: str
    most_characters: int
    chance: random.Random
    references: References
    is_fresh: bool = False
    strict_quotes: bool = False

    @classmethod
    def of(
        cls,
        client: Client,
        settings: JudgeSettings,
        *,
        chance: random.Random | None = None,
        references: References | None = None,
        is_fresh: bool = False,
    ) -> Asker:
        """Asks the model of the settings, by their bounds."""
        return cls(
            client=client,
            model=settings.model,
            most_characters=settings.max_characters,
            chance=chance or random.Random(),
            references=references or References(),
            is_fresh=is_fresh,
            strict_quotes=settings.strict_quotes,
        )

    async def score(self, record: RagRecord, rubric: Rubric, purpose: Purpose) -> Score:
        """The score of one rubric; not applicable, with a reason, where there is no verdict."""
        result = await self.ask(record, Family(asked=rubric), purpose)
        return next(score for score in result.scores if score.rubric == rubric.name)

    async def ask(self, record: RagRecord, family: Family, purpose: Purpose) -> RubricResult:
        """The scores of a family of rubrics; never raises for a failure of the provider."""
        try:
            return await self._ask_family(record, family, purpose)
        except Exception as error:  # the broad except at the border with rubrics that users write
            log.exception("rubric failed", rubric=family.asked.name, trace_id=record.trace_id)
            if "PYTEST_CURRENT_TEST" in os.environ:
                raise
            return self._missing(family, "error", f"{type(error).__name__}")

    async def _ask_family(
        self, record: RagRecord, family: Family, purpose: Purpose
    ) -> RubricResult:
        rubric = family.asked
        lacks, reason = first_absent(record, rubric.needs)
        if lacks:
            return self._without(family, reason, absent=lacks)
        delimiter = f"{self.chance.getrandbits(64):016x}"
        questions = ask_about(
            record,
            rubric,
            delimiter=delimiter,
            most_characters=self.most_characters,
            reference=self.references.of(record),
        )
        if isinstance(questions, Score):
            return self._without(family, questions.explanation, label=questions.label)
        outcomes = await asyncio.gather(
            *(self._ask_one(question, purpose) for question in questions)
        )
        answers = [outcome.answer for outcome in outcomes if isinstance(outcome, Reply)]
        # A rubric without all of its parts has no score: a part does not stand for the whole.
        failed = next((outcome for outcome in outcomes if isinstance(outcome, Failure)), None)
        if failed is not None:
            result = self._missing(family, failed.kind, failed.detail)
            return replace(result, is_passing=failed.kind in OUTAGES)
        return self._read(family, questions, answers)

    async def _ask_one(self, question: Question, purpose: Purpose) -> Reply[BaseModel] | Failure:
        key = None if self.is_fresh else question.key(self.model)
        return await self.client.ask(question.prompt, question.form, purpose, key=key)

    def _read(
        self, family: Family, questions: Sequence[Question], answers: Sequence[BaseModel]
    ) -> RubricResult:
        read = read_scores(
            questions,
            answers,
            judge=self.model,
            derived=family.derived,
            strict_quotes=self.strict_quotes,
        )
        if isinstance(read, Incomplete):
            return self._missing(family, "incomplete", read.reason)
        return RubricResult(scores=read)

    def _missing(self, family: Family, kind: str, detail: str) -> RubricResult:
        reason = f"the judge gave no verdict: {detail or kind}"
        return self._without(family, reason, label=str(kind), absent=JUDGE)

    def _without(
        self, family: Family, reason: str, *, label: str = "", absent: str = ""
    ) -> RubricResult:
        return RubricResult(
            scores=tuple(
                replace(
                    Score.not_applicable(rubric.name, reason, label=label, absent=absent),
                    layer=rubric.layer,
                    scorer=self.model,
                    version=rubric.version,
                    kind=Kind.JUDGE,
                )
                for rubric in family
            )
        )


def count_missing(scores: Iterable[Score]) -> None:
    """Counts the verdicts that the judge was asked for and did not give."""
    for score in scores:
        if score.absent == JUDGE:
            metrics.MISSING.labels(score.rubric, score.label).inc()
