"""Asks the configured judge about the answers to cases: the daemon's rubrics, and equivalence.

| value | what it says |
|---|---|
| `entails_expected` | share of the expected answer's sentences that follow from the answer |
| `entailed_by_expected` | share of the answer's sentences that follow from the expected answer |
| `equivalence_judged` | the less of both: entailment both ways |

Entailment is asked by the rubric `groundedness`, with one text in the place of the documents.
Replies are kept by the hash of everything that was shown: a second run of the same answers is free.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ragvigil.evaluation.case import Case
from ragvigil.llm.budget import Unpriced
from ragvigil.llm.client import Client, open_client
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.provider import NotConfigured
from ragvigil.model.record import ContextSource, Document, RagRecord
from ragvigil.model.score import Kind, Score
from scorers.golden import Case as KnownCase
from scorers.golden import question_key
from scorers.judge.asker import Asker, Family
from scorers.judge.job import families
from scorers.judge.references import BadSource, References, read_sources
from scorers.judge.settings import JudgeSettings
from scorers.judge.verdicts import JUDGE
from scorers.rubric import load_rubrics

ENTAILMENT = "groundedness"
FORWARD, BACKWARD, BOTH = "entailed_by_expected", "entails_expected", "equivalence_judged"
CLOSE_SECONDS = 5.0


class NoJudge(ValueError):
    """The judge cannot be asked; `str(error)` says why."""


class CaseJudge:
    """The judge's scores of an answer; blocks, and may be called from any thread."""

    def __init__(
        self,
        asker: Asker,
        asked: Sequence[Family],
        entailment: Family,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._asker, self._families, self._entailment = asker, asked, entailment
        self._loop = loop
        self._lock = threading.Lock()
        self.missing: Counter[str] = Counter()
        """Verdicts that were asked for and did not come, by the reason."""

    def __call__(self, case: Case, record: RagRecord) -> Sequence[Score]:
        """The scores by every judged rubric and of both entailments; those without a value, too."""
        asking = self._scores(case, record)
        scores = asyncio.run_coroutine_threadsafe(asking, self._loop).result()
        with self._lock:
            self.missing.update(score.label for score in scores if score.absent == JUDGE)
        return scores

    async def _scores(self, case: Case, record: RagRecord) -> list[Score]:
        # A case's facts and answer are known by its question, whatever its trace calls it.
        asked = replace(record, query=case.question)
        results, equivalence = await asyncio.gather(
            asyncio.gather(
                *(self._asker.ask(asked, family, Purpose.TRY) for family in self._families)
            ),
            self._equivalence(case, record.answer or ""),
        )
        return [*(score for result in results for score in result.scores), *equivalence]

    async def _equivalence(self, case: Case, answer: str) -> list[Score]:
        if not case.answer or not answer.strip():
            return []
        forward, backward = await asyncio.gather(
            self._entailed(case.question, answer, by=case.answer),
            self._entailed(case.question, case.answer, by=answer),
        )
        values = [score.value for score in (forward, backward) if score.value is not None]
        both = Score(
            rubric=BOTH,
            value=min(values) if len(values) == 2 else None,
            layer=forward.layer,
            kind=Kind.JUDGE,
        )
        return [replace(forward, rubric=FORWARD), replace(backward, rubric=BACKWARD), both]

    async def _entailed(self, question: str, text: str, *, by: str) -> Score:
        record = RagRecord(
            record_id="entailment",
            trace_id="",
            query=question,
            answer=text,
            context=(Document(chunk_id="1", content=by, rank=0),),
            context_source=ContextSource.DECLARED,
        )
        return (await self._asker.ask(record, self._entailment, Purpose.TRY)).scores[0]


@contextmanager
def judging(
    settings: JudgeSettings, cases: Sequence[Case], folder: Path, *, is_fresh: bool = False
) -> Iterator[CaseJudge]:
    """The judge of the settings, on a thread of its own; kept replies lie in `folder`.

    All of the day's budget is for the run: it has its own record of what was spent. Raises NoJudge.
    """
    client, references = judge_client(settings, folder), _references(settings, cases)
    rubrics = load_rubrics()
    asker = Asker.of(client, settings, references=references, is_fresh=is_fresh)
    entailment = Family(asked=rubrics[ENTAILMENT])
    with _loop() as loop:
        try:
            yield CaseJudge(asker, families(rubrics, settings.rubrics), entailment, loop)
        finally:
            asyncio.run_coroutine_threadsafe(client.close(), loop).result(CLOSE_SECONDS)


def judge_client(settings: JudgeSettings, folder: Path) -> Client:
    """Asks the judge of the settings, with all of the day's budget. Raises NoJudge."""
    if not settings.model:
        raise NoJudge("no judge is configured: [judge] model")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return open_client(settings.model_copy(update={"reserved_share": 1.0}), folder)
    except (NotConfigured, Unpriced, OSError, sqlite3.Error) as error:
        raise NoJudge(str(error)) from error


def _references(settings: JudgeSettings, cases: Sequence[Case]) -> References:
    try:
        sources = read_sources(settings.sources)
    except BadSource as error:
        raise NoJudge(str(error)) from error
    known: Mapping[str, KnownCase] = {
        question_key(case.question): KnownCase(
            question=case.question, gold=case.gold, gold_answer=case.answer, facts=case.facts
        )
        for case in cases
        if case.perturbation is None
    }
    return References(cases=known, sources=sources)


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="judge", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_SECONDS)
        loop.close()
