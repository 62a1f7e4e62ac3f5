"""A rubric is a TOML file of one form; every mistake in it is one sentence."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import scorers
from ragvigil.model.score import Layer
from scorers.rubric import (
    FIELDS,
    BadRubric,
    house_rubrics,
    load_rubrics,
    parse_rubric,
    rubrics_left_out,
    use_own_files,
)
from scorers.settings import ScorersSettings
from tests.rubric_files import JUDGED, KEYS, written


def test_a_whole_file_is_read() -> None:
    rubric = parse_rubric(written(fails_below="0.5", labels='["curt"]'), "tone.toml")
    assert (rubric.name, rubric.layer, rubric.needs) == ("tone", Layer.GENERATION, ("answer",))
    assert (rubric.fails_below, rubric.labels) == (0.5, ("curt",))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": "1"}, "tone.toml: version: 1 is not a string"),
        ({"needs": '"answer"'}, "tone.toml: needs: 'answer' is not a list of strings"),
        ({"needs": "[1]"}, "tone.toml: needs: [1] is not a list of strings"),
        ({"labels": "[true]"}, "tone.toml: labels: [True] is not a list of strings"),
        ({"layer": '["generation"]'}, "tone.toml: layer: ['generation'] is not a string"),
        (
            {"layer": '"corpus"'},
            "tone.toml: layer: corpus is not one of retrieval, generation, cross_cutting",
        ),
        ({"scale": '"1..5"'}, "tone.toml: scale: 1..5 is not one of 0..1, label"),
        ({"fails_below": '"0.5"'}, "tone.toml: fails_below: 0.5 is not between 0 and 1"),
        ({"fails_below": "nan"}, "tone.toml: fails_below: nan is not between 0 and 1"),
        ({"fails_below": "true"}, "tone.toml: fails_below: True is not between 0 and 1"),
        ({"name": '"tone:curt"'}, "tone.toml: name: 'tone:curt' is not letters, digits and _"),
        ({"name": '""'}, "tone.toml: name: '' is not letters, digits and _"),
        ({"description": ""}, "tone.toml: description is missing"),
    ],
    ids=str,
)
def test_a_wrong_value_is_one_sentence(changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadRubric) as refused:
        parse_rubric(written(**changes), "tone.toml")
    assert str(refused.value).startswith(sentence)
    assert len(str(refused.value).splitlines()) == 1


tomls = st.recursive(
    st.one_of(
        st.booleans().map(lambda flag: str(flag).lower()),
        st.integers(-3, 3).map(str),
        st.sampled_from(["0.5", "nan", "inf", '"x"', '"answer"', '"0..1"', "1979-05-27"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(lambda some: f"[{', '.join(some)}]"),
        inner.map(lambda value: f"{{ a = {value} }}"),
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*KEYS, "fails_below", "labels"]), tomls))
def test_any_value_is_either_parsed_or_refused(changes: dict[str, str]) -> None:
    with contextlib.suppress(BadRubric):
        rubric = parse_rubric(written(**changes), "tone.toml")
        assert set(rubric.needs) <= FIELDS
        assert rubric.fails_below is None or 0 <= rubric.fails_below <= 1


def test_every_rubric_file_has_the_name_of_its_rubric() -> None:
    folder = Path(scorers.__file__ or "").parent / "rubrics"
    assert sorted(house_rubrics()) == sorted(path.stem for path in folder.glob("*.toml"))
    assert rubrics_left_out() == ()


@pytest.fixture
def nothing_brought() -> Iterator[None]:
    yield
    use_own_files(())


@pytest.mark.usefixtures("nothing_brought")
def test_own_files_are_added_until_other_files_replace_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "tone.toml").write_text(written() + JUDGED)
    assert set(use_own_files([tmp_path])) == {"tone"}
    assert load_rubrics()["tone"].judge is not None
    assert set(house_rubrics()) == set(load_rubrics()) - {"tone"}
    use_own_files(())
    assert "tone" not in load_rubrics()


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("tone.toml", 'name = "a"', "tone.toml: layer is missing"),
        (
            "tone.toml",
            written(name='"groundedness"') + JUDGED,
            "tone.toml: name: groundedness is taken by ragvigil: groundedness.toml",
        ),
        (
            "tone.toml",
            written(derived_from='"tone"', aggregation='"precision"', relevant_from='"kind"'),
            "tone.toml: derived_from: tone is no rubric that grades chunks",
        ),
    ],
)
def test_a_wrong_own_file_is_refused_and_changes_nothing(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    (tmp_path / name).write_text(text)
    before = dict(load_rubrics())
    with pytest.raises(BadRubric) as error:
        use_own_files([tmp_path / name])
    assert str(error.value) == sentence
    assert load_rubrics() == before


def test_a_folder_without_rubrics_and_a_code_rubric_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRubric, match=r"holds no \*\.toml"):
        use_own_files([tmp_path])
    (tmp_path / "tone.toml").write_text(written())
    with pytest.raises(ValidationError, match=r"tone: needs a \[judge\] or \[pattern\] table"):
        ScorersSettings(rubrics=(tmp_path,))
