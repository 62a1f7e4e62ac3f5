"""Aggregation: within 0..1, whatever the order, and never lower for a better grade."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.record import Document, RagRecord
from scorers.judge.aggregate import VerdictValue, aggregate, nugget_scores, prompt_depth
from scorers.judge.derived_scores import average_precision, ndcg
from scorers.judge_table import OF_NUGGETS, PLAIN
from scorers.rubric import house_rubrics

WAYS = (*PLAIN, *OF_NUGGETS)
shares = st.one_of(st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]), st.floats(0, 1))
graded = st.lists(st.builds(VerdictValue, value=shares, is_vital=st.booleans()), max_size=12)


@given(graded, st.sampled_from(WAYS), st.integers(1, 5))
def test_a_score_lies_between_the_worst_and_the_best_verdict(
    verdicts: list[VerdictValue], way: str, top: int
) -> None:
    value = aggregate(way, verdicts, top)
    if value is None:
        assert not [
            verdict for verdict in verdicts if verdict.is_vital or not way.startswith("vital")
        ]
        return
    assert 0 <= value <= 1
    if way != "vital_strict":
        values = [verdict.value for verdict in verdicts]
        assert min(values) - 1e-9 <= value <= max(values) + 1e-9


@given(graded, st.sampled_from(WAYS), st.randoms(use_true_random=False))
def test_the_order_of_verdicts_changes_nothing(
    verdicts: list[VerdictValue], way: str, chance: random.Random
) -> None:
    mixed = list(verdicts)
    chance.shuffle(mixed)
    before, after = aggregate(way, verdicts, 3), aggregate(way, mixed, 3)
    assert before == after


@given(graded.filter(bool), st.sampled_from(WAYS), st.data())
def test_a_better_grade_never_lowers_a_score(
    verdicts: list[VerdictValue], way: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(verdicts) - 1))
    better = data.draw(st.floats(verdicts[place].value, 1))
    raised = [*verdicts]
    raised[place] = replace(verdicts[place], value=better)
    before, after = aggregate(way, verdicts, 3), aggregate(way, raised, 3)
    assert (before is None) is (after is None)
    assert before is None or after is None or after >= before - 1e-12


@pytest.mark.parametrize(
    ("way", "value"),
    [
        ("mean", 0.5), ("top_mean", 0.75), ("all", 0.5),
        ("vital_strict", 0.5), ("vital_lenient", 0.75), ("weighted", 0.5),
    ],
)  # fmt: skip
def test_each_aggregation_by_hand(way: str, value: float) -> None:
    verdicts = [
        VerdictValue(value=0.0, is_vital=False),
        VerdictValue(value=1.0),
        VerdictValue(value=0.5),
        VerdictValue(value=0.5, is_vital=False),
    ]
    expected = {"weighted": (1.0 + 0.5 + 0.25) / 3}.get(way, value)
    assert aggregate(way, verdicts, 2) == pytest.approx(expected)


@pytest.mark.parametrize(("shown", "depth"), [(0, 5), (1, 1), (3, 3), (9, 5)])
def test_the_best_chunks_are_as_many_as_reached_the_prompt(shown: int, depth: int) -> None:
    context = tuple(Document(chunk_id=str(place)) for place in range(shown))
    record = RagRecord(record_id="1", trace_id="1", context=(*context, *context))
    assert prompt_depth(record, 5) == depth


def test_only_nuggets_keep_every_aggregation() -> None:
    rubrics = house_rubrics()
    nuggets, claims = rubrics["completeness"].judge, rubrics["groundedness"].judge
    assert nuggets is not None
    assert claims is not None
    assert set(nugget_scores(nuggets, [VerdictValue(value=1.0)])) == set(OF_NUGGETS)
    assert nugget_scores(claims, [VerdictValue(value=1.0)]) == {}


@given(st.lists(st.booleans(), min_size=1).filter(any))
def test_precision_is_1_if_all_relevant_chunks_come_first(
    relevant: list[bool],
) -> None:
    value = average_precision(relevant)
    assert 0 < value <= 1
    assert (value == 1) is (relevant == sorted(relevant, reverse=True))
    assert average_precision(sorted(relevant, reverse=True)) == 1


@given(st.lists(shares, min_size=1, max_size=8).filter(any), st.integers(1, 8), st.data())
def test_the_best_order_has_the_most_gain(
    gains: list[float], depth: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(gains))
    assert 0 <= ndcg(order, gains, depth) <= 1 + 1e-9
    assert ndcg(sorted(gains, reverse=True), gains, depth) == pytest.approx(1)
