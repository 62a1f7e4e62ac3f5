"""The model whose reply the root returned is the one that answered, whatever ran after it."""

from __future__ import annotations

import json

import pytest

from collector.record.build import records
from ragvigil.model.record import RagRecord
from tests.traces import DOCUMENTS, QUESTION, llm, retriever, span, trace

SAID = "As far as we know, you have thirty days, not forty. [refund-01]"


def record(reply: str, grade: str, asked: str, output: str = SAID) -> RagRecord:
    """A chain whose answer is graded; the grade's prompt shows another chunk than the answer's."""
    chain = {
        "openinference.span.kind": "CHAIN",
        "input.value": QUESTION,
        "output.value": output,
    }
    (found,) = records(
        trace(
            span("root", chain),
            retriever(),
            llm("answer", reply, prompt=f"{DOCUMENTS[0][1]}\n{QUESTION}", at=(0.3, 0.5)),
            llm("grade", grade, prompt=f"{asked}\n{DOCUMENTS[1][1]}", at=(0.6, 0.9)),
        )
    )
    return found


@pytest.mark.parametrize("grade", ["no", "know", "1", "As"])
@pytest.mark.parametrize("reply", [SAID, json.dumps({"answer": SAID, "sure": True})])
def test_a_grade_whose_letters_stand_in_the_output_is_not_what_was_returned(
    reply: str, grade: str
) -> None:
    found = record(reply, grade, "Grade the answer.")
    assert found.answer == SAID
    assert [document.chunk_id for document in found.context] == ["refund-01"]


def test_an_output_of_a_word_is_the_reply_that_says_the_same() -> None:
    found = record("no", "yes, it is right", f"Grade: {SAID}", "no")
    assert found.answer == "no"
    assert [document.chunk_id for document in found.context] == ["refund-01"]


def test_a_grade_of_the_text_in_a_json_reply_is_not_the_answer() -> None:
    found = record(json.dumps({"answer": SAID, "sure": True}), "bad", f"Grade: {SAID}", "")
    assert found.answer == SAID


def test_a_short_reply_that_is_a_line_of_the_output_is_what_was_returned() -> None:
    found = record("30 days", "yes", "Grade: 30 days", "30 days\n\nSources: refund-01")
    assert found.answer == "30 days\n\nSources: refund-01"
    assert [document.chunk_id for document in found.context] == ["refund-01"]
