"""Which of a record's scores are about the record itself. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ragvigil.model.score import OWN_STREAMS, Kind, upstream_place
from ragvigil.web.views.verdict.scores import ScoreForm


def own_scores(scores: Sequence[ScoreForm]) -> list[ScoreForm]:
    """Without those that test a judge or correct it."""
    return [score for score in scores if score.stream in OWN_STREAMS]


def own_score(scores: Sequence[ScoreForm], rubric: str) -> ScoreForm | None:
    """The record's own score of a rubric, one with a value first; None where it has none."""
    of_rubric = [score for score in own_scores(scores) if score.rubric == rubric]
    return min(of_rubric, key=lambda score: score.value is None, default=None)


def judged(scores: Sequence[ScoreForm], rubric: str) -> ScoreForm | None:
    """The record's own score of a rubric by a judge or a person, not by a local model."""
    return own_score([score for score in scores if score.kind != Kind.MODEL], rubric)


def failing(scores: Sequence[ScoreForm]) -> list[ScoreForm]:
    """One failing score of each rubric, the likely cause first."""
    first: dict[str, ScoreForm] = {}
    for score in own_scores(scores):
        if score.failed and score.kind != Kind.MODEL:
            first.setdefault(score.rubric, score)
    return sorted(first.values(), key=lambda score: upstream_place(score.rubric, score.layer))
