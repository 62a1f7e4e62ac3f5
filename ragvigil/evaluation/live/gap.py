"""A golden set against live traffic: the same rubric, route and release, before and after.

Where a set is much better than what users get of the same release, it asks other questions than
they do: that is a finding about the set, not about the release.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from ragvigil.store.reports.offline_scores import Sums

LEAST_CASES, LEAST_LIVE = 10, 30
"""Questions of a set, and of users, under which a mean is compared with nothing."""
APART = 0.05
"""Gaps within this are of no use to anybody, however sure."""
ERROR = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A mean over `n` questions."""

    n: int
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """How much better a rubric is on the set than live; the route '' is all routes.

    The interval is of 95 % for all gaps of a run together. `is_apart`: it leaves out 0, and the gap
    is of some size.
    """

    service: str
    route: str
    rubric: str
    offline: Side
    live: Side
    gap: float
    low: float
    high: float
    is_apart: bool


def gaps(offline: Sequence[Sums], live: Sequence[Sums]) -> list[Gap]:
    """The gaps of a run, the widest first; what too few asked on a side is left out.

    A set that names an environment is compared with that one, else with all of them.
    """
    pairs = []
    for ours in offline:
        theirs = _sum(each for each in live if _is_beside(each, ours))
        if ours.questions >= LEAST_CASES and theirs and theirs.questions >= LEAST_LIVE:
            pairs.append((ours, theirs))
    z = NormalDist().inv_cdf(1 - ERROR / (2 * max(1, len(pairs))))
    found = [_gap(ours, theirs, z) for ours, theirs in pairs]
    return sorted(found, key=lambda gap: (not gap.is_apart, -abs(gap.gap)))


def _is_beside(theirs: Sums, ours: Sums) -> bool:
    return (
        theirs.rubric == ours.rubric
        and theirs.service == ours.service
        and ours.route in ("", theirs.route)
        and ours.environment in ("", theirs.environment)
    )


def _sum(parts: Iterable[Sums]) -> Sums | None:
    totals: dict[str, float] = defaultdict(float)
    last = None
    for last in parts:
        for name in ("n", "total", "squares", "questions"):
            totals[name] += getattr(last, name)
    if last is None:
        return None
    return Sums(
        service=last.service,
        environment=last.environment,
        route=last.route,
        rubric=last.rubric,
        n=int(totals["n"]),
        total=totals["total"],
        squares=totals["squares"],
        questions=int(totals["questions"]),
    )


def _gap(ours: Sums, theirs: Sums, z: float) -> Gap:
    (here, here_error), (there, there_error) = _shrunk(ours, z), _shrunk(theirs, z)
    half = z * sqrt(here_error + there_error)
    low, high = max(-1.0, here - there - half), min(1.0, here - there + half)
    offline = Side(n=ours.n, mean=ours.total / ours.n)
    live = Side(n=theirs.n, mean=theirs.total / theirs.n)
    gap = offline.mean - live.mean
    return Gap(
        service=ours.service,
        route=ours.route,
        rubric=ours.rubric,
        offline=offline,
        live=live,
        gap=gap,
        low=low,
        high=high,
        is_apart=abs(gap) >= APART and (low > 0 or high < 0),
    )


def _shrunk(sums: Sums, z: float) -> tuple[float, float]:
    """A mean and its squared error, with as many zeros and ones added as keep the interval honest.

    Without them it is too narrow near 0 and 1, where scores lie, and has no width where all are
    alike (Agresti and Caffo 2000). Answers to one question are one voice.
    """
    added = z * z / 4
    n = sums.questions + 2 * added
    mean = (sums.total / sums.n * sums.questions + added) / n
    square = (sums.squares / sums.n * sums.questions + added) / n
    return mean, (square - mean * mean) / n
