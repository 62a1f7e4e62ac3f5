"""Finds the scorers: the entry points of the group `ragvigil.scorers`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint

from ragvigil.model.plugin import LeftOut, Plugins, own, plug_in
from ragvigil.model.scorer import Scorer
from scorers.rubric import load_rubrics
from scorers.settings import ScorersSettings

GROUP = "ragvigil.scorers"


class NotAScorer(TypeError):
    """A plug-in is not a scorer; `str(error)` says what it lacks."""


def find_scorers(settings: ScorersSettings | None = None) -> tuple[Scorer, ...]:
    """All scorers that load, sorted by rubric.

    Leaves out plug-ins that do not load (see `scorers_left_out`); a scorer of this package that
    does not load raises.
    """
    effective = settings or ScorersSettings()
    scorers = (
        *(_build(scorer_type, effective) for scorer_type in _house_types()),
        *_plugins().loaded,
    )
    return tuple(sorted(scorers, key=lambda scorer: scorer.rubric))


def scorers_left_out() -> tuple[LeftOut, ...]:
    """The plug-ins that cannot be used, each with why; loads no scorer of this package."""
    return _plugins().left_out


@cache
def _house_types() -> tuple[type[Scorer], ...]:
    return tuple(point.load() for point in own(GROUP))


def _build(scorer_type: type[Scorer], settings: ScorersSettings) -> Scorer:
    """Creates a scorer of this package, by its `from_settings` where it has one."""
    from_settings = getattr(scorer_type, "from_settings", None)
    scorer: Scorer = from_settings(settings) if from_settings else scorer_type()
    return scorer


@cache
def _plugins() -> Plugins[Scorer]:
    return plug_in(GROUP, _load_plugin)


def _load_plugin(point: EntryPoint) -> Scorer:
    scorer: Scorer = point.load()()
    if not callable(getattr(scorer, "score", None)):
        raise NotAScorer(f"{point.value} has no method score")
    rubric = getattr(scorer, "rubric", None)
    if not isinstance(rubric, str) or rubric not in load_rubrics():
        raise NotAScorer(f"{point.value} is for rubric {rubric!r}, and no {rubric}.toml is found")
    return scorer
