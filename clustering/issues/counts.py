"""Counts an issue's records: exactly where every record was scored, else by an estimate.

A record that was sampled with probability p stands for 1 / p records (Horvitz and Thompson 1952).
The number of records not sampled is negative binomial; the interval is that of a gamma distribution
of the same mean and variance.
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
    """Members of an issue that were sampled with one probability: a row of a GROUP BY."""

    stream: Stream
    inclusion_probability: float
    members: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Members that were seen, and the estimate `about` of all, with a 95 % interval.

    `apart` of those seen were chosen because they looked suspicious, or with unknown probability:
    they are members, but stand for no others.
    """

    seen: int
    about: float
    low: float
    high: float
    apart: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether every record was scored."""
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
    drawn = [sample for sample in rows if _is_random(sample)]
    apart = seen - sum(sample.members for sample in drawn)
    sampled = [(sample.inclusion_probability, sample.members) for sample in drawn]
    about = sum(members / p for p, members in sampled)
    least = min((p for p, _ in sampled), default=1.0)
    # The upper limit assumes one further member, of the smallest probability.
    low = seen - apart + _unseen(sampled, -TWO_SIDED)
    high = seen - apart + _unseen([*sampled, (least, 1)], TWO_SIDED)
    return Count(
        seen=seen,
        about=max(seen, about),
        low=max(seen, min(low, about)),
        high=max(seen, high, about),
        apart=apart,
    )


def _is_random(sample: SampledMembers) -> bool:
    return sample.stream is not Stream.SUSPICIOUS and 0 < sample.inclusion_probability <= 1


def _unseen(sampled: Iterable[tuple[float, int]], deviations: float) -> float:
    """A quantile of the number that was not sampled, by Wilson and Hilferty's cube root."""
    rows = list(sampled)
    mean = sum(members * (1 - p) / p for p, members in rows)
    variance = sum(members * (1 - p) / p**2 for p, members in rows)
    if variance <= 0:
        return 0.0
    shape, scale = mean * mean / variance, variance / mean
    root = 1 - 1 / (9 * shape) + deviations / (3 * sqrt(shape))
    return shape * scale * max(0.0, root) ** 3
