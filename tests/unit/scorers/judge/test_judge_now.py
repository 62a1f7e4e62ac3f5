"""Records judged at once, by all configured rubrics or by named ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from alerts.audits.step import BUDGET
from ragvigil.llm.outcome import Purpose
from ragvigil.store.engine.store import Store
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from tests.content_judge import ContentJudge
from tests.llm_server import LlmServer, serving
from tests.outcomes import outcome_of
from tests.patience import PATIENCE_SECONDS

RECORDS = [outcome_of(number).records[0].record for number in (1, 2)]


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serving(ContentJudge().answer) as server:
        yield server


@pytest.fixture
def daily_tokens() -> int | None:
    return None


@pytest.fixture
def judge_job(
    store: Store, server: LlmServer, tmp_path: Path, daily_tokens: int | None
) -> Iterator[JudgeJob]:
    settings = JudgeSettings(
        model="openai:m",
        base_url=server.openai,
        rubrics=("answer_relevance", "context_relevance"),
        retries=0,
        daily_tokens=daily_tokens,
    )
    judge_job = JudgeJob(settings, store, tmp_path, {}, None, lambda _: None)
    judge_job.start()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while judge_job._judge is None and time.monotonic() < deadline:
        time.sleep(0.01)
    yield judge_job
    judge_job.stop()


def rubrics_of(judge_job: JudgeJob, *rubrics: str) -> list[set[str]]:
    scores_by_record = judge_job.judge_now(RECORDS, Purpose.AUDIT, rubrics)
    assert scores_by_record is not None
    return [{score.rubric for score in scores} for scores in scores_by_record]


def test_all_configured_rubrics_are_asked_by_default(judge_job: JudgeJob) -> None:
    (first, second) = rubrics_of(judge_job)
    assert first == second
    assert {"answer_relevance", "context_relevance"} <= first


def test_only_the_named_ones_are_asked_and_paid_for(judge_job: JudgeJob, server: LlmServer) -> None:
    assert rubrics_of(judge_job, "answer_relevance") == [{"answer_relevance"}] * 2
    assert len(server.calls) == len(RECORDS)


def test_a_rubric_that_is_not_configured_is_not_asked(
    judge_job: JudgeJob, server: LlmServer
) -> None:
    assert rubrics_of(judge_job, "completeness") == [set(), set()]
    assert server.calls == []


@pytest.mark.parametrize("daily_tokens", [10])
def test_without_budget_a_score_has_no_value_and_the_label_that_ends_an_audit(
    judge_job: JudgeJob, server: LlmServer
) -> None:
    scores_by_record = judge_job.judge_now(RECORDS, Purpose.AUDIT, ("answer_relevance",))
    assert scores_by_record is not None
    results = {(score.value, score.label) for scores in scores_by_record for score in scores}
    assert results == {(None, BUDGET)}
    assert server.calls == []


def test_without_records_nothing_is_asked(judge_job: JudgeJob) -> None:
    assert judge_job.judge_now([], Purpose.AUDIT) == []
