"""Which values of a number are more frequent than before, and how many answers are as before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ragvigil.model.wilson import wilson

LEAST_ABOVE = 20
"""Values of before above a place, from which it tells how many answers are left as before."""


def share_as_before(before: Sequence[int], now: Sequence[int]) -> float:
    """The most that the share of answers can be which nothing has changed, from two histograms.

    Where values above some place have become rarer, so have answers as before: those that are left
    above it stand for all of them. The least of these estimates, each by the upper end of its
    interval (the share of true null hypotheses: Storey 2002).

    >>> round(share_as_before([10, 10, 80], [30, 10, 60]), 2)
    0.86
    >>> round(share_as_before([0, 50, 50], [500, 0, 0]), 3)
    0.008
    """
    total, known = sum(now), sum(before)
    above = zip(_from_the_end(before), _from_the_end(now), strict=True)
    ratios = [wilson(left, total)[1] * known / past for past, left in above if past >= LEAST_ABOVE]
    return min(1.0, *ratios) if ratios else 1.0


def _from_the_end(histogram: Sequence[int]) -> list[int]:
    return list(accumulate(reversed(histogram)))[::-1]
