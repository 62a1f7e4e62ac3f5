"""`ragvigil golden perturb`: a set's file in, perturbed cases out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragvigil.app.cli.main import app
from ragvigil.evaluation.case_line import case_of, line_of
from ragvigil.evaluation.case_set import read_set
from ragvigil.evaluation.perturb.corpus import Corpus
from ragvigil.evaluation.perturb.perturb_set import KINDS, perturb_set
from scorers.golden import parse_case
from tests.refund_chunks import CASE, OTHERS, REFUND

LINE = {
    "case_id": "c1",
    "question": CASE.question,
    "gold_chunk_ids": [REFUND.chunk_id],
    "gold_texts": [REFUND.text],
    "gold_answer": CASE.answer,
    "tags": ["easy"],
    "must_pass": True,
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["golden", "perturb", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    golden, corpus = tmp_path / "golden.jsonl", tmp_path / "corpus.jsonl"
    golden.write_text(json.dumps(LINE) + "\n")
    corpus.write_text(
        "".join(json.dumps({"id": chunk.chunk_id, "text": chunk.text}) + "\n" for chunk in OTHERS)
    )
    return golden, corpus


def test_every_kind_is_written_as_a_case(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "perturbed.jsonl"
    done = run(files[0], "--corpus", files[1], "--out", out)
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["perturbation"]["name"] for row in rows] == list(KINDS)
    assert {row["perturbation"]["parent"] for row in rows} == {"c1"}
    assert all(row["context"] and row["group"] == "c1" for row in rows)
    assert all(parse_case(row).question == CASE.question for row in rows)
    made = perturb_set([CASE], Corpus((REFUND, *OTHERS)), seed=0).cases
    read = read_set(out).cases  # as an evaluation reads them
    assert [case.perturbation for case in read] == [case.perturbation for case in made]
    assert [case.context for case in read] == [case.context for case in made]
    assert [case.slices for case in read] == [case.slices for case in made]


def test_slices_are_kept_and_a_perturbed_case_is_not_perturbed_again(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    golden, out = files[0], tmp_path / "perturbed.jsonl"
    golden.write_text(json.dumps(LINE | {"slices": {"language": ["de"]}}) + "\n")
    assert run(golden, "--kind", "missing_gold", "--corpus", files[1], "--out", out).exit_code == 0
    (row,) = map(json.loads, out.read_text().splitlines())
    assert row["slices"]["language"] == ["de"]
    again = run(out, "--kind", "missing_gold")
    assert (again.stdout, "is no case with an answer of its own" in again.stderr) == ("", True)


def test_what_is_not_possible_is_counted(files: tuple[Path, Path]) -> None:
    done = run(files[0], "--kind", "irrelevant_only")
    assert done.exit_code == 0
    assert "irrelevant_only: not possible for 1: the corpus has too few" in done.stderr
    assert done.stdout == ""


def test_a_wrong_line_is_named_and_the_rest_is_made(files: tuple[Path, Path]) -> None:
    with files[0].open("a") as golden:
        golden.write('{"question": ""}\nno json\n')
    done = run(files[0], "--corpus", files[1], "--kind", "injection")
    assert done.exit_code == 1
    assert f"{files[0]}:2: question: is missing or has no words" in done.stderr
    assert f"{files[0]}:3: " in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_wrong_use_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    assert run(files[0], "--kind", "upside_down").exit_code == 2
    assert run(files[0], "--out", files[0]).exit_code == 2
    assert run(tmp_path / "none.jsonl").exit_code == 2
    assert json.loads(files[0].read_text()) == LINE


def test_a_line_that_is_read_and_written_keeps_the_case() -> None:
    case = case_of(LINE, 1)
    assert case == CASE
    assert case_of(json.loads(line_of(case)), 1) == case
