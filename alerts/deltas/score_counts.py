"""Sums the scores of many records by series; the metrics then cap the labels of the few sums."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ragvigil.model.outcome import Outcome
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score, Stream

COUNTED = (Stream.BASE, Stream.PROXY)
"""Streams that are counted: others would bias means."""
SeriesKey = tuple[str, str, str, str, str, str]
"""Service, environment, route, rubric, layer, kind."""


@dataclass(slots=True)
class LabelledCounts:
    """The counts of one series: `n` values, their sum `total`, and how many of them `failed`.

    `absent` counts records that lack a field which the rubric needs, `labels` records by label.
    """

    n: int = 0
    total: float = 0.0
    failed: int = 0
    absent: int = 0
    labels: dict[str, int] = field(default_factory=dict)


class ScoreCounts:
    """Sums of scores by series.

    `fails_below` holds, by rubric, the value below which a record fails it.
    """

    def __init__(self, fails_below: Mapping[str, float]) -> None:
        self._fails_below = fails_below
        self.series: dict[SeriesKey, LabelledCounts] = {}

    def add_outcome(self, outcome: Outcome, known: Collection[str] = ()) -> None:
        """Adds the scores of records whose ids are not in `known`.

        Only the first generation of a record counts: a counter cannot take back a score that a
        later generation replaces.
        """
        for scored in outcome.records:
            if scored.record.record_id not in known:
                self.add(scored.record, scored.scores)

    def add(self, record: RagRecord, scores: Iterable[Score]) -> None:
        """Adds those of a record's scores that are of all answers, or of a uniform sample of them.

        What a local scorer says of a judge's rubric is of another kind, so it is counted beside it.
        """
        place = (record.service, record.environment, record.route)
        for score in scores:
            if score.stream in COUNTED:
                key = (*place, score.rubric, score.layer.value, score.kind.value)
                counted = self.series.get(key)
                if counted is None:
                    counted = self.series[key] = LabelledCounts()
                self._count(counted, score)

    def _count(self, counted: LabelledCounts, score: Score) -> None:
        if score.value is not None:
            counted.n += 1
            counted.total += score.value
            counted.failed += score.fails(self._fails_below.get(score.rubric))
        elif score.absent:
            counted.absent += 1
        # A rubric may give several labels, joined by commas.
        if score.label:
            for label in {label.strip() for label in score.label.split(",")} - {""}:
                counted.labels[label] = counted.labels.get(label, 0) + 1
