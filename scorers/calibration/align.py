"""Fits the value below which an answer fails to people's labels, cross-validated. Pure.

A judge that ranks answers as people do, and fails them at another value, disagrees with people for
no other reason. The value is fitted on four fifths of the labels and tried on the last fifth, in
turn: kappa *after* is of answers that the fit had not seen, as the next labels will be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from scorers.calibration.kappa import Kappa, kappa, kappa_gain, kappa_with_interval
from scorers.calibration.measure import HALF, Pair, newest
from scorers.calibration.status import LEAST_LABELS

FOLDS = 5
LEAST_OF_EACH = 8
"""Answers that pass and that fail, by people: with fewer, a fifth of the labels may hold none."""


class Advice(StrEnum):
    """What to do with the value below which an answer fails."""

    CHANGE = "change"
    """Kappa is larger after, beyond its interval."""
    KEEP = "keep"
    TOO_FEW = "too_few"
    GRADES = "grades"
    """People gave grades or words: no value decides between pass and fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """A judge with the present value (`before`) and the fitted one (`after`, on unseen labels).

    `fails_below` is fitted on all labels; it is the present value unless a change is advised.
    """

    advice: Advice
    labels: int
    present: float
    fails_below: float
    before: Kappa
    after: Kappa
    gain: Kappa


def align(pairs: Iterable[Pair], bar: float | None) -> Alignment:
    """Aligns a judge by the newest 200 of these pairs; `bar` is the present value."""
    valued = [pair for pair in newest(pairs) if pair.label is not None and pair.judged is not None]
    present = HALF if bar is None else bar
    passing = [pair.label == 1.0 for pair in valued]
    least = min(sum(passing), len(passing) - sum(passing))
    if any(pair.label not in (0.0, 1.0) for pair in valued):
        return _unfitted(Advice.GRADES, len(valued), present)
    if len(valued) < LEAST_LABELS or least < LEAST_OF_EACH:
        return _unfitted(Advice.TOO_FEW, len(valued), present)
    people = _words(passing)
    before = _words([_judged(pair) >= present for pair in valued])
    after = _words(_unseen(valued, present))
    gain = kappa_gain(people, before, after)
    is_better = gain.low is not None and gain.low > 0
    return Alignment(
        advice=Advice.CHANGE if is_better else Advice.KEEP,
        labels=len(valued),
        present=present,
        fails_below=fitted(valued, present) if is_better else present,
        before=kappa_with_interval(people, before),
        after=kappa_with_interval(people, after),
        gain=gain,
    )


def fitted(pairs: Sequence[Pair], present: float) -> float:
    """The value with the largest kappa on these pairs; of several the one nearest to the present.

    Tried are the present value and the middles between the judge's values.
    """
    values = sorted({_judged(pair) for pair in pairs})
    middles = [round((low + high) / 2, 4) for low, high in pairwise(values)]
    people = _words([pair.label == 1.0 for pair in pairs])

    def merit(bar: float) -> tuple[float, float]:
        agreed = kappa(people, _words([_judged(pair) >= bar for pair in pairs]))
        return (-1.0 if agreed is None else agreed, -abs(bar - present))

    return max([present, *middles], key=merit)


def _unseen(pairs: Sequence[Pair], present: float) -> list[bool]:
    """For each pair, whether it passes by the value fitted on the other folds."""
    folds = [_fold(pair) for pair in pairs]
    bars = [
        fitted([pair for pair, own in zip(pairs, folds, strict=True) if own != fold], present)
        for fold in range(FOLDS)
    ]
    return [_judged(pair) >= bars[fold] for pair, fold in zip(pairs, folds, strict=True)]


def _fold(pair: Pair) -> int:
    """The same for every record of a trace, whatever the order of labels."""
    return hashlib.blake2b(pair.trace_id.encode(), digest_size=4).digest()[0] % FOLDS


def _judged(pair: Pair) -> float:
    assert pair.judged is not None
    return pair.judged


def _words(passing: Iterable[bool]) -> list[str]:
    return ["pass" if passes else "fail" for passes in passing]


def _unfitted(advice: Advice, labels: int, present: float) -> Alignment:
    nothing = Kappa(n=labels)
    return Alignment(
        advice=advice,
        labels=labels,
        present=present,
        fails_below=present,
        before=nothing,
        after=nothing,
        gain=nothing,
    )
