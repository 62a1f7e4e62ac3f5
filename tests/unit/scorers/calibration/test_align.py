"""The value below which an answer fails, fitted to people's labels."""

from __future__ import annotations

import numpy as np
import pytest

from scorers.calibration.align import Advice, align, fitted
from scorers.calibration.measure import Pair


def pairs(n: int, *, cut: float, seed: int = 1, noise: float = 0.1) -> list[Pair]:
    """Answers that people fail where the judge is under `cut`, and some by chance."""
    chance = np.random.default_rng(seed)
    values = np.round(chance.random(n) * 10) / 10
    labels = (values >= cut) ^ (chance.random(n) < noise)
    return [
        Pair(
            trace_id=f"{number:032x}",
            record_id="",
            time_unix_nano=number,
            label=float(label),
            judged=float(value),
        )
        for number, (value, label) in enumerate(zip(values, labels, strict=True))
    ]


def test_a_value_that_people_do_not_share_is_changed_and_kappa_said_before_and_after() -> None:
    found = align(pairs(150, cut=0.3), 0.8)
    assert found.advice is Advice.CHANGE
    assert found.fails_below == pytest.approx(0.25, abs=0.06)
    assert found.before.value is not None
    assert found.after.value is not None
    assert found.after.value > found.before.value + 0.2
    assert found.gain.low is not None
    assert found.gain.low > 0


def test_a_value_that_fits_is_kept() -> None:
    found = align(pairs(150, cut=0.8), 0.8)
    assert (found.advice, found.fails_below) == (Advice.KEEP, 0.8)


def test_labels_by_chance_change_nothing() -> None:
    advised = [align(pairs(60, cut=0.5, seed=seed, noise=0.5), 0.5).advice for seed in range(8)]
    assert advised.count(Advice.CHANGE) <= 1


def test_kappa_after_is_of_labels_that_the_fit_had_not_seen() -> None:
    """Fitted on all labels, chance alone looks like agreement."""
    gaps = []
    for seed in range(6):
        made = pairs(60, cut=0.5, seed=seed, noise=0.5)
        bar = fitted(made, 0.5)
        right = [(pair.judged >= bar) == (pair.label == 1.0) for pair in made]  # type: ignore[operator]
        seen = sum(right) / len(right)
        found = align(made, 0.5)
        gaps.append(2 * seen - 1 - (found.after.value or 0.0))
    assert sum(gaps) / len(gaps) > 0.05


def test_few_labels_grades_and_one_sided_labels_fit_nothing() -> None:
    assert align(pairs(29, cut=0.5), 0.5).advice is Advice.TOO_FEW
    assert align([], None).advice is Advice.TOO_FEW
    assert align(pairs(100, cut=0.0, noise=0.02), 0.5).advice is Advice.TOO_FEW
    graded = [*pairs(60, cut=0.5)]
    graded[0] = Pair(trace_id="a", record_id="", time_unix_nano=99, label=0.5, judged=0.5)
    assert align(graded, 0.5).advice is Advice.GRADES
