"""Examples for a judge, chosen from labels: kappa before and after, on labels it had not seen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ragvigil.app.cli.grading.judge_shots import align_by_examples
from ragvigil.app.settings import Settings
from ragvigil.evaluation.judging.examples import (
    INTRODUCTION,
    Example,
    chosen,
    instruction,
    with_examples,
)
from ragvigil.model.record import RagRecord
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics
from tests.content_judge import ContentJudge
from tests.llm_server import LlmServer
from tests.unit.ragvigil.app.cli.grading.test_judge_measure import line

ANSWERS = 40


class Pupil:
    """A judge that fails every third answer whatever it says, until it has seen examples."""

    def __init__(self, *, learns: bool) -> None:
        self._reader, self._learns = ContentJudge(), learns
        self.shown: list[str] = []

    def answer(self, prompt: str) -> str:
        said = self._reader.answer(prompt)
        if INTRODUCTION in prompt:
            self.shown.append(prompt)
        if (INTRODUCTION in prompt) is self._learns:
            return said
        reply = json.loads(said)
        if any(f"How long, {number}?" in prompt for number in range(0, ANSWERS, 3)):
            for verdict in reply["verdicts"].values():
                verdict |= {"grade": "unsupported", "quote": ""}
        return json.dumps(reply)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [line(number, is_right=number % 2 == 0) for number in range(ANSWERS)]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines))
    return tmp_path


async def aligned(
    judge: Pupil, folder: Path, capsys: pytest.CaptureFixture[str], rows: int = 200
) -> tuple[int, str, str]:
    async with LlmServer(judge.answer) as server:
        settings = Settings(
            judge=JudgeSettings(model="openai:judge", base_url=server.openai, retries=0)
        )

        def run() -> int:
            return align_by_examples(
                settings, folder, rubric="groundedness", rows=rows, shots=4,
                out=folder / "examples.txt", as_json=False,
            )  # fmt: skip

        status = await asyncio.to_thread(run)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


async def test_examples_that_help_are_written_with_kappa_on_unseen_labels(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = Pupil(learns=True)
    status, out, _ = await aligned(judge, folder, capsys)
    assert status == 0
    assert "with 4 examples: kappa 1.00" in out
    assert "they help" in out
    text = (folder / "examples.txt").read_text()
    assert text.startswith(INTRODUCTION)
    assert text.count('"people"') == 4
    for prompt in judge.shown:  # the answer that is judged is none of its own examples
        data, _, after = prompt.partition(INTRODUCTION)
        asked = data.rpartition("How long, ")[2].partition("?")[0]
        assert f"How long, {asked}?" not in after


async def test_examples_that_do_not_help_are_not_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = await aligned(Pupil(learns=False), folder, capsys)
    assert status == 0
    assert "they do not help beyond chance" in out
    assert (folder / "examples.txt").read_text() == ""


async def test_too_few_labels_ask_nobody(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = Pupil(learns=True)
    status, _, err = await aligned(judge, folder, capsys, rows=20)
    assert (status, judge.shown) == (2, [])
    assert "no rubric has 30 labels of true or false, 8 of each" in err


def example(number: int, label: float, judged: float, group: str = "") -> Example:
    record = RagRecord(record_id="r", trace_id=f"t{number}", query=f"Q{number}", answer="A\n```\nB")
    return Example(record=record, group=group or f"g{number}", label=label, judged=judged)


def test_the_widest_disagreements_of_each_kind_come_first_one_of_a_question() -> None:
    pool = [
        example(1, 1.0, 1.0), example(2, 1.0, 0.2), example(3, 1.0, 0.1, group="same"),
        example(4, 0.0, 0.9, group="same"), example(5, 0.0, 0.0), example(6, 0.0, 0.4),
    ]  # fmt: skip
    assert {each.record.query for each in chosen(pool, 4)} == {"Q4", "Q6", "Q2", "Q1"}


def test_texts_of_examples_are_one_line_of_data_and_make_a_version() -> None:
    plain = load_rubrics()["groundedness"]
    taught = with_examples(plain, [example(1, 1.0, 0.0)])
    assert taught.judge is not None
    assert plain.judge is not None
    assert taught.judge.instruction.startswith(plain.judge.instruction)
    assert "\n" not in instruction([example(1, 1.0, 0.0)])
    assert taught.version.startswith(f"{plain.version}+")
    assert with_examples(plain, []) == plain
