"""What operating points are read off: sums by route over some days."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A route of a service."""

    service: str
    environment: str
    route: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSums:
    """The values of one rubric on one route."""

    place: Place
    rubric: str
    n: float
    total: float
    squares: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What contexts cost: `usd` is at most that, None where no record has a price."""

    place: Place
    context_tokens: float
    usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbs:
    """Answers that users rated, and how many of them badly."""

    place: Place
    rated: int
    down: int
