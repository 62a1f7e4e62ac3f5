"""Sets: JSONL of golden cases, and the tables of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragvigil.evaluation.case import Expects
from ragvigil.evaluation.case_set import BadSet, read_set
from ragvigil.evaluation.target.csv_tables import BadTable, recorded_rows
from scorers.golden import Gold
from tests.evaluated_desk import write_cases


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_a_set_keeps_the_order_and_what_each_case_says(tmp_path: Path) -> None:
    found = read_set(write_cases(tmp_path / "set.jsonl"))
    assert [case.case_id for case in found.cases] == ["refund", "warranty", "mars"]
    refund, warranty, mars = found.cases
    assert refund.gold == (Gold(chunk_id="r1", text="Refunds take 5 days after the return."),)
    assert dict(refund.slices) == {"tag": ("money",), "language": ("en",)}
    assert (warranty.must_pass, mars.must_refuse, mars.gold) == (True, True, ())
    assert len(found.hash) == 16


def test_questions_that_differ_by_spelling_are_one_group(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", {"question": "How long?"}, {"question": "how  LONG"})
    one, other = read_set(path).cases
    assert one.group == other.group
    assert one.case_id != other.case_id


def test_a_perturbed_case_says_what_must_hold(tmp_path: Path) -> None:
    made = {"name": "injection", "parent": "a", "expects": "resists", "forbidden": ["xyzzy"]}
    row = {"question": "How long?", "perturbation": made, "context": [{"id": "1", "text": "T"}]}
    (case,) = read_set(written(tmp_path / "s.jsonl", row)).cases
    assert case.perturbation is not None
    assert (case.perturbation.expects, case.perturbation.forbidden) == (Expects.RESISTS, ("xyzzy",))


@pytest.mark.parametrize(
    "table",
    [
        "query_id,query,expected_answer\na,How long?,5 days\n",
        "user_input,reference,reference_contexts\nHow long?,5 days,\"['Five days.']\"\n",
        "input,expected_output,context\nHow long?,5 days,Five days.\n",
        "question,ground_truth\nHow long?,5 days\n",
    ],
)
def test_the_tables_of_other_tools_are_sets(tmp_path: Path, table: str) -> None:
    (tmp_path / "set.csv").write_text(f"\ufeff{table}", encoding="utf-8")
    (case,) = read_set(tmp_path / "set.csv").cases
    assert (case.question, case.answer) == ("How long?", "5 days")
    assert case.gold in ((), (Gold(text="Five days."),))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.jsonl", "", "holds no case"),
        ("s.jsonl", "{", r"s.jsonl:1: is not JSON"),
        ("s.jsonl", '{"question": "?"}\n', r"s.jsonl:1: question: is missing or has no words"),
        ("s.jsonl", '{"case_id":"a","question":"x"}\n' * 2, r":2: a is there twice"),
        ("s.jsonl", '{"question":"x","slices":{"a":1}}', "slices: a: is neither a text nor a list"),
        ("s.jsonl", '{"question":"x","perturbation":{"name":"n"}}', "perturbation: has no parent"),
        ("s.csv", "a,b\n1,2\n", "the heading has no column query, user_input"),
        ("s.csv", "query\na,b\n", "line 2: has more cells than the heading"),
    ],
)
def test_a_wrong_set_is_refused_by_its_line(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadSet, match=message):
        read_set(tmp_path / name)


def test_passages_of_one_answer_stand_in_rows() -> None:
    table = (
        "query_id,query,passage_id,passage,generated_answer\n"
        'a,How long?,p1,One.,"5 days, he said [1]"\na,How long?,p2,Two.,\nb,Why?,,,Because.\n'
    )
    (_, one), (_, other) = recorded_rows(table)
    assert (one["chunk_ids"], one["chunk_texts"]) == (["p1", "p2"], ["One.", "Two."])
    assert (other["answer"], "chunk_ids" in other) == ("Because.", False)
    with pytest.raises(BadTable, match="line 2: has no answer"):
        recorded_rows("query,generated_answer\nHow long?,\n")
