"""What became of changes: noticed or not, by which name, after how many requests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median

from ragvigil.model.notice import ChangeKind, Notice

WITHIN = 15


@dataclass(slots=True)
class Tally:
    """Runs of one kind: how many were noticed, by which name, after how many requests."""

    runs: int = 0
    right: int = 0
    early: int = 0
    more: int = 0
    delays: list[int] = field(default_factory=list)
    wrong: Counter[str] = field(default_factory=Counter)

    def add(self, found: list[tuple[int, Notice]], right: frozenset[ChangeKind]) -> None:
        """Adds a run; `found` are notices with the number of the changed request, from 1."""
        self.runs += 1
        self.early += any(number < 1 for number, _ in found)
        after = [notice for notice in found if notice[0] >= 1]
        self.more += len(after) > 1
        if not after:
            self.wrong["nothing"] += 1
            return
        number, first = after[0]
        self.delays.append(number)
        named = {notice.kind for at, notice in after if at == number}
        self.right += len(named) == 1 and named <= right
        if not named <= right:
            self.wrong[str(first.kind)] += 1

    def within(self, most: int) -> float:
        """The share of runs that were noticed in so many requests."""
        return round(sum(delay <= most for delay in self.delays) / max(self.runs, 1), 4)

    def figures(self) -> dict[str, object]:
        return {
            "runs": self.runs,
            "right": round(self.right / max(self.runs, 1), 4),
            "within_15": self.within(WITHIN),
            "median_requests": median(self.delays) if self.delays else None,
            "most_requests": max(self.delays, default=None),
            "before_the_change": self.early,
            "noticed_again": self.more,
            "wrong": dict(self.wrong),
        }
