"""People's labels against a judge: the scale, the labels that count, and the measure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.calibration.measure import Pair, Scale, compare, measure, newest
from scorers.calibration.ppi import Sums
from scorers.calibration.status import JudgeState


def pair(number: int, label: float | None, judged: float | None, **more: object) -> Pair:
    made = Pair(
        trace_id=f"{number:032x}",
        record_id="a",
        time_unix_nano=number,
        label=label,
        judged=judged,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def judged_by(people: list[float], judge: list[float]) -> list[Pair]:
    return [pair(n, *both) for n, both in enumerate(zip(people, judge, strict=True))]


def test_pass_and_fail_are_compared_with_the_bar_of_the_rubric() -> None:
    comparison = compare(judged_by([1, 1, 0, 0], [0.8, 0.79, 0.79, 0.9]), 0.8)
    assert comparison.scale is Scale.PASS_FAIL
    assert comparison.judge == (1.0, 0.0, 0.0, 1.0)
    assert comparison.agreement == 0.5


def test_grades_are_weighted_by_distance() -> None:
    found = compare(judged_by([1, 0.5, 0.25, 0], [0.75, 0.5, 0.5, 0]), 0.5)
    assert found.scale is Scale.GRADES
    assert found.judge == (0.75, 0.5, 0.5, 0)
    assert found.agreement == 0.75


def test_words_are_compared_and_one_of_several_suffices() -> None:
    said = [("refused", ("refused",)), ("partial", ("answered", "partial")), ("a", ("b", "c"))]
    pairs = [pair(n, None, None, word=word, words=words) for n, (word, words) in enumerate(said)]
    comparison = compare(pairs, None)
    assert comparison.scale is Scale.WORDS
    assert comparison.judge == ("refused", "partial", "b")
    assert comparison.agreement == pytest.approx(2 / 3)


def test_a_record_counts_once_by_its_newest_label_and_only_200_count() -> None:
    pairs = [pair(number, 1.0, 1.0) for number in range(250)]
    changed = replace(pairs[3], label=0.0, time_unix_nano=1000)
    pairs_kept = newest([changed, *pairs])
    assert len(pairs_kept) == 200
    assert pairs_kept[0].label == 0.0
    assert pairs_kept[-1].time_unix_nano == 51
    assert len({pair.trace_id for pair in pairs_kept}) == 200


def test_without_labels_nothing_is_claimed() -> None:
    result = measure([], 0.8, Sums.of([0.9] * 50), 3)
    assert (result.kappa.n, result.kappa.value, result.agreement, result.level) == (
        0,
        None,
        None,
        None,
    )
    assert result.status.state is JudgeState.UNMEASURED
    assert result.disagreements == 0


def test_a_good_judge_is_trusted_and_a_bad_one_retired() -> None:
    people = [1.0, 1.0, 1.0, 0.0] * 40
    lenient = [1.0] * 160
    good = [0.9 if passed else 0.1 for passed in people]
    bad = good[:80] + good[79::-1]
    verdicts = [0.9, 0.9, 0.9, 0.1] * 500
    sums = Sums.of(verdicts)
    result = measure(judged_by(people, good), 0.5, sums, 500)
    assert result.status.state is JudgeState.TRUSTED
    assert result.kappa.value == 1.0
    assert result.disagreements == 0
    assert result.level is not None
    assert result.level.mean == pytest.approx(0.75, abs=0.01)
    assert measure(judged_by(people, bad), 0.5, sums, 500).status.state is JudgeState.RETIRED
    easy = measure(judged_by(people, lenient), 0.5, Sums.of([1.0] * 2000), 0)
    assert easy.status.state is JudgeState.RETIRED
    assert easy.disagreements == 40
    assert easy.level is not None
    assert (easy.level.judged, easy.level.mean) == (1.0, pytest.approx(0.75))


def test_labels_of_suspicious_records_measure_the_judge_but_not_the_level() -> None:
    pairs = judged_by([1.0, 0.0] * 20, [0.9, 0.1] * 20)
    apart = [replace(pair, is_base=False) for pair in pairs]
    assert measure(apart, 0.5, Sums.of([0.9] * 100), 0).level is None
    assert measure(apart, 0.5, Sums.of([0.9] * 100), 0).kappa.n == 40


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0, None]), st.floats(0, 1) | st.none()), max_size=50
    ),
    st.integers(0, 30),
)
def test_any_labels_give_a_measure(
    both: list[tuple[float | None, float | None]], others: int
) -> None:
    pairs = [pair(number, *values) for number, values in enumerate(both)]
    result = measure(pairs, 0.7, Sums.of([0.5] * others), others)
    assert result.kappa.n <= len(pairs)
    assert result.agreement is None or 0 <= result.agreement <= 1
    assert 0 <= result.disagreements <= len(pairs)
