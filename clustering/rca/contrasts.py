"""Finds values of dimensions that failing records have more often than passing ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragvigil.model.issue import ComparedRecord
from ragvigil.model.wilson import wilson

Z = 2.58
"""For 99 % intervals: a dozen dimensions are compared, and chance must not name any."""
WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A value that `failing` of `of_failing` members and `passing` of `of_passing` others have.

    Records without the dimension are not counted.
    """

    dimension: str
    value: str
    failing: int
    of_failing: int
    passing: int
    of_passing: int

    @property
    def apart(self) -> float:
        """The gap between the intervals of both shares; 0 or less if the shares may be equal."""
        low, _ = wilson(self.failing, self.of_failing, Z)
        _, high = wilson(self.passing, self.of_passing, Z)
        return low - high


def contrasts(
    failing: Sequence[ComparedRecord], passing: Sequence[ComparedRecord]
) -> list[Contrast]:
    """Values with a higher share among failing records, the clearest first.

    Higher: the Wilson intervals (99 %) of the two shares do not overlap.
    """
    ours, others = _counted(failing), _counted(passing)
    totals, other_totals = _totals(ours), _totals(others)
    all_contrasts = [
        Contrast(
            dimension=name,
            value=value,
            failing=count,
            of_failing=totals[name],
            passing=others[name, value],
            of_passing=other_totals[name],
        )
        for (name, value), count in ours.items()
    ]
    clear = [contrast for contrast in all_contrasts if contrast.apart > 0]
    return sorted(clear, key=lambda contrast: (-contrast.apart, contrast.dimension, contrast.value))


def alike(
    question: str | None, passing: Iterable[ComparedRecord], most: int = 3
) -> list[ComparedRecord]:
    """Up to `most` passing records with the most similar question, by words in common (Jaccard)."""
    words = _words(question)
    scored = [(_jaccard(words, _words(record.question)), record) for record in passing]
    near = sorted(scored, key=lambda pair: (-pair[0], pair[1].trace_id, pair[1].record_id))
    return [record for likeness, record in near[:most] if likeness > 0]


def _counted(records: Iterable[ComparedRecord]) -> Counter[tuple[str, str]]:
    return Counter(
        pair for record in records for pair in {**record.dimensions, "route": record.route}.items()
    )


def _totals(counts: Counter[tuple[str, str]]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for (name, _), count in counts.items():
        totals[name] += count
    return totals


def _words(question: str | None) -> frozenset[str]:
    return frozenset(WORD.findall((question or "").casefold()))


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first and second else 0.0
