"""Differences of paired values: resampled by group, and tested exactly."""

from __future__ import annotations

import random

import pytest

from ragvigil.evaluation.gate.difference import cases_for, difference, mean_interval


def test_nothing_to_compare_has_no_difference() -> None:
    assert difference([]) is None


def test_the_same_values_show_no_change_and_how_little_they_exclude() -> None:
    shown = difference([(str(n), 0.7, 0.7) for n in range(60)])
    assert shown is not None
    assert (shown.size, shown.falls, shown.rises) == (0, 1, 1)
    assert shown.low < -0.04
    assert shown.unseen == pytest.approx(1 - 0.05 ** (1 / 60))


def test_the_same_seed_gives_the_same_numbers() -> None:
    chance = random.Random(4)
    voices = [(str(n), chance.random(), chance.random()) for n in range(40)]
    assert difference(voices, seed=7) == difference(voices, seed=7)


def test_repeats_of_one_question_are_one_voice() -> None:
    """Twelve falls of one question prove as little as one; those of twelve prove a fall."""
    steady = [(f"steady-{n}", 1.0, 1.0) for n in range(60)]
    same = difference([*steady, *(("one", 1.0, 0.0) for _ in range(12))])
    apart = difference([*steady, *((str(n), 1.0, 0.0) for n in range(12))])
    assert same is not None
    assert apart is not None
    assert same.size == apart.size
    assert same.falls == 0.5
    assert apart.falls < 0.001


def test_an_interval_of_means_covers_as_often_as_it_says() -> None:
    chance = random.Random(2)
    missed = 0
    for turn in range(100):
        diffs = [chance.gauss(-0.02, 0.2) for _ in range(60)]
        shown = difference([(str(n), 0.5, 0.5 + d) for n, d in enumerate(diffs)], seed=turn)
        assert shown is not None
        missed += not shown.low <= -0.02 <= shown.high
    assert 0.03 <= missed / 100 <= 0.18  # 0.10, give or take 2.5 standard errors


def test_the_probability_of_a_fall_is_no_smaller_than_it_says() -> None:
    """Of unchanged services, few cases: a fall at 5 % is seen in 5 % of them at most."""
    chance = random.Random(9)
    falls = 0
    for turn in range(200):
        voices = [(str(n), chance.random(), chance.random()) for n in range(10)]
        shown = difference(voices, seed=turn)
        assert shown is not None
        falls += shown.falls <= 0.05
    assert falls / 200 <= 0.09


def test_more_cases_are_needed_for_a_smaller_change() -> None:
    chance = random.Random(1)
    voices = [(str(n), chance.random(), chance.random()) for n in range(50)]
    shown = difference(voices)
    assert shown is not None
    assert cases_for(shown, 0.05) == pytest.approx(4 * cases_for(shown, 0.10), rel=0.01)
    assert cases_for(shown, 1.0) >= 0


def test_a_mean_has_an_interval_by_group() -> None:
    spread = mean_interval([(str(n), n % 2) for n in range(40)], tail=0.05)
    same = mean_interval([(str(n % 2), n % 2) for n in range(40)], tail=0.05)
    assert spread[0] > same[0]
    with pytest.raises(ValueError, match="no values"):
        mean_interval([], tail=0.05)
