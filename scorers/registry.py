"""Which scorers there are: the entry points of the group `ragvigil.scorers`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint

from ragvigil.model.plugin import LeftOut, Plugged, own, plug_in
from ragvigil.model.scorer import Scorer
from scorers.rubric import load_rubrics

GROUP = "ragvigil.scorers"


class NotAScorer(TypeError):
    """A plug-in is no scorer; `str(error)` says what it lacks."""


@cache
def registered() -> tuple[Scorer, ...]:
    """All scorers that load, by rubric; one of the house that does not load raises."""
    found = (*(point.load()() for point in own(GROUP)), *_outside().found)
    return tuple(sorted(found, key=lambda scorer: scorer.rubric))


def scorers_left_out() -> tuple[LeftOut, ...]:
    """The scorers of others that cannot be used; loads none of the house's."""
    return _outside().left_out


@cache
def _outside() -> Plugged[Scorer]:
    return plug_in(GROUP, _made)


def _made(point: EntryPoint) -> Scorer:
    scorer: Scorer = point.load()()
    if not callable(getattr(scorer, "score", None)):
        raise NotAScorer(f"{point.value} has no method score")
    rubric = getattr(scorer, "rubric", None)
    if not isinstance(rubric, str) or rubric not in load_rubrics():
        raise NotAScorer(f"{point.value} is for rubric {rubric!r}, and no {rubric}.toml is found")
    return scorer
