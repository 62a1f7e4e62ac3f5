"""Adds to roll-ups what their means are estimated by: judged samples, and crowded questions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from alerts.deltas.windows import SUMS, TICK_SECONDS, Floats, Ints, Rollups
from ragvigil.model.delta import Series
from ragvigil.store.scores.estimate_sums import CHEAP, BinSums, EstimateSums, JudgedName


def with_samples(rollups: Rollups, read: EstimateSums) -> Rollups:
    """Returns the roll-ups with the sums of the same range of time."""
    bins = rollups.counts.shape[1]
    judged = {
        position: [name, replace(name, segment=CHEAP)]
        for position, series in enumerate(rollups.series)
        if (name := _name(series)) in read.judged
    }
    samples = np.zeros((len(SUMS), bins, len(judged)))
    for place, names in enumerate(judged.values()):
        _fill(samples[:, :, place], (read.judged.get(name) for name in names), rollups)
    questions = np.zeros((2, bins, len(rollups.series)))
    for position, series in enumerate(rollups.series):
        asked = read.questions.get((series.service, series.environment, series.route))
        _fill(questions[:, :, position], [asked], rollups)
    sampled: Ints = np.array(list(judged), dtype=np.int64)
    return replace(rollups, sampled=sampled, samples=samples, questions=questions)


def _fill(target: Floats, several: Iterable[BinSums | None], rollups: Rollups) -> None:
    """Adds sums to the bins of a series; `target` has the shape (measures, bins)."""
    for each in several:
        if each is not None:
            place = (each.start - rollups.start) // TICK_SECONDS
            inside = (place >= 0) & (place < target.shape[1])
            target[:, place[inside]] += each.sums[inside].T


def _name(series: Series) -> JudgedName:
    return JudgedName(
        service=series.service,
        environment=series.environment,
        route=series.route,
        rubric=series.rubric,
        layer=series.layer.value,
        segment=series.segment,
    )
