"""Tells when a change that only a share of the requests shows is over. Pure."""

from __future__ import annotations

from math import log, sqrt

from alerts.notices.corpus import Results, RetrievalDiff
from alerts.notices.rare import Mark
from ragvigil.model.notice import Notice

USUAL = 0.02
"""Share of known questions that find something else in a healthy service."""
SURE = log(1e4)
"""Log of how much likelier an end must be: it is wrongly seen once in some 10,000 requests."""
Z = 1.645
LEAST_SHARE, MOST_SHARE = 0.1, 0.9


class WayBack:
    """Follows such a change: its end begins no new state, so that it shows in no other way.

    Known questions find again what they found before it. Each that does makes an end likelier, each
    that does not makes it much less likely (a cumulative sum).
    """

    def __init__(self, change: Notice, before: Results) -> None:
        """`before` is what each known question found before the change."""
        self.change = change
        self._before = before
        share = min(max(_surely(change.share, change.requests), LEAST_SHARE), MOST_SHARE)
        self._same = log((1 - USUAL) / (1 - share))
        self._other = log(USUAL / share)
        self._sum = 0.0
        self._first: Mark | None = None

    @property
    def since(self) -> Mark | None:
        """The first request after the change was over; None until that is sure."""
        return self._first if self._sum >= SURE else None

    def push(self, diff: RetrievalDiff) -> None:
        """Takes a request."""
        known = self._before.get(diff.question)
        if known is None:
            return
        if not self._sum:
            self._first = diff.mark
        is_same = known == (diff.chunks, diff.shown)
        self._sum = max(0.0, self._sum + (self._same if is_same else self._other))


def _surely(share: float, requests: int) -> float:
    """The lower bound, at 95 %, of a share that so many requests showed (Wilson)."""
    weight = Z * Z / max(requests, 1)
    spread = sqrt((share * (1 - share) + weight / 4) * weight)
    return (share + weight / 2 - spread) / (1 + weight)
