"""The canary: which records it picks, and when a rerun shows that the judge moved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.calibration.canary import Group, JudgedRecord, Key, compare, group_of, pick

BARS = {"groundedness": 0.8, "context_relevance": 0.5}


def judged_record(number: int, value: float, route: str = "/a") -> JudgedRecord:
    return JudgedRecord(key=(f"{number:032x}", "r"), route=route, values={"groundedness": value})


def many() -> list[JudgedRecord]:
    """300 records on three routes, of which /c has six."""
    rng = np.random.default_rng(2)
    routes = ["/c"] * 6 + ["/b"] * 60 + ["/a"] * 234
    return [
        judged_record(number, float(rng.random()), route)
        for number, route in enumerate(rng.permuted(routes))
    ]


def test_a_canary_has_twenty_of_each_group_from_every_route() -> None:
    members = pick(many(), BARS)
    assert [sum(member.group is group for member in members) for group in Group] == [20, 20, 20]
    assert len({member.key for member in members}) == 60
    bad = [member.route for member in members if member.group is Group.BAD]
    assert set(bad) == {"/a", "/b", "/c"}
    assert bad.count("/b") >= 7


@pytest.mark.parametrize(
    ("values", "group"),
    [
        ({"groundedness": 1.0, "context_relevance": 1.0}, Group.GOOD),
        ({"groundedness": 1.0, "context_relevance": 0.6}, Group.BORDERLINE),
        ({"groundedness": 1.0, "context_relevance": 0.2}, Group.BAD),
        ({"groundedness": 0.75}, Group.BORDERLINE),
        ({"refusal": 1.0}, None),
        ({}, None),
    ],
)
def test_the_worst_rubric_decides_the_group(values: dict[str, float], group: Group | None) -> None:
    assert group_of(values, BARS) is group


def test_few_records_give_a_small_canary_and_unjudged_ones_none() -> None:
    assert [member.group for member in pick([judged_record(1, 0.0)], BARS)] == [Group.BAD]
    assert pick([JudgedRecord(key=("t", "r"), route="/a", values={})], BARS) == ()


@given(st.randoms(use_true_random=False))
def test_the_choice_depends_on_the_records_alone(order: object) -> None:
    records = many()[:80]
    members = pick(records, BARS, each=5)
    order.shuffle(records)  # type: ignore[attr-defined]
    assert pick(records, BARS, each=5) == members


def test_another_salt_takes_other_records() -> None:
    assert pick(many(), BARS, salt="1") != pick(many(), BARS, salt="2")


def run(values: list[float]) -> dict[Key, float]:
    return {(f"{number:032x}", "r"): value for number, value in enumerate(values)}


FIRST = [1.0] * 20 + [0.0] * 20 + [0.7, 0.9] * 10


def test_the_same_verdicts_have_not_moved() -> None:
    shift = compare("groundedness", run(FIRST), run(FIRST), 0.8)
    assert (shift.n, shift.change, shift.p, shift.crossed) == (60, 0.0, 1.0, 0)
    assert shift.moved is False
    assert "stands: +0.0 points over 60 frozen records" in shift.why


def test_a_stricter_judge_has_moved_by_the_mean_change() -> None:
    again = [max(0.0, value - 0.1) for value in FIRST]
    shift = compare("groundedness", run(FIRST), run(again), 0.8, rubrics=10)
    assert shift.moved is True
    assert shift.change == pytest.approx(-0.1 * 40 / 60)
    assert shift.why.startswith("groundedness moved: -6.7 points")


def test_a_scattering_judge_has_moved_even_if_its_mean_has_not() -> None:
    again = [1.0] * 14 + [0.4] * 6 + [0.0] * 14 + [0.6 + 0.3] * 4 + [0.0] * 2 + [0.7, 0.9] * 10
    shift = compare("groundedness", run(FIRST), run(again), 0.8)
    assert shift.crossed == 10
    assert shift.p is not None
    assert shift.p > 0.05
    assert shift.moved is True


def test_few_pairs_do_not_tell() -> None:
    shift = compare("groundedness", run(FIRST[:9]), run([0.0] * 60), 0.8)
    assert shift.moved is None
    assert shift.change is None
    assert "9 records were judged both times" in shift.why


def test_an_unchanged_judge_seldom_counts_as_moved() -> None:
    rng = np.random.default_rng(6)
    moved = 0
    for _ in range(400):
        noise = rng.normal(0, 0.05, 60) * (rng.random(60) < 0.5)
        again = [
            float(np.clip(value + change, 0, 1)) for value, change in zip(FIRST, noise, strict=True)
        ]
        # Clipping pushes the ends inwards: the rerun is compared with another run of this judge.
        other = rng.normal(0, 0.05, 60) * (rng.random(60) < 0.5)
        base = [
            float(np.clip(value + change, 0, 1)) for value, change in zip(FIRST, other, strict=True)
        ]
        moved += bool(compare("groundedness", run(base), run(again), None).moved)
    assert moved <= 6
