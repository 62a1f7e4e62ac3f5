"""The judge in an evaluation: the stand-in grades by words, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clustering.golden.settings import TargetSettings
from ragvigil.evaluation.case import Case
from ragvigil.evaluation.judging.case_judge import CaseJudge, NoJudge, judging
from ragvigil.evaluation.judging.cost import run_cost
from ragvigil.evaluation.judging.model_family import warning
from ragvigil.evaluation.target.reply import plain_paths, record_of
from ragvigil.llm.prices import Price
from ragvigil.model.score import Score
from scorers.judge.settings import JudgeSettings
from tests.content_judge import ContentJudge
from tests.llm_server import Fault, LlmServer, serving

EXPECTED = "Refunds take 5 days. They go to the card."
CASE = Case(case_id="c1", question="How long do refunds take?", answer=EXPECTED)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with serving(ContentJudge().answer) as made:
        yield made


def settings_of(server: LlmServer) -> JudgeSettings:
    return JudgeSettings(
        model="openai:stand-in",
        base_url=server.openai,
        rubrics=("answer_relevance",),
        retry_seconds=0.1,
    )


def values(judge: CaseJudge, answer: str) -> dict[str, float | None]:
    reply = {"answer": answer, "chunk_ids": ["r1"], "chunk_texts": [EXPECTED]}
    assert isinstance(plain_paths(reply), TargetSettings)
    scores = judge(CASE, record_of(CASE, reply, plain_paths(reply)))
    return {score.rubric: score.value for score in scores}


def test_equivalence_is_entailment_both_ways(server: LlmServer, tmp_path: Path) -> None:
    with judging(settings_of(server), [CASE], tmp_path) as judge:
        same = values(judge, "They go to the card. Refunds take 5 days.")
        less = values(judge, "Refunds take 5 days.")
        more = values(judge, f"{EXPECTED} Shipping within Europe costs nothing.")
    assert same["equivalence_judged"] == 1.0
    assert (less["entailed_by_expected"], less["entails_expected"]) == (1.0, 0.5)
    assert less["equivalence_judged"] == 0.5
    assert more["entails_expected"] == 1.0
    assert (more["entailed_by_expected"] or 0.0) < 1.0
    assert same["answer_relevance"] is not None


def test_what_was_judged_is_not_asked_again(server: LlmServer, tmp_path: Path) -> None:
    with judging(settings_of(server), [CASE], tmp_path) as judge:
        first = values(judge, EXPECTED)
    asked = len(server.calls)
    with judging(settings_of(server), [CASE], tmp_path) as judge:
        assert values(judge, EXPECTED) == first
        assert len(server.calls) == asked
        values(judge, "Refunds take 9 days.")
    assert len(server.calls) > asked


def test_a_verdict_that_does_not_come_is_counted_and_no_zero(
    server: LlmServer, tmp_path: Path
) -> None:
    server.every = Fault(status=401)
    with judging(settings_of(server), [CASE], tmp_path) as judge:
        found = values(judge, EXPECTED)
        assert judge.missing.total() == 3
    assert set(found.values()) == {None}


def test_without_an_expected_answer_there_is_no_equivalence(
    server: LlmServer, tmp_path: Path
) -> None:
    case = Case(case_id="c2", question=CASE.question)
    reply = {"answer": EXPECTED}
    with judging(settings_of(server), [case], tmp_path) as judge:
        scores = judge(case, record_of(case, reply, plain_paths(reply)))
    assert {score.rubric for score in scores if isinstance(score, Score)} == {"answer_relevance"}


def test_a_judge_that_cannot_be_asked_says_why(tmp_path: Path) -> None:
    with pytest.raises(NoJudge, match=r"\[judge\] model"), judging(JudgeSettings(), [], tmp_path):
        pass


def test_the_cost_is_estimated_from_the_texts_of_the_set() -> None:
    settings = JudgeSettings(model="openai:stand-in", rubrics=("groundedness", "completeness"))
    price = Price(input=1.0, output=4.0)
    one, two = run_cost([CASE], settings, price), run_cost([CASE, CASE], settings, price)
    assert (one.calls, two.calls) == (4, 8)
    assert two.dollars == pytest.approx(2 * (one.dollars or 0.0))
    assert "up to 8 calls" in two.sentence(settings.model)
    unpriced = run_cost([CASE], settings, None)
    assert "its price is not known" in unpriced.sentence(settings.model)


@pytest.mark.parametrize(
    ("judge", "model", "is_warned"),
    [
        ("openai:gpt-4o", "gpt-4o-2024-08-06", True),
        ("openai:gpt-4o-mini", "gpt-4o", True),
        ("openai:gpt-4o", "gpt-4o-mini", False),
        ("anthropic:claude-haiku-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("anthropic:claude-sonnet-4-5", "claude-3-5-haiku-20241022", False),
        ("openai:meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-70B-Instruct", True),
        ("openai:qwen2.5-72b", "qwen2.5-7b", False),
        ("openai:o3-mini", "o3", True),
        ("openai:o3", "gpt-4o", False),
        ("openai:gpt-4o", "claude-opus-4", False),
        ("openai:judge", "desk-1", False),
        ("openai:gpt-4o", "", False),
    ],
)
def test_a_judge_of_itself_or_of_a_stronger_relative_is_warned_of(
    judge: str, model: str, is_warned: bool
) -> None:
    assert bool(warning(judge, [model])) is is_warned
