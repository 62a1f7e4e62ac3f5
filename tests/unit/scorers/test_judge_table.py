"""The `[judge]` table: every mistake is one sentence, and nothing else is raised."""

from __future__ import annotations

import contextlib
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.judge_table import KEYS, About, BadTable, parse_judge_table
from scorers.rubric import BadRubric, house_rubrics, parse_rubric

TABLE = """
about = "claims"
shows = ["question", "context"]
instruction = "Is it so?"
aggregation = "mean"
quote_from = "context"
without_quote = "no"
failure_types = ["invented"]
[[grades]]
name = "yes"
means = "it is so"
value = 1.0
quote = true
[[grades]]
name = "no"
means = "it is not"
value = 0
"""
RUBRIC = """
name = "tone"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
description = "Whether the answer is kind."
"""


def table(**changes: Any) -> dict[str, Any]:
    return {
        key: value for key, value in (tomllib.loads(TABLE) | changes).items() if value is not None
    }


def grades(*some: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"means": "m", **grade} for grade in some]


def test_a_whole_table_is_read() -> None:
    parsed = parse_judge_table(table())
    assert parsed.about is About.CLAIMS
    assert [grade.value for grade in parsed.grades] == [1.0, 0]
    assert parsed.grade("yes").quote
    assert not parsed.is_numeric


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"colour": 1}, "colour: there is no such key; allowed: about, shows, instruction"),
        ({"about": "words"}, "about: 'words' is not one of chunks, claims, citations"),
        ({"about": 3}, "about: 3 is not one of chunks, claims, citations"),
        ({"about": None}, "about is missing"),
        ({"shows": ["sources"]}, "shows: ['sources'] 'sources' is not one of question"),
        ({"shows": "context"}, "shows: 'context' is not a list"),
        ({"instruction": " "}, "instruction: ' ' is not a text"),
        ({"grades": [{}]}, "grades: [{}] is not a list of at least 2"),
        ({"grades": [{}, {}]}, "grades[0].name is missing"),
        ({"grades": [1, 2]}, "grades[0]: 1 is not a table"),
        ({"grades": [{"name": "a b"}] * 2}, "grades[0].name: 'a b' is not letters, digits and _"),
        (
            {"grades": grades({"name": "a", "value": 2}, {"name": "b"})},
            "grades[0].value: 2 is not between 0 and 1",
        ),
        (
            {"grades": grades({"name": "a", "value": float("nan")}, {"name": "b"})},
            "grades[0].value: nan is not between 0 and 1",
        ),
        (
            {"grades": grades({"name": "a", "value": 1}, {"name": "a", "value": 0})},
            "grades: two have the same name",
        ),
        (
            {"grades": grades({"name": "a", "value": 0}, {"name": "b", "value": 1})},
            "grades: the best must stand first",
        ),
        (
            {"grades": grades({"name": "a", "value": 1}, {"name": "b"})},
            "grades: at least two need a value",
        ),
        (
            {
                "grades": grades({"name": "5", "value": 1}, {"name": "3", "value": 0}),
                "quote_from": None,
            },
            "grades: whole numbers must follow one another",
        ),
        ({"aggregation": "median"}, "aggregation: median is not one of mean, top_mean"),
        ({"aggregation": "vital_strict"}, "aggregation: vital_strict is not one of mean"),
        ({"aggregation": "top_mean"}, "top: goes with top_mean, and with nothing else"),
        ({"top": 3}, "top: goes with top_mean, and with nothing else"),
        ({"top": 0}, "top: 0 is not a whole number of at least 1"),
        ({"quote_from": None}, "quote_from: goes with grades that have quote = true"),
        ({"without_quote": "yes"}, "without_quote: 'yes' is not one of no"),
        ({"without_quote": None}, "without_quote: '' is not one of no"),
        ({"shows": ["question"]}, "shows: verdicts on claims need context, retrieved or ref"),
        ({"shows": ["context", "retrieved"]}, "shows: context and retrieved do not go together"),
        ({"reasons": "yes"}, "reasons: 'yes' is not true or false"),
        ({"failure_types": ["none"]}, "failure_types: ['none'] 'none' none is always allowed"),
    ],
    ids=str,
)
def test_a_wrong_value_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadTable) as refused:
        parse_judge_table(table(**changes))
    assert str(refused.value).startswith(sentence)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("text", ["judge = 3", "[judge]\ncolour = 1"])
def test_the_file_and_the_table_are_named(text: str) -> None:
    with pytest.raises(BadRubric) as refused:
        parse_rubric(RUBRIC + text, "tone.toml")
    assert str(refused.value).startswith("tone.toml: judge: ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('derived_from = "a"', "tone.toml: aggregation: None is not one of precision, answerable"),
        ('derived_from = ""', "tone.toml: derived_from: '' is not a text"),
        ('aggregation = "precision"', "tone.toml: aggregation: goes with derived_from"),
        ('derived_from = "a"\naggregation = "precision"', "tone.toml: relevant_from is missing"),
        ('derived_from = "a"\n[judge]', "tone.toml: derived_from: goes with derived_from and with"),
    ],
)
def test_a_derived_rubric_has_all_keys_it_needs(text: str, sentence: str) -> None:
    with pytest.raises(BadRubric) as refused:
        parse_rubric(RUBRIC + text, "tone.toml")
    assert str(refused.value).startswith(sentence)


def test_a_label_has_no_judge() -> None:
    with pytest.raises(BadRubric, match=r"tone\.toml: scale: a rubric with"):
        parse_rubric(RUBRIC.replace("0..1", "label") + "[judge]", "tone.toml")


values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 3), st.floats(),
        st.sampled_from(["claims", "mean", "yes", "no", "context", "top_mean", "1", "2", ""]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "means", "value", "quote"]), inner, max_size=4),
    ),
    max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from([*KEYS, "colour"]), values, max_size=4))
def test_any_table_is_either_parsed_or_refused(changes: dict[str, Any]) -> None:
    with contextlib.suppress(BadTable):
        parsed = parse_judge_table(table(**changes))
        assert len(parsed.grades) >= 2
        assert hash(parsed)


def test_every_rubric_of_this_package_has_grades_of_the_whole_range() -> None:
    tables = [rubric.judge for rubric in house_rubrics().values() if rubric.judge]
    assert {judge_table.about for judge_table in tables} == set(About)
