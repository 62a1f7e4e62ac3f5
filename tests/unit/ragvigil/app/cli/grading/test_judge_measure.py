"""A judge measured on labelled sets: what is read, what is asked, what the figures are."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from ragvigil.app.cli.grading.judge_measure import Judgement, figures_of, measure
from ragvigil.app.cli.grading.labelled_sets import read_sets
from ragvigil.app.settings import Settings
from scorers.judge.settings import JudgeSettings
from tests.content_judge import ContentJudge
from tests.llm_server import Fault, LlmServer

CHUNKS = [{"id": "a", "text": "Card refunds take 5 to 7 business days. No fee is charged."}]
RIGHT = "Card refunds take 5 to 7 business days."
WRONG = "Our founder likes purple giraffes and yellow trains."


def line(number: int, *, is_right: bool, **fields: object) -> str:
    answer = RIGHT if is_right else WRONG
    row = {"id": f"r{number}", "question": f"How long, {number}?", "chunks": CHUNKS}
    return json.dumps({**row, "answer": answer, "hallucinated": not is_right, **fields})


def settings_of(server: LlmServer) -> Settings:
    judge = JudgeSettings(
        model="openai:judge",
        base_url=server.openai,
        retries=0,
        prices={"openai:judge": {"input": 1.0, "output": 2.0}},
    )
    return Settings(judge=judge)


async def measured(
    server: LlmServer, folder: Path, capsys: pytest.CaptureFixture[str], rubric: str = ""
) -> tuple[int, str, str]:
    def run() -> int:
        return measure(settings_of(server), folder, rubric=rubric, rows=20, as_json=True)

    status = await asyncio.to_thread(run)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [line(number, is_right=number % 2 == 0) for number in range(12)]
    with gzip.open(tmp_path / "public.jsonl.gz", "wt", encoding="utf-8") as out:
        out.write("\n".join(lines))
    return tmp_path


async def test_a_judge_that_reads_is_measured_with_its_cost(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with LlmServer(ContentJudge().answer) as server:
        status, out, _ = await measured(server, folder, capsys)
    (found,) = json.loads(out)["measures"]
    assert status == 0
    assert (found["set"], found["rubric"], found["n"]) == ("public", "groundedness", 12)
    assert found["auroc"]["value"] == 1
    assert found["auroc"]["low"] < 0.95  # twelve answers prove little
    assert found["kappa"]["value"] == 1
    assert found["tokens"] > 0
    assert found["usd"] > 0


async def test_what_the_judge_did_not_say_is_missing_and_no_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with LlmServer(ContentJudge().answer) as server:
        server.every = Fault(text="no JSON")
        status, out, _ = await measured(server, folder, capsys)
    (found,) = json.loads(out)["measures"]
    assert status == 1
    assert (found["n"], found["missing"], found["auroc"]) == (0, 12, None)
    assert "no verdict" in found["why_missing"]


async def test_nothing_to_measure_is_one_sentence_and_asks_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with LlmServer(ContentJudge().answer) as server:
        status, _, err = await measured(server, tmp_path, capsys)
        assert (status, server.calls) == (2, [])
        assert "no line has a label by " in err
        status, _, err = await measured(server, tmp_path, capsys, rubric="citation_validity")
        assert status == 2
        assert err.startswith("citation_validity is no rubric that a judge scores")
        status, _, err = await measured(server, tmp_path / "none", capsys)
        assert "cannot be read" in err


def test_lines_have_labels_by_rubric_and_bad_ones_are_named(tmp_path: Path) -> None:
    lines = [
        line(1, is_right=True, labels={"completeness": 0.5, "groundedness": False}),
        line(2, is_right=True, labels={"completeness": 3}),
        line(3, is_right=True, hallucinated=None, supported=True, group="g"),
        "{",
        json.dumps({"question": "no label"}),
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "readme.md").write_text("no set")
    (found,) = read_sets(tmp_path)
    labels = {answer.record.record_id: answer.labels for answer in found.answers}
    assert labels == {
        "r1": {"groundedness": 0.0, "completeness": 0.5},
        "r3": {"groundedness": 1.0},
    }
    assert [line.partition(": is")[0].partition(": the")[0] for line in found.refused] == [
        "own.jsonl: line 2",
        "own.jsonl: line 4",
    ]


def test_rows_of_one_group_are_one_voice() -> None:
    def judgements(groups: int) -> list[Judgement]:
        return [
            Judgement(
                group=str(number % groups),
                label=float(number % 3 > 0),
                judged=float(number % 7 in (1, 2, 4)),
            )
            for number in range(210)
        ]

    alone = figures_of("s", "r", judgements(210), 0.5).auroc
    together = figures_of("s", "r", judgements(21), 0.5).auroc
    assert alone is not None
    assert together is not None
    assert alone.value == together.value
    assert together.high - together.low != alone.high - alone.low
    assert figures_of("s", "r", [], 0.5).auroc is None
