"""Writes roll-ups of judged scores and of rates, tick by tick."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ragvigil.model.delta import Series
from ragvigil.model.score import Kind, Layer
from ragvigil.store.engine.batch import Batch, Rows, token_of
from ragvigil.store.engine.store import Store

COLUMNS = (
    "minute", "service", "environment", "route", "rubric", "layer", "segment", "kind", "version",
    "n", "total", "squares", "failed", "not_applicable", "absent", "histogram", "labels", "replica",
    "epoch",
)  # fmt: skip
TICK = 300
VALUES = np.linspace(0, 1, 21)


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Scores of a series in every tick of a range: `rate` an hour, of which `bad` score 0.2."""

    series: Series
    rate: float
    bad: float = 0.1


def judged(route: str = "/ask", segment: str = "r1 judge1") -> Series:
    """A judged series."""
    return Series(
        service="desk", environment="prod", route=route, rubric="groundedness",
        layer=Layer.GENERATION, segment=segment, kind=Kind.JUDGE,
    )  # fmt: skip


def local(route: str = "/ask") -> Series:
    """What a local model says of the same rubric."""
    return replace(judged(route, "r1 local1"), kind=Kind.MODEL)


def write(
    store: Store,
    scored: list[Scored],
    start: int,
    end: int,
    *,
    seed: int = 1,
    table: str = "rollups",
) -> None:
    """Stores the roll-ups of every tick from `start` until `end` (seconds)."""
    rows = []
    for time in range(start, end, TICK):
        for place, each in enumerate(scored):
            rng = np.random.default_rng((seed, time, place))
            n = int(rng.poisson(each.rate / 12))
            low = int(rng.binomial(n, each.bad))
            histogram = np.zeros(21, dtype=np.int64)
            histogram[4], histogram[18] = low, n - low
            total, squares = float(histogram @ VALUES), float(histogram @ VALUES**2)
            series = each.series
            rows.append(
                (
                    time, series.service, series.environment, series.route, series.rubric,
                    series.layer.value, series.segment, series.kind or "", time, n, total, squares,
                    low, 0, 0, histogram.tolist(), {"refused": low, "answered": n - low}, "", 0,
                )
            )  # fmt: skip
    batch = Batch(rows={table: Rows(COLUMNS, rows)}, token=token_of(table, start, end, seed))
    store.write(batch)
