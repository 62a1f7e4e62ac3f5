"""Answers and chunks of many shapes, written for this project, each with the right verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragvigil.app.cli.input.record_line import record_of
from ragvigil.model.score import Score
from ragvigil.model.scorer import Scorer
from scorers.answer_complete_text import AnswerCompleteText
from scorers.citation_validity import CitationValidity
from scorers.injected_context import InjectedContext
from scorers.refusal import Refusal

FILE = Path(__file__).parents[2] / "golden" / "shapes" / "answers.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
SCORERS: dict[str, Scorer] = {
    "citations": CitationValidity(),
    "refusal": Refusal(),
    "complete": AnswerCompleteText(),
    "planted": InjectedContext(),
}


def verdict(name: str, score: Score) -> object:
    """What a score says, in the words of the file."""
    if name == "citations":
        return {None: "none", 1.0: "valid"}.get(score.value, "invalid")
    if name == "planted":
        return score.value != 1.0
    return score.label or "whole"


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_an_answer_of_any_shape_gets_the_right_verdicts(row: dict[str, Any]) -> None:
    record = record_of(row, 1)
    verdicts = {name: verdict(name, SCORERS[name].score(record)) for name in row["right"]}
    assert verdicts == row["right"]
