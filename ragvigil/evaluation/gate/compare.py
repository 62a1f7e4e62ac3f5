"""Compares two runs rubric by rubric and slice by slice, and says of each what can be said. Pure.

*Worse*: the fall is larger than the limit, and chance makes such a fall more rarely than the
settings' `chance`, after Holm's correction (1979) among all slices. *Too few*: not
worse, and a fall of the limit could have stayed unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ragvigil.evaluation.gate.difference import Difference, cases_for, difference
from ragvigil.evaluation.gate.limits import GateSettings
from ragvigil.evaluation.gate.pairs import CONDITION, Pair, by_slice, in_overall, value
from ragvigil.evaluation.result import Condition

TAIL = 0.05
"""Each bound of an interval is missed so often: what is shown is a 90 % interval, whose lower bound
alone says with 95 % that no larger fall happened."""
MOST_UNSCORED = 0.2
"""With a larger share of the base's values missing in the new run, nothing is said of a rubric."""
LEAST_SHARE = 0.5
"""A rubric that applies to fewer of the cases asked as in production is that of a slice, as the
refusal of unanswerable questions: too few cases of it do not stop the gate."""
Name = tuple[str, str]
"""A slice: its dimension and value."""
OVERALL: Name = ("", "")


class Verdict(StrEnum):
    """What can be said of a difference."""

    WORSE = "worse"
    WITHIN_NOISE = "within noise"
    BETTER = "better"
    TOO_FEW = "too few cases to say"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A rubric in both runs, over all cases or in a slice.

    `limit` is the largest allowed fall; `decides` whether too few cases of it stop the gate.
    `chance` is the probability of such a fall, or rise, without a change of the service, after
    Holm. `unscored` counts the cases that have a value in the base and none in the new run;
    `needed` is about how many cases would do where these are too few.
    """

    rubric: str
    slice: Name
    limit: float
    verdict: Verdict
    difference: Difference | None
    decides: bool = False
    chance: float = 1.0
    unscored: int = 0
    needed: int = 0

    @property
    def is_overall(self) -> bool:
        """Whether it is about all cases."""
        return self.slice == OVERALL


def compare(pairs: Sequence[Pair], rubric: str, settings: GateSettings) -> Comparison:
    """Compares a rubric over all cases, without a correction for other comparisons."""
    own = in_overall(pairs, rubric)
    asked, having = _usual(pairs), _usual(own)
    is_common = having >= LEAST_SHARE * asked if asked else len(own) >= LEAST_SHARE * len(pairs)
    found = _compare(own, rubric, OVERALL, settings)
    return replace(found, decides=rubric in settings.decisive and is_common)


def compare_slices(
    pairs: Sequence[Pair], rubrics: Iterable[str], settings: GateSettings
) -> tuple[Comparison, ...]:
    """Compares rubrics in every slice, corrected together, the largest fall first."""
    each = [
        _compare(inside, rubric, name, settings)
        for rubric in rubrics
        for name, inside in _slices(pairs, rubric).items()
    ]
    known = [comparison for comparison in each if comparison.difference is not None]
    return tuple(sorted(corrected(known, settings), key=_size))


def corrected(comparisons: Sequence[Comparison], settings: GateSettings) -> tuple[Comparison, ...]:
    """The comparisons with probabilities and verdicts after Holm's correction among them.

    Groups so few that no fall could ever be told from chance are not counted as a test.
    """
    tested = {
        place: each.difference
        for place, each in enumerate(comparisons)
        if each.difference is not None and _is_testable(each.difference, settings)
    }
    falls = holm({place: shown.falls for place, shown in tested.items()})
    rises = holm({place: shown.rises for place, shown in tested.items()})
    return tuple(
        _judged(each, falls[place], rises[place], settings) if place in tested else each
        for place, each in enumerate(comparisons)
    )


def holm(chances: Mapping[int, float]) -> dict[int, float]:
    """Holm's step-down correction of several probabilities.

    >>> holm({0: 0.01, 1: 0.04, 2: 0.03})
    {0: 0.03, 2: 0.06, 1: 0.06}
    """
    corrected_chances, worst = {}, 0.0
    for place, (key, chance) in enumerate(sorted(chances.items(), key=lambda item: item[1])):
        worst = max(worst, min(1.0, (len(chances) - place) * chance))
        corrected_chances[key] = worst
    return corrected_chances


def _compare(pairs: Sequence[Pair], rubric: str, name: Name, settings: GateSettings) -> Comparison:
    both = [(pair.group, *known) for pair in pairs if (known := pair.values(rubric))]
    limit = settings.limit_of(rubric)
    found = difference(both, tail=TAIL, power=settings.power)
    comparison = Comparison(
        rubric=rubric,
        slice=name,
        limit=limit,
        verdict=Verdict.TOO_FEW,
        difference=found,
        unscored=_unscored(pairs, rubric),
        needed=cases_for(found, limit, tail=TAIL) if found else 0,
    )
    if found is None or not _is_testable(found, settings):
        return comparison
    return _judged(comparison, found.falls, found.rises, settings)


def _judged(
    comparison: Comparison, falls: float, rises: float, settings: GateSettings
) -> Comparison:
    shown = comparison.difference
    assert shown is not None
    if shown.size < -comparison.limit and falls <= settings.chance:
        verdict = Verdict.WORSE
    elif comparison.unscored > MOST_UNSCORED * (shown.n + comparison.unscored):
        verdict = Verdict.TOO_FEW
    elif shown.size > 0 and rises <= settings.chance:
        verdict = Verdict.BETTER
    elif _is_shown_steady(shown, comparison.limit):
        verdict = Verdict.WITHIN_NOISE
    else:
        verdict = Verdict.TOO_FEW
    return replace(comparison, verdict=verdict, chance=falls if shown.size < 0 else rises)


def _is_shown_steady(shown: Difference, limit: float) -> bool:
    """Whether a fall beyond the limit is excluded, or would have been seen."""
    would_be_seen = shown.detectable <= limit and shown.size >= -limit
    return shown.unseen <= limit and (shown.low > -limit or would_be_seen)


def _is_testable(shown: Difference, settings: GateSettings) -> bool:
    """Whether so many groups, all of them worse, would be more than chance."""
    return bool(0.5**shown.groups <= settings.chance)


def _unscored(pairs: Iterable[Pair], rubric: str) -> int:
    return sum(
        value(pair.base, rubric) is not None and value(pair.new, rubric) is None for pair in pairs
    )


def _usual(pairs: Iterable[Pair]) -> int:
    """How many were asked as in production."""
    return sum(pair.new.condition is Condition.RETRIEVED for pair in pairs)


def _slices(pairs: Sequence[Pair], rubric: str) -> Mapping[Name, list[Pair]]:
    """The slices of production's condition, and every other condition as a slice."""
    having = by_slice([pair for pair in pairs if value(pair.base, rubric) is not None])
    conditions = {name: inside for name, inside in having.items() if name[0] == CONDITION}
    return {**by_slice(in_overall(pairs, rubric)), **conditions}


def _size(comparison: Comparison) -> tuple[bool, float]:
    shown = comparison.difference
    return comparison.verdict is not Verdict.WORSE, shown.size if shown else 0.0
