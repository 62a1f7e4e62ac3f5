"""Whether a rubric tracks users: do answers that users complain of score lower? Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragvigil.evaluation.live.logistic import Fit, fit
from ragvigil.evaluation.live.ranking import Interval, auroc, lift

if TYPE_CHECKING:
    from ragvigil.evaluation.live.ranking import Flags, Floats, Ints

RATED = "thumbs_down"
SIGNALS = (RATED, "escalation", "correction", "retry")
CHANCE = 0.5
USEFUL = 0.6
"""A rubric whose area under the curve is surely below does not track users."""
LEAST_BAD = 10
"""Bad answers, by different questions: with fewer, one user's mood decides."""
ERRORS = 0.05


class Tracks(StrEnum):
    """What the interval of the area under the curve says."""

    TRACKS = "tracks users"
    DOES_NOT = "does not track users"
    OPPOSITE = "bad answers score higher"
    TOO_FEW = "too few to say"


class Heard(Protocol):
    """An answer, what users said of it, and its scores; see the store's `UserAnswer`."""

    @property
    def question(self) -> int: ...
    @property
    def signals(self) -> Mapping[str, bool]: ...
    @property
    def scores(self) -> Mapping[str, float]: ...
    @property
    def weight(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracking:
    """A rubric against one kind of feedback: `n` answers, `bad` of them bad."""

    rubric: str
    signal: str
    verdict: Tracks
    auroc: Interval | None
    lift: Interval | None
    n: int
    bad: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReport:
    """One kind of feedback: every rubric against it, best first, and all rubrics together."""

    signal: str
    n: int
    bad: int
    rubrics: Sequence[Tracking]
    together: Fit | None


def signal_reports(
    answers: Sequence[Heard], fails_below: Mapping[str, float]
) -> list[SignalReport]:
    """A report for each kind of feedback that came, of the answers of one service.

    Thumbs are compared among answers that were rated: who does not rate says nothing. An
    escalation, a correction or a retry is compared with all other answers. Intervals hold for all
    rubrics of a report together (Bonferroni): of twenty useless rubrics none shall look good.
    """
    reports = []
    for signal in SIGNALS:
        about = [answer for answer in answers if signal != RATED or RATED in answer.signals]
        if any(signal in answer.signals for answer in about):
            reports.append(_report(signal, about, fails_below))
    return reports


def _report(
    signal: str, answers: Sequence[Heard], fails_below: Mapping[str, float]
) -> SignalReport:
    is_bad = np.array([answer.signals.get(signal, False) for answer in answers], dtype=bool)
    weight = np.array([answer.weight for answer in answers])
    question = np.array([answer.question % 2**62 for answer in answers], dtype=np.int64)
    names = sorted({name for answer in answers for name in answer.scores})
    scores = {
        name: np.array([answer.scores.get(name, np.nan) for answer in answers]) for name in names
    }
    z = NormalDist().inv_cdf(1 - ERRORS / 2 / max(1, len(names)))
    rows = [
        _tracking(signal, name, scores[name], is_bad, weight, question, fails_below.get(name), z)
        for name in names
    ]
    return SignalReport(
        signal=signal,
        n=len(answers),
        bad=int(is_bad.sum()),
        rubrics=sorted(rows, key=lambda row: -(row.auroc.value if row.auroc else 0.0)),
        together=fit(scores, is_bad, weight, question, NormalDist().inv_cdf(1 - ERRORS / 2)),
    )


def _tracking(
    signal: str,
    name: str,
    scores: Floats,
    is_bad: Flags,
    weight: Floats,
    question: Ints,
    fails_below: float | None,
    z: float,
) -> Tracking:
    known = ~np.isnan(scores)
    scores, is_bad = scores[known], is_bad[known]
    weight, question = weight[known], question[known]
    bad = int(is_bad.sum())
    area = auroc(scores, is_bad, question, z) if 0 < bad < len(scores) else None
    fails = scores < fails_below if fails_below is not None else np.zeros(len(scores), dtype=bool)
    return Tracking(
        rubric=name,
        signal=signal,
        verdict=_verdict(area, len(np.unique(question[is_bad]))),
        auroc=area,
        lift=lift(fails, is_bad, weight, question, z),
        n=len(scores),
        bad=bad,
    )


def _verdict(area: Interval | None, bad_questions: int) -> Tracks:
    if area is None or bad_questions < LEAST_BAD:
        return Tracks.TOO_FEW
    if area.low > CHANCE:
        return Tracks.TRACKS
    if area.high < CHANCE:
        return Tracks.OPPOSITE
    return Tracks.DOES_NOT if area.high < USEFUL else Tracks.TOO_FEW
