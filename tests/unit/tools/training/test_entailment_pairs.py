"""The pairs that the entailment model learns from: changes, paraphrases, premises."""

from __future__ import annotations

import doctest
import gzip
import json
import random
import re
from pathlib import Path

import pytest

from scorers.grounding import premise
from scorers.grounding.entailment import Support
from scorers.grounding.premise import Premises
from tools.training import entailment_edits
from tools.training.entailment_edits import (
    Change,
    changed,
    name,
    negation,
    number,
    paraphrased,
    roles,
    spans,
    word,
)
from tools.training.entailment_pairs import pairs
from tools.training.grounded_examples import is_held_out

SUBJECTS = {
    "Northern ferry": "harbour sailor Bergen ticket deck anchor Anna Berg captain",
    "Silver bakery": "oven baker Madrid pastry counter flour Maria Cruz customer",
    "Royal library": "shelf reader Vienna atlas cellar lantern Otto Klein scholar",
    "Copper mine": "shaft miner Lima nugget tunnel hammer Rosa Quispe engineer",
    "Coastal garden": "hedge gardener Porto tulip pond shovel Luis Prado visitor",
    "Midnight train": "platform driver Warsaw suitcase corridor signal Jan Nowak guard",
}
"""Small worlds with few words in common."""
LINES = (
    "The {0} keeps a {4} beside every {1} that was repaired during 1990.",
    "{7} {8}, a {2} from {3}, bought the old {5} for 12 euros.",
    "Nobody may carry more than two {6}s unless the {9} is present.",
    "Most of the {9}s were waiting near the {5} when {3} became warmer.",
)


def write(folder: Path, set_name: str, rows: list[dict[str, object]]) -> None:
    with gzip.open(folder / f"{set_name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def lines(subject: str) -> list[str]:
    return [line.format(subject, *SUBJECTS[subject].split()) for line in LINES]


def row(subject: str, answer: str = "") -> dict[str, object]:
    text = " ".join(lines(subject))
    return {
        "id": subject, "group": subject, "task_type": "lfqa", "question": f"What is {subject}?",
        "answer": answer or lines(subject)[1], "unanswerable": False, "hallucinated": False,
        "chunks": [{"id": "a", "text": text}],
    }  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one small set."""
    write(tmp_path, "clapnq_dev", [row(subject) for subject in SUBJECTS])
    return tmp_path


@pytest.mark.parametrize("module", [entailment_edits, premise])
def test_the_examples_of_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "text", "others"),
    [
        (number, "It costs 12 euros.", {"It costs 11 euros.", "It costs 13 euros."}),
        (roles, "Anna Berg met Peter Lund.", {"Peter Lund met Anna Berg."}),
        (roles, "We met Anna and Peter.", {None}),
        (name, "We met Anna Berg.", {"We met Maria Cruz."}),
        (negation, "It is not open.", {"It is open."}),
        (negation, "It is open.", {"It is not open."}),
        (word, "They are waiting.", {"They are sleeping."}),
        (number, "It is open.", {None}),
    ],
)
def test_a_change_says_something_else(change: Change, text: str, others: set[str | None]) -> None:
    donors = ("Maria Cruz", "sleeping", "Madrid")
    made = {change(text, donors, random.Random(seed)) for seed in range(40)}
    assert made >= others if change is number and None not in others else made == others


def test_a_paraphrase_names_nothing_new() -> None:
    text = "In 1990, Anna Berg (a sailor) bought the ferry because of its 12 cabins."
    for seed in range(50):
        said = paraphrased(text, random.Random(seed))
        assert set(re.findall(r"[A-Z][a-z]+|\d+", said.partition(", ")[2] or said)) <= {
            "In", "Anna", "Berg", "1990", "12",
        }, said  # fmt: skip


def test_what_is_new_in_a_changed_sentence_is_known() -> None:
    text = lines("Northern ferry")[1]
    for seed in range(30):
        other = changed(text, ("Maria Cruz", "waiting"), random.Random(seed))
        assert other is not None
        marked = spans(text, other)
        assert marked
        assert all(0 <= start < end <= len(other) for start, end in marked)


def test_a_premise_holds_the_lines_that_a_sentence_needs_and_keeps_to_its_size() -> None:
    premises = Premises([" ".join(lines("Northern ferry")), "Nothing of this. " * 50])
    held = premises.of("Two anchors may be carried, and Anna Berg bought it.")
    assert "two anchors" in held
    assert "Anna Berg" in held
    assert len(held.split()) <= premise.MOST_WORDS
    assert Premises([]).of("Anything.") == ""
    assert premises.of("Zzz.") != ""


def test_the_same_sets_give_the_same_pairs(data: Path) -> None:
    assert pairs(data) == pairs(data) != []


def test_neither_the_sentence_nor_the_premise_alone_tells_the_label(data: Path) -> None:
    made = [pair for pair in pairs(data) if pair.source.startswith("made")]
    assert {pair.support for pair in made} == set(Support)
    written = {line for subject in SUBJECTS for line in lines(subject)}
    as_written = {pair.support for pair in made if pair.sentence in written}
    otherwise = {pair.support for pair in made if pair.sentence not in written}
    assert as_written >= {Support.SUPPORTED, Support.CONTRADICTED}
    assert otherwise == set(Support)


def test_texts_and_groups_that_are_measured_on_give_no_pairs(data: Path) -> None:
    measured, *others = SUBJECTS
    write(data, "ragtruth_qa", [row(measured)])
    summaries = [row(subject) for subject in others]
    write(data, "clapnq_dev", [row(measured)])
    write(data, "summedits", [summary | {"task_type": "summarization"} for summary in summaries])
    groups = {pair.group.removeprefix("summarization ") for pair in pairs(data)}
    assert groups == {row["group"] for row in summaries if not is_held_out(row)}
