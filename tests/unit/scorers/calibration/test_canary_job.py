"""The canary is judged when it is due and when the judge changes, and shows what moved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from ragvigil.store.engine.store import Store
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.scores import canary
from scorers.calibration.canary_job import CanaryJob
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics
from tests.content_judge import ContentJudge
from tests.judged import keep_judged, verdict
from tests.llm_server import LlmServer, serving
from tests.outcomes import NOW
from tests.patience import PATIENCE_SECONDS

FACTS = {
    name: RubricFacts(version=rubric.version, fails_below=rubric.fails_below)
    for name, rubric in load_rubrics().items()
}
MODEL = "openai:m"


@dataclass(kw_only=True)
class Canary:
    """A job with a clock, its store and the server that its judge asks."""

    store: Store
    server: LlmServer
    judge_job: JudgeJob
    now: float = NOW / 1e9 + 60

    def run(self, *, facts: dict[str, RubricFacts] | None = None, every_hours: float = 6) -> bool:
        return CanaryJob(
            self.store,
            self.judge_job,
            facts or FACTS,
            model=MODEL,
            every_hours=every_hours,
            clock=lambda: self.now,
        ).run()


@pytest.fixture
def rig(store: Store, tmp_path: Path) -> Iterator[Canary]:
    with serving(ContentJudge().answer) as server:
        settings = JudgeSettings(
            model=MODEL, base_url=server.openai, rubrics=("answer_relevance",), retries=0
        )
        judge_job = JudgeJob(settings, store, tmp_path, {}, None, lambda _: None)
        judge_job.start()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while judge_job._loop is None and time.monotonic() < deadline:
            time.sleep(0.01)
        yield Canary(store=store, server=server, judge_job=judge_job)
        judge_job.stop()


def keep(store: Store, count: int) -> None:
    values = {
        number: [verdict(number % 5 / 4, rubric="answer_relevance")]
        for number in range(1, count + 1)
    }
    keep_judged(store, values)


def moved() -> float | None:
    return REGISTRY.get_sample_value("ragvigil_judge_moved", {"rubric": "answer_relevance"})


def test_with_little_judged_there_is_no_canary_yet(rig: Canary) -> None:
    keep(rig.store, 5)
    assert not rig.run()
    assert rig.server.calls == []


def test_it_is_judged_at_once_and_again_after_the_hours(rig: Canary) -> None:
    keep(rig.store, 75)
    assert rig.run()
    calls = len(rig.server.calls)
    chosen = canary.current(rig.store)
    assert chosen is not None
    assert calls == len(chosen.members) > 30
    assert not rig.run()
    rig.now += 6 * 3600
    assert rig.run()
    assert len(rig.server.calls) == 2 * calls  # replies of an earlier run are not reused
    assert moved() == 0


def test_a_change_of_the_judge_has_it_judged_at_once(rig: Canary) -> None:
    keep(rig.store, 75)
    assert rig.run()
    changed = replace(FACTS["answer_relevance"], version="99")
    assert rig.run(facts=FACTS | {"answer_relevance": changed})


def test_a_milder_judge_is_reported(rig: Canary) -> None:
    keep(rig.store, 75)
    assert rig.run()
    rig.server.judge = lambda prompt: (
        ContentJudge().answer(prompt).replace('"grade": 1', '"grade": 5')
    )
    rig.now += 6 * 3600
    assert rig.run()
    chosen = canary.current(rig.store)
    assert chosen is not None
    runs = canary.runs(rig.store, chosen.set_id)
    means = [sum(score.value or 0.0 for score in run) / len(run) for run in runs]
    assert means[1] > means[0]
    assert moved() == 1


def test_with_0_hours_or_no_judge_it_never_runs(rig: Canary, tmp_path: Path) -> None:
    keep(rig.store, 75)
    assert not rig.run(every_hours=0)
    off = JudgeJob(JudgeSettings(), rig.store, tmp_path, {}, None, lambda _: None)
    assert not replace(rig, judge_job=off).run()
