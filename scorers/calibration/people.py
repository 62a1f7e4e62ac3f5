"""Measures how far people agree who labelled the same answers by one rubric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from ragvigil.store.scores.labels import Label
from scorers.calibration.kappa import Kappa, Verdict, kappa_with_interval
from scorers.calibration.measure import passes

Answer: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleMeasure:
    """Agreement on `answers` that two people or more labelled; `agreement` is the equal share."""

    rubric: str
    answers: int
    agreement: float
    kappa: Kappa


def between_people(newest_first: Iterable[Label], bars: Mapping[str, float]) -> list[PeopleMeasure]:
    """Compares every two people on every answer that both labelled, as pass or fail or as words.

    Of several labels of a person on an answer the newest counts; labels without a labeller are
    nobody's. `bars` holds the value of each rubric under which an answer fails.
    """
    by_rubric: dict[str, dict[Answer, dict[str, Verdict]]] = defaultdict(lambda: defaultdict(dict))
    for label in newest_first:
        if label.labeller:
            people = by_rubric[label.rubric][label.trace_id, label.record_id]
            people.setdefault(label.labeller, _verdict(label, bars.get(label.rubric)))
    measured = (_measure(rubric, answers) for rubric, answers in by_rubric.items())
    return sorted((each for each in measured if each), key=lambda each: each.rubric)


def _measure(rubric: str, answers: Mapping[Answer, Mapping[str, Verdict]]) -> PeopleMeasure | None:
    # In the order of their ids: an interval depends on the order of its pairs.
    shared = [people for _, people in sorted(answers.items()) if len(people) > 1]
    # In the order of their names: kappa weighs how often each side gives a verdict.
    pairs = [pair for people in shared for pair in combinations(sorted(people.items()), 2)]
    if not pairs:
        return None
    first, second = ([pair[side][1] for pair in pairs] for side in (0, 1))
    return PeopleMeasure(
        rubric=rubric,
        answers=len(shared),
        agreement=sum(map(_is_same, first, second)) / len(pairs),
        kappa=kappa_with_interval(first, second),
    )


def _verdict(label: Label, bar: float | None) -> Verdict:
    return label.label if label.value is None else float(passes(label.value, bar))


def _is_same(first: Verdict, second: Verdict) -> bool:
    return first == second
