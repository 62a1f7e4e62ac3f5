"""The report on sessions: questions that ask the same, by meaning if the local model answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict

from ragvigil.evaluation.live.release import Figure
from ragvigil.evaluation.live.session import (
    DIRECT,
    RESOLVED,
    SAME_MEANING,
    IsSame,
    Pair,
    are_alike_by_words,
    consecutive,
    figures_of,
    has_same_numbers,
    reading_of,
)
from ragvigil.inference.outcome import Unavailable
from ragvigil.store.reports.sessions import Session
from ragvigil.web.views.reports.releases import FigureForm
from ragvigil.web.views.reports.sessions import SessionFiguresForm, SessionRubricForm

MOST_QUESTIONS = 400
"""Questions whose vectors are computed for a service: the model takes 20 ms for each."""
ASKS = {
    RESOLVED: "Did the last answer help, and was the session not escalated?",
    DIRECT: "Which share of the questions did not have to be asked again?",
}


class SameMeaning:
    """Tells questions that ask the same; `embed` is that of the local models."""

    def __init__(self, embed: Callable[[Sequence[str]], object]) -> None:
        self._embed = embed

    def of(self, pairs: Sequence[Pair]) -> frozenset[Pair] | str:
        """Those of the pairs that ask the same, or why the model cannot tell."""
        import numpy as np

        questions = sorted({question for pair in pairs for question in pair})
        if not questions:
            return frozenset()
        if len(questions) > MOST_QUESTIONS:
            return f"{len(questions):,} questions are too many for the local model"
        found = self._embed(questions)
        if isinstance(found, Unavailable):
            return str(found)
        vectors = dict(zip(questions, np.asarray(found), strict=True))
        return frozenset(
            (first, second)
            for first, second in pairs
            if float(vectors[first] @ vectors[second]) >= SAME_MEANING
            and has_same_numbers(first, second)
        )


def session_forms(sessions: Sequence[Session], meaning: SameMeaning) -> list[SessionFiguresForm]:
    """The figures of each service."""
    by_place: dict[tuple[str, str], list[Session]] = defaultdict(list)
    for session in sessions:
        by_place[session.service, session.environment].append(session)
    return [
        _form(service, environment, found, meaning)
        for (service, environment), found in sorted(by_place.items())
    ]


def _form(
    service: str, environment: str, sessions: Sequence[Session], meaning: SameMeaning
) -> SessionFiguresForm:
    same = meaning.of(consecutive(sessions))
    is_same: IsSame = are_alike_by_words
    if not isinstance(same, str):
        pairs = same
        is_same = lambda first, second: (first, second) in pairs  # noqa: E731
    found = figures_of([reading_of(session, is_same) for session in sessions])
    return SessionFiguresForm(
        service=service,
        environment=environment,
        sessions=found.sessions,
        turns=found.turns,
        by="words" if isinstance(same, str) else "meaning",
        why=same if isinstance(same, str) else "",
        turns_to_resolution=found.turns_to_resolution,
        retries=_figure(found.retries),
        reformulations=_figure(found.reformulations),
        escalations=_figure(found.escalations),
        rubrics=[
            SessionRubricForm.model_validate(
                {"rubric": name, "asks": ASKS[name], "mean": _figure(mean)}
            )
            for name, mean in found.rubrics.items()
        ],
    )


def _figure(figure: Figure | None) -> FigureForm | None:
    return None if figure is None else FigureForm(**asdict(figure))
