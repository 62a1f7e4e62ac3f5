"""Compares the composition of a golden set with the mix that it should have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from ragvigil.model.golden import GoldenCase, QueryType

AIM: Mapping[QueryType, float] = {
    QueryType.CANONICAL: 0.4,
    QueryType.ADVERSARIAL: 0.3,
    QueryType.FAILURE: 0.3,
}
FLOOR, ENOUGH = 50, 200
"""Fewer cases than FLOOR prove little; ENOUGH are enough for most services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeShare:
    """A type of query: its cases, their share, the share aimed at, and how many are missing."""

    query_type: QueryType
    cases: int
    share: float | None
    aim: float
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The composition of a set; shares are None in an empty set.

    `from_production` is the share of cases that failed in production; it should be half.
    """

    cases: int
    floor: int
    enough: int
    parts: tuple[TypeShare, ...]
    from_production: float | None


def composition(cases: Sequence[GoldenCase]) -> Composition:
    """The composition of these cases.

    `missing` completes the mix without removing a case: it aims at the smallest set of at least
    `FLOOR` cases in which no type exceeds its share.
    """
    counts = Counter(case.query_type for case in cases)
    # 1e-9: a rounding error of the division must not ask for a further case.
    whole = max(FLOOR, *(ceil(counts[name] / aim - 1e-9) for name, aim in AIM.items()))
    broke = sum(bool(case.trace_id or case.issue_id) for case in cases)
    return Composition(
        cases=len(cases),
        floor=FLOOR,
        enough=ENOUGH,
        from_production=broke / len(cases) if cases else None,
        parts=tuple(
            TypeShare(
                query_type=name,
                cases=counts[name],
                share=counts[name] / len(cases) if cases else None,
                aim=aim,
                missing=max(0, ceil(aim * whole - 1e-9) - counts[name]),
            )
            for name, aim in AIM.items()
        ),
    )
