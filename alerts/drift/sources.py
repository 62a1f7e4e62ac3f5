"""What the detector reads of the store: scores of every tick, by the time they are complete.

Each source has its own watermark. Rates of all answers are complete ten minutes after a tick,
judged scores when the judge's queue has drained past it, and ratings after two hours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alerts.drift.settings import DriftSettings
from alerts.drift.state import Floats, Ints
from ragvigil.model.delta import TICK_SECONDS, Series
from ragvigil.model.score import Layer
from ragvigil.model.signal import THUMBS
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import drift as stored
from ragvigil.store.watch import signals

CLOSE_LATE_SECONDS = 600
PAST_DAYS = 14
"""Days of scores that a store without states is read back."""
RATED_DAYS = 2
"""The same for ratings: joining more of them to their answers costs too much."""
LATEST_SECONDS = 7200
"""The longest that a tick waits for its scores."""
LABELS = ("refusal", "injected_context", "retrieval_shape", "answer_complete_text")
BY_RATE = ("citation_validity", "answer_language", "context_recall")
"""Rubrics that are followed as rates, if at all; those of LABELS have ceilings of their own."""
SHOWN_ONLY = (
    "recall_at_k", "precision_at_k", "ndcg", "mrr", "context_entity_recall", "noise_sensitivity",
    "multi_hop", "source_attribution",
)  # fmt: skip
"""Rubrics that nobody is woken for: they say what others say, of few answers or in another way."""
GOOD = 20
"""The bin of a perfect score."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by series, tick and bin: `index` is a position in `series`, `time` the tick's end."""

    series: Sequence[Series]
    index: Ints
    time: Ints
    value: Ints
    scores: Floats


@dataclass(frozen=True, slots=True)
class Source:
    """Where scores come from: `closed` gives the end of its newest complete tick at a time."""

    name: str
    read: Callable[[int, int], list[Scores]]
    closed: Callable[[float], int]
    past_days: int = PAST_DAYS


def sources(
    store: Store,
    settings: DriftSettings,
    judged_until: Callable[[float], float],
    is_boosted: Callable[[int], bool],
) -> list[Source]:
    """The sources that the settings ask for.

    `judged_until` says, at a time, up to when (seconds) the judge has done its part, `is_boosted`
    whether any route was judged more after a time.
    """

    def values(first: int, end: int) -> list[Scores]:
        read = stored.histograms(
            store, first, end, without=(*LABELS, *BY_RATE, *SHOWN_ONLY), boosted=is_boosted(first)
        )
        if read is None:
            return []
        return [Scores(read.series, read.index, read.start + TICK_SECONDS, read.value, read.scores)]

    def rates(first: int, end: int) -> list[Scores]:
        return _rates(store, settings, first, end)

    def thumbs(first: int, end: int) -> list[Scores]:
        return [_thumbs(row) for row in stored.thumbs(store, first, end)]

    listed = [
        Source("scores", values, lambda now: _judged(now, judged_until(now))),
        Source("rates", rates, lambda now: _tick(now - CLOSE_LATE_SECONDS)),
    ]
    if THUMBS in settings.rates:
        # An hour at a time: joining ratings to answers reads the records of the hour.
        listed.append(
            Source(
                "thumbs",
                thumbs,
                lambda now: int(now - LATEST_SECONDS) // 3600 * 3600,
                past_days=RATED_DAYS,
            )
        )
    return listed


def _tick(time: float) -> int:
    return int(time) // TICK_SECONDS * TICK_SECONDS


def _judged(now: float, judged_until: float) -> int:
    drained = min(judged_until, now) - CLOSE_LATE_SECONDS
    return _tick(max(drained, now - LATEST_SECONDS))


def _rates(store: Store, settings: DriftSettings, first: int, end: int) -> list[Scores]:
    wanted = [rate for rate in settings.rates if rate != THUMBS]
    read = signals.rates(store, wanted, first, end, bin_seconds=TICK_SECONDS)
    result = []
    for sums in read:
        result += _mirrored(sums.series, sums.index, sums.start, sums.n, sums.total)
    return result


def _thumbs(row: Mapping[str, Any]) -> Scores:
    series = Series(
        service=row["service"],
        environment=row["environment"],
        route=row["route"],
        rubric=THUMBS,
        layer=Layer.CROSS_CUTTING,
    )
    start, n, bad = (np.array([row[name]]) for name in ("start", "n", "total"))
    good_and_bad = _mirrored((series,), np.zeros(1, dtype=np.int64), start, n, bad)
    return Scores(
        (series,),
        *(
            np.concatenate([getattr(part, name) for part in good_and_bad])
            for name in ("index", "time", "value", "scores")
        ),
    )


def _mirrored(
    series: Sequence[Series], index: Ints, start: Ints, n: Floats, bad: Floats
) -> list[Scores]:
    """A share of bad answers as scores: 1 for each good answer, 0 for each bad one."""
    time = start.astype(np.int64) + TICK_SECONDS
    return [
        Scores(series, index, time, np.full(len(index), value, dtype=np.int64), scores)
        for value, scores in ((GOOD, n - bad), (0, bad))
    ]
