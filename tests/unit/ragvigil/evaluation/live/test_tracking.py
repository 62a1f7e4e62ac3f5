"""Planted rubrics: a useless one, a good one, and one that points the other way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from ragvigil.evaluation.live import logistic, ranking
from ragvigil.evaluation.live.tracking import SignalReport, Tracking, Tracks, signal_reports

FAILS_BELOW = {"good": 0.5, "useless": 0.5, "opposite": 0.5}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer as the store reads it."""

    question: int
    signals: Mapping[str, bool]
    scores: Mapping[str, float]
    weight: float = 1.0


def rated(n: int, seed: int = 1) -> list[Answer]:
    """Answers of which a tenth is disliked, half of these for what `good` sees."""
    chance = np.random.default_rng(seed)
    answers = []
    for number in range(n):
        is_bad = chance.random() < 0.1
        fails = chance.random() < (0.5 if is_bad else 0.1)
        level = 0.2 if fails else 0.9
        scores = {
            "good": level,
            "useless": float(chance.random()),
            "opposite": 1 - level,
        }
        answers.append(Answer(question=number, signals={"thumbs_down": is_bad}, scores=scores))
    return answers


def by_rubric(report: SignalReport) -> dict[str, Tracking]:
    return {row.rubric: row for row in report.rubrics}


def test_a_good_rubric_tracks_users_and_a_useless_one_does_not() -> None:
    (report,) = signal_reports(rated(4000), FAILS_BELOW)
    rows = by_rubric(report)
    verdicts = {name: row.verdict for name, row in rows.items()}
    assert verdicts == {
        "good": Tracks.TRACKS,
        "useless": Tracks.DOES_NOT,
        "opposite": Tracks.OPPOSITE,
    }
    # Of the answers that fail, 0.05 / 0.14 are bad: 3.57 times the tenth that is bad at all.
    found = rows["good"].lift
    assert found is not None
    assert found.low < 3.57 < found.high
    assert found.high - found.low < 1.5
    assert [row.rubric for row in report.rubrics] == ["good", "useless", "opposite"]


def test_of_ten_reports_on_twenty_useless_rubrics_hardly_any_names_one() -> None:
    named = 0
    for seed in range(10):
        chance = np.random.default_rng(seed)
        answers = [
            Answer(
                question=number,
                signals={"thumbs_down": bool(chance.random() < 0.1)},
                scores={f"r{place}": value for place, value in enumerate(chance.random(20))},
            )
            for number in range(1500)
        ]
        (report,) = signal_reports(answers, {})
        named += any(row.verdict in (Tracks.TRACKS, Tracks.OPPOSITE) for row in report.rubrics)
    assert named <= 1


def test_few_complaints_are_too_few_to_say() -> None:
    (report,) = signal_reports(rated(60), FAILS_BELOW)
    assert {row.verdict for row in report.rubrics} == {Tracks.TOO_FEW}
    assert report.together is None


def test_one_users_hundred_complaints_of_one_question_are_one_voice() -> None:
    same = Answer(question=-1, signals={"thumbs_down": True}, scores={"good": 0.0})
    kept = [answer for answer in rated(400) if not answer.signals["thumbs_down"]]
    (report,) = signal_reports([*kept, *[same] * 100], FAILS_BELOW)
    assert by_rubric(report)["good"].verdict is Tracks.TOO_FEW


def test_who_does_not_rate_is_no_satisfied_user_but_was_not_escalated() -> None:
    silent = [Answer(question=9, signals={}, scores={"good": 0.9}, weight=3.0)] * 50
    escalated = [Answer(question=n, signals={"escalation": True}, scores={}) for n in range(5)]
    down, escalation = signal_reports([*rated(100), *silent, *escalated], FAILS_BELOW)
    assert (down.signal, down.n) == ("thumbs_down", 100)
    assert (escalation.signal, escalation.n, escalation.bad) == ("escalation", 155, 5)


def test_the_area_is_that_of_scikit_learn_and_one_that_separates_keeps_an_interval() -> None:
    chance = np.random.default_rng(3)
    is_bad, scores = chance.random(500) < 0.2, chance.integers(0, 9, 500) / 8
    found = ranking.auroc(scores, is_bad, np.arange(500), 1.96)
    assert found.value == pytest.approx(roc_auc_score(is_bad, -scores), abs=1e-12)
    flags = np.arange(1000) < 3
    few = ranking.auroc(1.0 - flags, flags, np.arange(1000), 1.96)
    assert few.value == 1
    assert few.low < 0.75


def test_an_interval_of_the_area_holds_the_true_one() -> None:
    chance, holds = np.random.default_rng(4), 0
    for _ in range(300):
        is_bad = chance.random(300) < 0.1
        scores = chance.normal(size=300) - is_bad
        found = ranking.auroc(scores, is_bad, np.arange(300), 1.96)
        holds += found.low <= 0.7602 <= found.high
    assert 0.91 < holds / 300 < 0.99


def test_the_fit_is_that_of_scikit_learn_and_names_the_rubric_that_counts() -> None:
    answers = rated(3000)
    is_bad = np.array([answer.signals["thumbs_down"] for answer in answers])
    scores = {
        name: np.array([answer.scores[name] for answer in answers]) for name in ("good", "useless")
    }
    found = logistic.fit(scores, is_bad, np.ones(3000), np.arange(3000), 1.96)
    assert found is not None
    columns = np.stack([(v - v.mean()) / v.std() for v in scores.values()], axis=1)
    theirs = LogisticRegression(C=1.0).fit(columns, is_bad).coef_[0]
    ours = [-np.log(found.odds[name].value) for name in scores]
    assert ours == pytest.approx(theirs.tolist(), abs=1e-3)
    assert found.odds["good"].low > 1.5
    assert found.odds["useless"].low < 1 < found.odds["useless"].high
    assert found.auroc.low > 0.6
