"""Which of a record's scores are about the record itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragvigil.model.score import OWN_STREAMS, Kind, upstream_place
from ragvigil.web.views.verdict.scores import ScoreForm

_PRECEDENCE: Mapping[str, int] = {Kind.HUMAN: 0, Kind.JUDGE: 1, Kind.MODEL: 2, Kind.CODE: 3}


def own_scores(scores: Sequence[ScoreForm]) -> list[ScoreForm]:
    """Without those that test a judge or correct it."""
    return [score for score in scores if score.stream in OWN_STREAMS]


def own_score(scores: Sequence[ScoreForm], rubric: str) -> ScoreForm | None:
    """The record's own score of a rubric; None where it has none.

    One with a value comes first; of several, a person's, then a judge's, then a local
    model's: it looks by meaning where code compares words.
    """
    of_rubric = [score for score in own_scores(scores) if score.rubric == rubric]
    return min(
        of_rubric, key=lambda score: (score.value is None, _PRECEDENCE[score.kind]), default=None
    )


def judged(scores: Sequence[ScoreForm], rubric: str) -> ScoreForm | None:
    """The record's own score of a rubric by a judge or a person, not by a local model."""
    return own_score([score for score in scores if score.kind != Kind.MODEL], rubric)


def failing(scores: Sequence[ScoreForm]) -> list[ScoreForm]:
    """One score of each rubric that the answer fails, the likely cause first."""
    first: dict[str, ScoreForm] = {}
    for score in own_scores(scores):
        if score.fails_answer and score.kind != Kind.MODEL:
            first.setdefault(score.rubric, score)
    return sorted(first.values(), key=lambda score: upstream_place(score.rubric, score.layer))
