"""Measures one judge of one rubric against people's labels: agreement, status, level. Pure.

The labels decide how the two are compared: as pass or fail, as grades (weighted by the squared
distance), or as words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scorers.calibration.kappa import Kappa, Verdict, Weighting, kappa_with_interval
from scorers.calibration.ppi import Level, Sums, debiased_level
from scorers.calibration.status import ROLLING_LABELS, JudgeStatus, status_of

HALF = 0.5
"""The bar of a rubric without `fails_below`."""


class Scale(StrEnum):
    """The scale of the labels."""

    PASS_FAIL = "pass_fail"
    GRADES = "grades"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The verdicts of a person (`label`, `word`) and a judge (`judged`, `words`) on one record.

    Values are None and words empty where they gave none. `is_base`: the record was judged as part
    of the uniform sample.
    """

    trace_id: str
    record_id: str
    time_unix_nano: int
    label: float | None = None
    word: str = ""
    judged: float | None = None
    words: tuple[str, ...] = ()
    is_base: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Verdicts of people and judge on one scale; `agreement` is the share of equal ones."""

    scale: Scale
    pairs: tuple[Pair, ...]
    people: tuple[Verdict, ...]
    judge: tuple[Verdict, ...]
    agreement: float | None

    @property
    def weighting(self) -> Weighting:
        """Quadratic for grades, which have an order; else nominal."""
        return Weighting.QUADRATIC if self.scale is Scale.GRADES else Weighting.NOMINAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Agreement, status and level of a judge; `level` is None for words and with few labels."""

    scale: Scale
    kappa: Kappa
    agreement: float | None
    status: JudgeStatus
    level: Level | None

    @property
    def disagreements(self) -> int:
        """The number of records on which people and judge differ."""
        return round(self.kappa.n * (1 - (1.0 if self.agreement is None else self.agreement)))


def measure(
    pairs: Iterable[Pair], bar: float | None, judged: Sums, failed: int, *, seed: int = 0
) -> Measure:
    """Measures a judge by the newest 200 of these pairs.

    `bar` is the value under which a record fails the rubric. `judged` sums the judge's values over
    all records of the uniform sample, labelled ones included; `failed` of them fail.
    """
    compared = compare(newest(pairs), bar)
    kappa = kappa_with_interval(compared.people, compared.judge, compared.weighting, seed=seed)
    return Measure(
        scale=compared.scale,
        kappa=kappa,
        agreement=compared.agreement,
        status=status_of(kappa),
        level=_level(compared, judged, failed),
    )


def newest(pairs: Iterable[Pair]) -> list[Pair]:
    """The newest label of each record; of these the newest 200, newest first."""
    in_order = sorted(pairs, key=lambda pair: pair.time_unix_nano, reverse=True)
    first: dict[tuple[str, str], Pair] = {}
    for pair in in_order:
        first.setdefault((pair.trace_id, pair.record_id), pair)
    return list(first.values())[:ROLLING_LABELS]


def compare(pairs: Sequence[Pair], bar: float | None) -> Comparison:
    """Puts both sides on the scale of the labels; leaves out pairs on another scale."""
    valued = [pair for pair in pairs if pair.label is not None and pair.judged is not None]
    worded = [pair for pair in pairs if pair.word and pair.words]
    if len(worded) > len(valued):
        return _comparison(Scale.WORDS, worded, [pair.word for pair in worded], _words(worded))
    people = [pair.label for pair in valued if pair.label is not None]
    judge = [pair.judged for pair in valued if pair.judged is not None]
    passing = [[float(passes(value, bar)) for value in side] for side in (people, judge)]
    if set(people) <= {0.0, 1.0}:
        return _comparison(Scale.PASS_FAIL, valued, *passing)
    same = _share(*passing)
    return _comparison(Scale.GRADES, valued, people, judge, agreement=same)


def passes(value: float, bar: float | None) -> bool:
    """Whether a record with this value passes its rubric."""
    return value >= (HALF if bar is None else bar)


def _comparison(
    scale: Scale,
    pairs: Sequence[Pair],
    people: Sequence[Verdict],
    judge: Sequence[Verdict],
    *,
    agreement: float | None = None,
) -> Comparison:
    return Comparison(
        scale=scale,
        pairs=tuple(pairs),
        people=tuple(people),
        judge=tuple(judge),
        agreement=_share(people, judge) if agreement is None else agreement,
    )


def _words(pairs: Sequence[Pair]) -> list[str]:
    """The judge's word of each pair: that of the person if the judge gave it, else its first."""
    return [pair.word if pair.word in pair.words else pair.words[0] for pair in pairs]


def _share(first: Sequence[Verdict], second: Sequence[Verdict]) -> float | None:
    if not first:
        return None
    return sum(label == other for label, other in zip(first, second, strict=True)) / len(first)


def _level(compared: Comparison, judged: Sums, failed: int) -> Level | None:
    """The debiased level: the share that passes, or the mean of grades."""
    if compared.scale is Scale.WORDS:
        return None
    if compared.scale is Scale.PASS_FAIL:
        passed = float(judged.n - failed)
        judged = Sums(n=judged.n, total=passed, squares=passed)
    base_places = [place for place, pair in enumerate(compared.pairs) if pair.is_base]
    judge_values = [float(compared.judge[place]) for place in base_places]
    unlabelled = judged - Sums.of(judge_values)
    # `judged` comes from roll-ups, which lag by seconds: a labelled record may be missing from it.
    # A difference that cannot be a sum of squares is discarded.
    rest = (
        unlabelled
        if unlabelled.n > 0 and unlabelled.total >= 0 and unlabelled.squares >= 0
        else Sums()
    )
    return debiased_level(
        [float(compared.people[place]) for place in base_places], judge_values, rest
    )
