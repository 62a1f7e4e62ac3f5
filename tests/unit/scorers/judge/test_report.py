"""What the judge says about itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragvigil.llm.client import open_client
from scorers.judge.pace import Thinning
from scorers.judge.report import JudgeReport
from scorers.judge.settings import JudgeSettings


def report(folder: Path, thinning: Thinning, *, waiting: int = 0) -> JudgeReport:
    settings = JudgeSettings(model="openai:m", base_url="http://127.0.0.1:9")
    client = open_client(settings, folder)
    return JudgeReport(
        settings=settings,
        waiting=waiting,
        health=client.health,
        budget=client.budget,
        quotes=None,
        thinning=thinning,
    )


def test_a_judge_that_keeps_up_says_nothing(tmp_path: Path) -> None:
    assert report(tmp_path, Thinning()).lines() == []


def test_a_judge_that_cannot_keep_up_says_so_and_not_that_its_budget_is_small(
    tmp_path: Path,
) -> None:
    slow = report(tmp_path, Thinning(pace=0.25), waiting=4_800)
    line, _ = slow.lines()
    assert line == (
        "the judge cannot keep up with its sample: 4,800 answers wait, and it gets 25%; "
        "a higher [judge] concurrency may help"
    )
    assert slow.status()["thinning"] == 0.25


@pytest.mark.parametrize("pace", [1.0, 0.9])
def test_a_small_budget_is_told_as_such(tmp_path: Path, pace: float) -> None:
    poor = report(tmp_path, Thinning(budget=0.25, pace=pace))
    line, _ = poor.lines()
    assert "budget is too small: 25% of the sample" in line
    assert poor.status()["thinning_by_pace"] == pace
