"""A reply is read strictly: what is not exactly in the asked form is no answer."""

from __future__ import annotations

import json
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from ragvigil.llm.outcome import FailureKind, Setback
from ragvigil.llm.reading import read_reply


class Verdict(StrEnum):
    SUPPORTED = "supported"
    NOT = "not_supported"


class Grades(BaseModel):
    """A form as a rubric has one: verdicts before the score, bounds, nothing else."""

    model_config = ConfigDict(extra="forbid")

    verdicts: list[Verdict]
    score: float = Field(ge=1, le=5)
    count: int = Field(ge=0)


GOOD = {"verdicts": ["supported", "not_supported"], "score": 2.5, "count": 3}


def reply_with(**changed: object) -> str:
    return json.dumps(GOOD | changed)


def kind_of(text: str) -> FailureKind | None:
    read = read_reply(text, Grades)
    return read.kind if isinstance(read, Setback) else None


@pytest.mark.parametrize(
    "text",
    [
        reply_with(),
        f"  {reply_with()}\n",
        f"```json\n{reply_with()}\n```",
        f"```\n{json.dumps(GOOD, indent=1)}\n```\n",
        f"```JSON\r\n{reply_with()}\n```",
        reply_with(score=5),
    ],
)
def test_a_reply_in_the_asked_form_is_an_answer_with_or_without_a_fence(text: str) -> None:
    assert kind_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        reply_with(score=11),
        reply_with(score=0.5),
        reply_with(count=-1),
        reply_with().replace("2.5", "NaN"),
        reply_with().replace("2.5", "Infinity"),
        reply_with().replace("2.5", "-Infinity"),
        reply_with().replace("2.5", "1e999"),
        f"```json\n{reply_with(score=6)}\n```",
        json.dumps({"score": 11}),
    ],
)
def test_a_number_out_of_range_or_not_finite_is_invalid_and_not_asked_for_again(text: str) -> None:
    read = read_reply(text, Grades)
    assert isinstance(read, Setback)
    assert (read.kind, read.passes) == (FailureKind.INVALID, False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "I am sorry, but I cannot do that.",
        f"Here it is: {reply_with()}",
        f"{reply_with()} Anything else?",
        f"{reply_with()}{reply_with()}",
        f"```json\n{reply_with()}\n``` and ```json\n{reply_with()}\n```",
        reply_with()[:-1],
        reply_with(score="2.5"),
        reply_with(score="NaN"),
        reply_with(score=True),
        reply_with(score=None),
        reply_with(count=3.5),
        reply_with(verdicts=["maybe"]),
        reply_with(verdicts="supported"),
        reply_with(extra=1),
        json.dumps({"score": 2.5, "count": 1}),
        reply_with()[:-1] + ', "score": 1.0}',
        "[" * 100_000,
        '{"a":' * 100_000,
        reply_with().replace("3", "9" * 5000),
        reply_with().replace("supported", "\\ud800"),
        "\x00",
    ],
    ids=lambda text: text[:40],
)
def test_what_is_not_in_the_form_is_unparseable_and_asked_for_again(text: str) -> None:
    read = read_reply(text, Grades)
    assert isinstance(read, Setback)
    assert (read.kind, read.passes) == (FailureKind.UNPARSEABLE, True)


def test_the_detail_names_place_and_rule_and_never_what_stood_there() -> None:
    read = read_reply(reply_with(score="a secret of the user"), Grades)
    assert isinstance(read, Setback)
    assert read.detail == "score: float_type"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    st.text()
    | JSON.map(json.dumps)
    | st.fixed_dictionaries({"verdicts": JSON, "score": JSON, "count": JSON}).map(json.dumps)
)
def test_no_reply_raises_and_every_answer_is_within_its_bounds(text: str) -> None:
    read = read_reply(text, Grades)
    if not isinstance(read, Setback):
        assert 1 <= read.score <= 5
        assert read.count >= 0


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN"])
def test_a_form_without_bounds_takes_no_infinite_number_either(number: str) -> None:
    class Loose(BaseModel):
        score: float

    read = read_reply(f'{{"score": {number}}}', Loose)
    assert isinstance(read, Setback)
    assert read.kind is FailureKind.INVALID
