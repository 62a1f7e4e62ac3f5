"""What a golden set is made of, against what it should be made of."""

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
"""Cases under which a set proves little, and from which on it is enough for most services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeShare:
    """One type of query: how many cases, their share, and how many more the aim asks for."""

    query_type: QueryType
    cases: int
    share: float | None
    aim: float
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The composition of a set; a share is None in an empty one.

    `from_production` is the share of cases that broke in production: half should have.
    """

    cases: int
    floor: int
    enough: int
    parts: tuple[TypeShare, ...]
    from_production: float | None


def composition(cases: Sequence[GoldenCase]) -> Composition:
    """The composition of these cases.

    `missing` completes the mix without taking a case away: the smallest set of at least `FLOOR`
    cases in which every type that there is too much of has its share.
    """
    counts = Counter(case.query_type for case in cases)
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
