"""How many records an issue has: counted where every record was looked at, estimated where not.

A rubric that looked at a record with the chance p speaks for 1 / p records (Horvitz and Thompson
1952). The number of those not looked at is negative binomial; its interval is that of a gamma
distribution of the same mean and variance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from ragvigil.model.score import Stream

TWO_SIDED = 1.959964
"""Standard deviations of a 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledMembers:
    """Members of an issue that were looked at with one chance: a row of a GROUP BY."""

    stream: Stream
    inclusion_probability: float
    members: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many members were seen, and how many there are: `about`, in a 95 % interval.

    `apart` are those seen that were chosen because they looked suspicious, or with an unknown
    chance: they are members, but speak for nobody else.
    """

    seen: int
    about: float
    low: float
    high: float
    apart: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether every record was looked at."""
        return self.high == self.seen and not self.apart

    def __str__(self) -> str:
        if self.high == self.seen:
            return str(self.seen) if self.is_exact else f"{self.seen} seen"
        return f"{self.seen} seen, about {self.about:.0f} [{self.low:.0f}, {self.high:.0f}]"


def count(looked: Iterable[SampledMembers]) -> Count:
    """The count of an issue from its members.

    >>> str(count([SampledMembers(stream=Stream.BASE, inclusion_probability=1.0, members=22)]))
    '22'
    >>> str(count([SampledMembers(stream=Stream.BASE, inclusion_probability=0.07, members=22)]))
    '22 seen, about 314 [202, 470]'
    """
    rows = [sample for sample in looked if sample.members > 0]
    seen = sum(sample.members for sample in rows)
    drawn = [sample for sample in rows if _is_drawn(sample)]
    apart = seen - sum(sample.members for sample in drawn)
    sampled = [(sample.inclusion_probability, sample.members) for sample in drawn]
    about = sum(members / p for p, members in sampled)
    least = min((p for p, _ in sampled), default=1.0)
    low = seen - apart + _unseen(sampled, -TWO_SIDED)
    high = seen - apart + _unseen([*sampled, (least, 1)], TWO_SIDED)
    return Count(
        seen=seen,
        about=max(seen, about),
        low=max(seen, min(low, about)),
        high=max(seen, high, about),
        apart=apart,
    )


def _is_drawn(sample: SampledMembers) -> bool:
    return sample.stream is not Stream.SUSPICIOUS and 0 < sample.inclusion_probability <= 1


def _unseen(sampled: Iterable[tuple[float, int]], deviations: float) -> float:
    """A quantile of the number that was not looked at, by Wilson and Hilferty's cube root."""
    rows = list(sampled)
    mean = sum(members * (1 - p) / p for p, members in rows)
    variance = sum(members * (1 - p) / p**2 for p, members in rows)
    if variance <= 0:
        return 0.0
    shape, scale = mean * mean / variance, variance / mean
    root = 1 - 1 / (9 * shape) + deviations / (3 * sqrt(shape))
    return shape * scale * max(0.0, root) ** 3
