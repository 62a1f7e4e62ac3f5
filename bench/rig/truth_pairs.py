"""Two faults one after the other: one incident each, or one that names both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from bench.rig.scored_pool import ScoredPool
from bench.rig.truth_clock import copied, opened, play
from bench.rig.truth_faults import BY_NAME, Truth
from bench.rig.truth_runs import layer_of
from bench.rig.truth_traffic import MINUTE, Episode
from ragvigil.model.incident import Incident

PAIRED = (
    "wrong_chunks",
    "half_the_documents",
    "reranker_reversed",
    "junk_chunks",
    "unsupported",
    "other_language",
    "citations_off_by_one",
    "truncation",
    "refusals",
    "chunker",
)
GAPS = (5, 30, 300)
APART_MINUTES = 30
BEFORE, AFTER = 10, 90
"""Minutes before the first fault, and after the second one began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The first fault on `routes[0]`, the second so many minutes later on `routes[1]`."""

    first: str
    second: str
    gap: int
    routes: tuple[str, str]

    @property
    def truths(self) -> tuple[Truth, Truth]:
        """The layers of both."""
        return BY_NAME[self.first].truth, BY_NAME[self.second].truth

    @property
    def are_two(self) -> bool:
        """Whether they are to be two incidents; else one that names both will do."""
        is_apart = self.gap >= APART_MINUTES or self.routes[0] != self.routes[1]
        return is_apart or self.truths[0] != self.truths[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """What the watch made of a pair; `lines` has a line for each incident."""

    pair: Pair
    incidents: int
    pages: int
    lines: tuple[str, ...]
    is_right: bool


def chosen(routes: Sequence[str], *, count: int, seed: int) -> Iterator[Pair]:
    """So many of the ordered pairs, over all gaps, on the same route and on another."""
    rng = np.random.default_rng(seed)
    every = list(permutations(PAIRED, 2))
    for number, place in enumerate(rng.permutation(len(every))[:count]):
        first, second = every[place]
        here = int(rng.integers(len(routes)))
        there = here if number % 2 else (here + 1) % len(routes)
        gap = GAPS[number // 2 % len(GAPS)]
        yield Pair(first=first, second=second, gap=gap, routes=(routes[here], routes[there]))


def rehearse_pair(
    pool: ScoredPool, healthy: Path, pair: Pair, *, ended: float, seed: int, turn_minutes: int = 3
) -> PairResult:
    """Both faults on a copy of a store whose traffic `ended` then (seconds)."""
    for name in (pair.first, pair.second):
        pool.prepare(name)
    begin = ended + BEFORE * MINUTE
    end = begin + (pair.gap + AFTER) * MINUTE
    starts = (begin, begin + pair.gap * MINUTE)
    episodes = [
        Episode(fault=BY_NAME[name], start=start, end=end, routes=(route,))
        for name, start, route in zip((pair.first, pair.second), starts, pair.routes, strict=True)
    ]
    with copied(healthy) as folder, opened(pool, folder, ended) as rehearsal:
        play(rehearsal, end, episodes, seed=seed, each_minutes=turn_minutes)
        found = rehearsal.incidents(begin)
    return PairResult(
        pair=pair,
        incidents=len(found),
        pages=sum(bool(one.paged_unix_nano) for one in found),
        lines=tuple(_line(one, begin) for one in found),
        is_right=_is_right(pair, found, starts),
    )


def _is_right(pair: Pair, found: Sequence[Incident], starts: tuple[float, float]) -> bool:
    """Whether each fault has an incident of its route and layer; its own, where they are two."""
    own = [
        [
            one
            for one in found
            if route in _routes(one)
            and layer_of(one) == truth
            and one.opened_unix_nano / 1e9 >= start
        ]
        for route, truth, start in zip(pair.routes, pair.truths, starts, strict=True)
    ]
    if pair.are_two:
        ids = [{one.incident_id for one in each} for each in own]
        return bool(ids[0]) and bool(ids[1]) and len(ids[0] | ids[1]) > 1
    return len(found) == 1 and set(pair.routes) <= set(_routes(found[0]))


def _line(incident: Incident, begin: float) -> str:
    minutes = (incident.opened_unix_nano / 1e9 - begin) / MINUTE
    signals = dict.fromkeys(f"{each.kind}:{each.signal}" for each in incident.findings)
    suspects = [f"{each.kind} {each.route}" for each in incident.suspects]
    return (
        f"{minutes:.0f} min {incident.severity} {', '.join(_routes(incident))}: "
        f"{layer_of(incident)} by {', '.join(signals)}; after {', '.join(suspects) or 'nothing'}"
    )


def _routes(incident: Incident) -> list[str]:
    return sorted({route for finding in incident.findings for route in finding.routes})
