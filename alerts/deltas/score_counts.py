"""Scores added up by series, before their labels are bounded: few numbers for many records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ragvigil.model.outcome import Outcome
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score, Stream

SeriesKey = tuple[str, str, str, str, str]
"""Service, environment, route, rubric, layer."""


@dataclass(slots=True)
class Counted:
    """Of one series: `total` and `failed` of the `n` values, records unseen, records by label."""

    n: int = 0
    total: float = 0.0
    failed: int = 0
    absent: int = 0
    labels: dict[str, int] = field(default_factory=dict)


class ScoreCounts:
    """`fails_below` holds the value of each rubric under which a record fails it."""

    def __init__(self, fails_below: Mapping[str, float]) -> None:
        self._fails_below = fails_below
        self.series: dict[SeriesKey, Counted] = {}

    def add_outcome(self, outcome: Outcome, known: Collection[str] = ()) -> None:
        """Adds the scores of records not in `known`: those of the first generation only.

        A counter cannot take back what a later generation says otherwise.
        """
        for one in outcome.records:
            if one.record.record_id not in known:
                self.add(one.record, one.scores)

    def add(self, record: RagRecord, scores: Iterable[Score]) -> None:
        """Adds the scores of a record; those that were not drawn at the base rate say nothing."""
        place = (record.service, record.environment, record.route)
        for score in scores:
            if score.stream is Stream.BASE:
                key = (*place, score.rubric, score.layer.value)
                counted = self.series.get(key)
                if counted is None:
                    counted = self.series[key] = Counted()
                self._count(counted, score)

    def _count(self, counted: Counted, score: Score) -> None:
        if score.value is not None:
            counted.n += 1
            counted.total += score.value
            counted.failed += score.fails(self._fails_below.get(score.rubric))
        elif score.absent:
            counted.absent += 1
        if score.label:
            for label in {one.strip() for one in score.label.split(",")} - {""}:
                counted.labels[label] = counted.labels.get(label, 0) + 1
