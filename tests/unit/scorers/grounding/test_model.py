"""The model: trees as plain numbers, and the shipped file."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.grounding.claims import Weights
from scorers.grounding.features import EVIDENCE, NAMES
from scorers.grounding.model import Model, Trees, answer_value, from_json, shipped_model, to_json

STEP = Trees(
    feature=(0, 1, 0, 0, 0),
    threshold=(0.5, 0.25, 0.0, 0.0, 0.0),
    left=(1, 3, 2, 3, 4),
    right=(2, 4, 2, 3, 4),
    value=(0.0, 0.0, 2.0, -3.0, -1.0),
    roots=(0,),
)


def model_with(**changed: object) -> Model:
    fields = {
        "version": "7", "columns": ("coverage", "missing"), "trees": STEP, "base": 0.5,
        "slope": 1.0, "shift": 0.0, "weights": Weights(by_word={"the": 1.0}, most=7.0),
        "threshold": 0.5,
    }  # fmt: skip
    return Model(**fields | changed)  # type: ignore[arg-type]


def row(coverage: float, missing: float) -> list[float]:
    by_name = dict.fromkeys(NAMES, 9.0) | {"coverage": coverage, "missing": missing}
    return [by_name[name] for name in NAMES]


@pytest.mark.parametrize(
    ("coverage", "missing", "odds"),
    [(0.9, 0.0, 2.5), (0.5, 0.25, -2.5), (0.5, 0.26, -0.5), (0.51, 9.0, 2.5)],
)
def test_a_row_goes_left_at_or_below_a_threshold(
    coverage: float, missing: float, odds: float
) -> None:
    assert model_with().odds([row(coverage, missing)]).tolist() == [odds]


def test_calibration_changes_no_order() -> None:
    rows = [row(0.9, 0), row(0.1, 0), row(0.1, 1)]
    plain, bent = (
        model_with().probabilities(rows),
        model_with(slope=0.5, shift=1.0).probabilities(rows),
    )
    assert sorted(range(3), key=plain.__getitem__) == sorted(range(3), key=bent.__getitem__)
    assert plain != bent


def test_a_model_survives_json() -> None:
    again = from_json(to_json(model_with()))
    rows = [row(0.9, 0), row(0.1, 0)]
    assert again.probabilities(rows) == model_with().probabilities(rows)
    assert (again.version, again.weights) == ("7", model_with().weights)


def test_the_shipped_model_is_small_plain_and_reads_only_evidence() -> None:
    text = files("scorers").joinpath("models/groundedness.json").read_text("utf-8")
    assert len(text) < 300_000
    assert json.loads(text)["version"] == shipped_model().version
    assert set(shipped_model().columns) == set(EVIDENCE)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_an_answer_has_the_mean_of_its_two_weakest_sentences(chances: list[float]) -> None:
    assert min(chances) <= answer_value(chances) <= max(chances)
    assert answer_value(chances) == answer_value([*chances, *[max(chances)] * (len(chances) > 1)])
