"""Runs a golden case: against the service if its URL is set, else on its stored trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from clustering.golden.case import as_json
from clustering.golden.settings import TargetSettings
from clustering.golden.verbs import Refused
from clustering.golden.verdict import Verdict, verdict
from ragvigil.app.golden.trace import NotStored, judged_scores, record_form
from ragvigil.evaluation.target.reply import NoAnswer, record_of
from ragvigil.evaluation.target.url import ask
from ragvigil.model.golden import CaseRun, GoldenCase
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.store.engine.store import Store
from ragvigil.store.scores.judged import record_of as stored_record
from scorers.context_recall import ContextRecall
from scorers.golden import parse_case, question_key
from scorers.runner import Runner

TARGET, STORED = "target", "stored"
MOST_ANSWER = 10_000

Judge = Callable[[RagRecord], Sequence[Score]]
"""Scores a fresh answer; no scores without a judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The store, service, scorers and judge that a case is run with."""

    store: Store
    target: TargetSettings
    runner: Runner
    judge: Judge = lambda _: ()


def run_case(case: GoldenCase, trial: Trial, now: int) -> CaseRun:
    """Runs a case; `now` is in nanoseconds. A run that failed has `is_pass` None and says why.

    Raises StoreError where the stored trace is needed and the store does not answer.
    """
    run = CaseRun(
        case_id=case.case_id,
        time_unix_nano=now,
        against=TARGET if trial.target.url else STORED,
        is_pass=None,
    )
    try:
        record, more = _fresh(case, trial) if trial.target.url else _stored(case, trial)
    except (NoAnswer, NotStored, Refused) as error:
        return replace(run, why=str(error))
    result = judged(case, record, more, trial.runner)
    answer = (record.answer or "")[:MOST_ANSWER]
    return replace(run, is_pass=result.is_pass, why=result.why, answer=answer)


def judged(case: GoldenCase, record: RagRecord, more: Sequence[Score], runner: Runner) -> Verdict:
    """The verdict on a record, from code's scores and `more` scores by judges."""
    recall = Runner([ContextRecall([parse_case(as_json(case))])]).score_all(record)
    own = [score for score in runner.score_all(record) if score.rubric != ContextRecall.rubric]
    return verdict(case, record, [*own, *recall, *more], runner.fails_below, question_key)


def _fresh(case: GoldenCase, trial: Trial) -> tuple[RagRecord, Sequence[Score]]:
    record = record_of(case, ask(case, trial.target), trial.target)
    return record, trial.judge(record)


def _stored(case: GoldenCase, trial: Trial) -> tuple[RagRecord, Sequence[Score]]:
    """The stored record with the case's question: the question may have been edited since."""
    if not case.trace_id:
        raise NotStored("the case came from no trace, and [golden.target] url is not set")
    form = record_form(trial.store, case.trace_id, case.record_id)
    return replace(stored_record(form), query=case.question), judged_scores(form)
