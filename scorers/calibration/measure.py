"""One judge of one rubric against the labels of people: agreement, state, level. Pure.

What people said decides how the two are compared: pass or fail, grades in between (weighted by
the squared distance), or words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scorers.calibration.kappa import Kappa, Verdict, Weighting, kappa_with_interval
from scorers.calibration.ppi import Level, Sums, debiased_level
from scorers.calibration.status import ROLLING_LABELS, JudgeStatus, status_of

HALF = 0.5
"""Where a record passes by a rubric that does not say."""


class Scale(StrEnum):
    """What the labels are."""

    PASS_FAIL = "pass_fail"
    GRADES = "grades"
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What a person and a judge said of one record; None and empty where they said no such thing.

    `words` are the judge's labels. `is_base` says that the record was judged as one of the
    uniform sample.
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
    """Verdicts on one scale, side by side; `agreement` is the share on which they are one."""

    scale: Scale
    pairs: tuple[Pair, ...]
    people: tuple[Verdict, ...]
    judge: tuple[Verdict, ...]
    agreement: float | None

    @property
    def weighting(self) -> Weighting:
        """Grades have an order, words and pass or fail have none to speak of."""
        return Weighting.QUADRATIC if self.scale is Scale.GRADES else Weighting.NOMINAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How a judge stands; `level` is None for words and where there are too few labels."""

    scale: Scale
    kappa: Kappa
    agreement: float | None
    status: JudgeStatus
    level: Level | None

    @property
    def disagreements(self) -> int:
        """Records on which people and judge differ."""
        return round(self.kappa.n * (1 - (1.0 if self.agreement is None else self.agreement)))


def measure(
    pairs: Iterable[Pair], bar: float | None, judged: Sums, failed: int, *, seed: int = 0
) -> Measure:
    """How a judge stands by the newest 200 of these pairs.

    `bar` is the value under which a record fails the rubric; `judged` sums the judge's values of
    all records of the uniform sample, the labelled ones included, of which `failed` fail.
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
    """The newest label of each record, of those the newest 200, newest first."""
    in_order = sorted(pairs, key=lambda pair: pair.time_unix_nano, reverse=True)
    first: dict[tuple[str, str], Pair] = {}
    for pair in in_order:
        first.setdefault((pair.trace_id, pair.record_id), pair)
    return list(first.values())[:ROLLING_LABELS]


def compare(pairs: Sequence[Pair], bar: float | None) -> Comparison:
    """Puts both sides on the scale of the people; pairs that are on another one are left out."""
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
    """The judge's word: the person's, where it is among several."""
    return [pair.word if pair.word in pair.words else pair.words[0] for pair in pairs]


def _share(first: Sequence[Verdict], second: Sequence[Verdict]) -> float | None:
    if not first:
        return None
    return sum(label == other for label, other in zip(first, second, strict=True)) / len(first)


def _level(compared: Comparison, judged: Sums, failed: int) -> Level | None:
    """The debiased level: of pass or fail the share that passes, of grades their mean."""
    if compared.scale is Scale.WORDS:
        return None
    if compared.scale is Scale.PASS_FAIL:
        passed = float(judged.n - failed)
        judged = Sums(n=judged.n, total=passed, squares=passed)
    base_places = [place for place, pair in enumerate(compared.pairs) if pair.is_base]
    judge_values = [float(compared.judge[place]) for place in base_places]
    unlabelled = judged - Sums.of(judge_values)
    # Roll-ups lag behind by seconds: what they do not hold yet is not counted twice.
    rest = (
        unlabelled
        if unlabelled.n > 0 and unlabelled.total >= 0 and unlabelled.squares >= 0
        else Sums()
    )
    return debiased_level(
        [float(compared.people[place]) for place in base_places], judge_values, rest
    )
