"""The `[pattern]` table: what it may hold, and which records fail by it."""

from __future__ import annotations

import pytest

from ragvigil.model.record import Absent, Document, RagRecord
from scorers.guards.job import pattern_score
from scorers.rubric import BadRubric, parse_rubric

FILE = """
name = "no_promise"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
fails_below = 0.5
description = "Whether the answer promises nothing."
[pattern]
in = "answer"
matches = '(?i)we promise'
"""
LACKS = FILE.replace("we promise", r"\[\d+\]") + 'fails = "lacks"\n'


def record(answer: str | None = "It is so.", **fields: object) -> RagRecord:
    made = {"record_id": "1", "trace_id": "a", "answer": answer, **fields}
    return RagRecord(**made)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("file", "answer", "value", "label"),
    [
        (FILE, "We promise that.", 0.0, "matches"),
        (FILE, "It is so.", 1.0, ""),
        (LACKS, "It is so.", 0.0, "lacks"),
        (LACKS, "It is so [1].", 1.0, ""),
        (FILE, "a lone surrogate \ud800, we promise", 0.0, "matches"),
    ],
)
def test_a_record_fails_where_the_text_matches_or_lacks(
    file: str, answer: str, value: float, label: str
) -> None:
    score = pattern_score(parse_rubric(file, "f.toml"), record(answer))
    assert (score.value, score.label, score.layer) == (value, label, "generation")
    assert (score.scorer, score.version, score.kind) == ("Pattern", "1", "code")


def test_what_has_no_text_is_not_applicable_with_a_reason() -> None:
    rubric = parse_rubric(FILE, "f.toml")
    for made, reason in (
        (record(None, absent={"answer": Absent.HIDDEN}), "answer is absent: hidden"),
        (record("We promise.", error="HTTP 500"), "the record has no answer"),
        (record(None), "the record has no answer"),
    ):
        score = pattern_score(rubric, made)
        assert (score.value, score.label, score.explanation) == (None, "", reason)


def test_a_pattern_is_looked_for_in_the_chunks_of_the_prompt() -> None:
    file = FILE.replace('in = "answer"', 'in = "context"')
    chunk = Document(chunk_id="c", content="We promise nothing here.")
    score = pattern_score(parse_rubric(file, "f.toml"), record(context=(chunk,)))
    assert score.value == 0.0


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("(?i)we promise", r"(a)\1"), "pattern: matches: is not RE2: invalid escape sequence"),
        (("(?i)we promise", "(?=a)b"), "pattern: matches: is not RE2: invalid perl operator"),
        (("(?i)we promise", "a*"), "pattern: matches: finds the empty text"),
        (('in = "answer"', 'in = "usage"'), "pattern: in: usage is not one of answer, question"),
        (('in = "answer"\n', ""), "pattern: in is missing"),
        (("[pattern]", "[pattern]\nflags = 1"), "pattern: flags: there is no such key"),
        (('scale = "0..1"', 'scale = "label"'), "pattern: goes with the scale 0..1"),
    ],
)
def test_what_is_wrong_is_one_sentence(change: tuple[str, str], sentence: str) -> None:
    with pytest.raises(BadRubric) as caught:
        parse_rubric(FILE.replace(*change), "f.toml")
    assert str(caught.value).startswith(f"f.toml: {sentence}")
