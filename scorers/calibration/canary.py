"""The canary: 60 frozen records, judged again and again, that show when the judge moves. Pure.

The records do not change, so a change of their scores comes from the instrument: a new model behind
the same name, a prompt, a parser.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

Key: TypeAlias = tuple[str, str]
"""Trace id and record id."""

EACH = 20
"""Records of each group."""
CLEAR = 0.5
"""Good and bad records lie at least halfway from the bar to the end of the scale."""
LEAST_PAIRS = 10
"""Least records judged both times for a comparison."""
ALPHA = 0.005
"""Probability of a false "moved" in a rerun, over all rubrics; there are four reruns a day."""
USUAL_CROSSINGS = 0.05
"""Share of records that may cross the bar in a rerun of an unchanged judge."""
FLIPS = 20_000
"""Random sign flips of a resampling test: p values down to 0.00005."""


class Group(StrEnum):
    """The place of a record by its worst rubric."""

    GOOD = "good"
    BAD = "bad"
    BORDERLINE = "borderline"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRecord:
    """A judged record with the value of each rubric."""

    key: Key
    route: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A record of the canary."""

    key: Key
    route: str
    group: Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The change of one rubric in a rerun: the mean over `n` pairs of runs, with its p-value.

    `crossed` is the number of records that changed between pass and fail. `moved` is None if there
    are too few pairs to tell; `why` is the result in words.
    """

    rubric: str
    n: int
    change: float | None
    p: float | None
    crossed: int
    moved: bool | None
    why: str


def pick(
    records: Iterable[JudgedRecord], bars: Mapping[str, float], *, salt: str = "", each: int = EACH
) -> tuple[Member, ...]:
    """Picks up to `each` good, bad and borderline records, spread over the routes, by hash.

    `bars` holds the value of each rubric under which a record fails. Leaves out records that have a
    value for none of these rubrics.
    """
    groups: dict[Group, list[JudgedRecord]] = {group: [] for group in Group}
    for record in records:
        group = group_of(record.values, bars)
        if group is not None:
            groups[group].append(record)
    return tuple(
        Member(key=record.key, route=record.route, group=group)
        for group, members in groups.items()
        for record in _spread(members, salt)[:each]
    )


def group_of(values: Mapping[str, float], bars: Mapping[str, float]) -> Group | None:
    """The group of a record; None if no rubric with a bar gave it a value.

    >>> group_of({"groundedness": 0.9, "completeness": 0.1}, {"groundedness": 0.8})
    <Group.GOOD: 'good'>
    """
    margins = [_margin(values[rubric], bar) for rubric, bar in bars.items() if rubric in values]
    if not margins:
        return None
    if min(margins) <= -CLEAR:
        return Group.BAD
    return Group.GOOD if min(margins) >= CLEAR else Group.BORDERLINE


def _margin(value: float, bar: float) -> float:
    """The distance of a value from the bar, as a share of the way to that end of the scale: -1..1.

    Negative below the bar.
    """
    room = 1 - bar if value >= bar else bar
    return (value - bar) / room if room > 0 else 1.0


def _spread(records: list[JudgedRecord], salt: str) -> list[JudgedRecord]:
    """Orders records round-robin over the routes; by hash within a route and between routes."""
    routes: dict[str, list[JudgedRecord]] = {}
    for record in sorted(records, key=lambda record: _place(salt, *record.key)):
        routes.setdefault(record.route, []).append(record)
    turns = [
        (turn, _place(salt, route), record)
        for route, own in routes.items()
        for turn, record in enumerate(own)
    ]
    return [record for _, _, record in sorted(turns, key=lambda turn: turn[:2])]


def _place(*parts: str) -> bytes:
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def compare(
    rubric: str,
    first: Mapping[Key, float],
    again: Mapping[Key, float],
    bar: float | None,
    *,
    rubrics: int = 1,
    seed: int = 0,
) -> Shift:
    """Tests whether a rerun differs from the first run, by pairs of values of the same record.

    It moved if the mean changed (sign-flip test of the paired differences) or if more records
    crossed the bar than those of an unchanged judge (binomial test). Both tests together raise a
    false alarm in 0.5 % of the reruns over all `rubrics` (Bonferroni).
    """
    pairs = sorted(first.keys() & again.keys())
    n = len(pairs)
    if n < LEAST_PAIRS:
        why = f"{n} records were judged both times; {LEAST_PAIRS} are needed to tell"
        return Shift(rubric=rubric, n=n, change=None, p=None, crossed=0, moved=None, why=why)
    changes = np.array([again[key] - first[key] for key in pairs])
    crossed = 0 if bar is None else sum((first[key] < bar) != (again[key] < bar) for key in pairs)
    # Two tests for each rubric share ALPHA (Bonferroni).
    p, alpha = _sign_flip_p(changes, seed), ALPHA / max(rubrics, 1) / 2
    moved = p < alpha or _binomial_tail(crossed, n, USUAL_CROSSINGS) < alpha
    change = float(changes.mean())
    why = (
        f"{rubric} {'moved' if moved else 'stands'}: {change * 100:+.1f} points over {n} frozen "
        f"records (p {p:.2g}), {crossed} crossed the bar"
    )
    return Shift(rubric=rubric, n=n, change=change, p=p, crossed=crossed, moved=moved, why=why)


def _sign_flip_p(changes: np.ndarray[tuple[int], np.dtype[np.float64]], seed: int) -> float:
    """The two-sided p-value of the mean under random signs: exact for up to 14 changes, else by
    resampling with FLIPS draws."""
    some = changes[np.abs(changes) > 1e-9]  # pairs without a change are the same under any sign
    observed = abs(float(some.sum()))
    if not len(some):
        return 1.0
    if len(some) <= 14:
        bits = (np.arange(2 ** len(some))[:, None] >> np.arange(len(some))) & 1
        sums = np.abs((2 * bits - 1) @ some)
        return float((sums >= observed - 1e-9).mean())
    signs = np.random.default_rng(seed).integers(0, 2, (FLIPS, len(some))) * 2 - 1
    # The observed signs are one more draw, so that a resampled p-value is never 0.
    sums = np.abs(signs @ some)
    return float(((sums >= observed - 1e-9).sum() + 1) / (FLIPS + 1))


def _binomial_tail(count: int, n: int, share: float) -> float:
    """The probability of `count` or more successes in `n` trials, each with probability `share`."""
    return 1 - sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(count))
