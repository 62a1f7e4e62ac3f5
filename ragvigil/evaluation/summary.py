"""Means of a run by value and slice, with intervals and what difference they could show. Pure.

>>> mean = mean_of([1.0, 1.0, 0.0, 1.0])
>>> mean.n, mean.mean, round(mean.low, 2), round(mean.high, 2)
(4, 0.75, 0.19, 0.99)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from ragvigil.evaluation.exact import share_interval
from ragvigil.evaluation.result import COSTS, Condition, Reading, Result

ALL = ("", "")
"""The slice of everything."""
TAIL = 0.025
Z, POWER_Z = 1.96, 0.84
"""Quantiles of the normal distribution: 5 % error in both directions, 80 % power."""

FEWEST = 20
"""Questions under which recall says nothing of the retriever."""
GOOD_RECALL, LOST = 0.8, 0.1

Slice = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over `n` questions with its 95 % interval.

    Of one question the interval is not known, unless it is a share of events. `shows` is the
    smallest difference to another run of as many questions that would be seen in four of five
    trials; None with fewer than two.
    """

    n: int
    mean: float
    low: float | None
    high: float | None
    shows: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One slice under one condition: its cases, means by value and failures by reading."""

    condition: Condition
    slice: Slice
    cases: int
    means: Mapping[str, Mean]
    readings: Mapping[Reading, int]

    @property
    def failed(self) -> int:
        """How many cases failed."""
        return sum(self.readings.values())


def parts(results: Sequence[Result]) -> list[Part]:
    """Everything under each condition first, then its slices by name.

    A slice that holds all cases of its condition says nothing of its own.
    """
    inside: dict[tuple[Condition, Slice], list[Result]] = {}
    for result in results:
        inside.setdefault((result.condition, ALL), []).append(result)
    for result in results:
        for dimension, names in result.slices.items():
            for name in names:
                inside.setdefault((result.condition, (dimension, name)), []).append(result)
    whole = {condition: len(inside[condition, ALL]) for condition, name in inside if name == ALL}
    return [
        _part(condition, name, listed)
        for (condition, name), listed in sorted(inside.items(), key=lambda item: item[0][1])
        if name == ALL or len(listed) < whole[condition]
    ]


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of at least one value.

    The interval of a share of events is exact (Clopper and Pearson), any other is Student's.
    """
    n, mean = len(values), fmean(values)
    is_share = all(value in (0, 1) for value in values)
    low, high = share_interval(round(sum(values)), n, tail=TAIL) if is_share else (None, None)
    if n == 1:
        return Mean(n=n, mean=mean, low=low, high=high, shows=None)
    spread = stdev(values)
    if is_share:
        # Where all are alike so far, another run's need not be (Agresti and Coull).
        likely = (sum(values) + 2) / (n + 4)
        spread = sqrt(likely * (1 - likely))
    else:
        half = _t(n - 1) * spread / sqrt(n)
        low, high = mean - half, mean + half
    if min(values) >= 0 and max(values) <= 1:
        low, high = max(0.0, low or 0.0), min(1.0, 1.0 if high is None else high)
    shows = (Z + POWER_Z) * spread * sqrt(2 / n)
    return Mean(n=n, mean=mean, low=low, high=high, shows=shows)


def retriever_or_reranker(means: Mapping[str, Mean]) -> str:
    """The sentence that tells them apart; empty where recall is good or too few cases have it."""
    deep, short = means.get("recall@50"), means.get("recall@5")
    if deep is None or short is None or deep.n < FEWEST:
        return ""
    if deep.mean < GOOD_RECALL:
        return (
            f"Recall@50 is {deep.mean:.2f}: the retriever does not find the gold chunks, "
            "and no reranker could."
        )
    if short.mean < deep.mean - LOST:
        return (
            f"Recall@50 is {deep.mean:.2f} and recall@5 {short.mean:.2f}: the gold chunks are "
            "found and ranked too low, which is the reranker's to mend."
        )
    return ""


def _part(condition: Condition, name: Slice, results: Sequence[Result]) -> Part:
    return Part(
        condition=condition,
        slice=name,
        cases=len(results),
        means=dict(_means(results)),
        readings=Counter(result.reading for result in results if result.reading),
    )


def _means(results: Sequence[Result]) -> Iterable[tuple[str, Mean]]:
    names = sorted({name for result in results for name in result.values})
    for name in sorted(names, key=lambda name: (name in COSTS, name)):
        if values := _by_question(results, name):
            yield name, mean_of(values)


def _by_question(results: Sequence[Result], name: str) -> list[float]:
    """One value a question: duplicates and paraphrases are one."""
    groups: dict[str, list[float]] = {}
    for result in results:
        value = result.values.get(name)
        if value is not None:
            groups.setdefault(result.group or result.case_id, []).append(value)
    return [fmean(values) for values in groups.values()]


def _t(freedom: int) -> float:
    """Student's quantile (Abramowitz and Stegun 26.7.5, three terms)."""
    z = Z
    first = (z**3 + z) / (4 * freedom)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    return z + first + second + third
