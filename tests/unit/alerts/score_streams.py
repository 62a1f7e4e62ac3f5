"""Streams of scores for the tests of deltas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from alerts.deltas.windows import MEASURES, Rollups, fold
from ragvigil.model.delta import Series

START = 1_767_225_600  # 2026-01-01 00:00 UTC
MINUTE = 60
HOUR = 3600
DAY = 86_400


def series(rubric: str = "citation_validity", route: str = "/refunds") -> Series:
    return Series(service="desk", environment="prod", route=route, rubric=rubric, segment="1")


def rollups(
    times: np.ndarray,
    values: np.ndarray,
    *,
    end: int,
    of: tuple[Series, ...] = (series(),),
    index: np.ndarray | None = None,
) -> Rollups:
    """Folds single scores into roll-ups; NaN is a value that could not be seen."""
    seen = ~np.isnan(values)
    numbers = np.nan_to_num(values)
    counts = {
        "n": seen * 1.0,
        "total": numbers,
        "squares": numbers**2,
        "failed": (seen & (numbers < 0.5)) * 1.0,
        "absent": ~seen * 1.0,
    }
    return fold(
        of,
        START,
        end,
        index=np.zeros(len(times), dtype=np.int64) if index is None else index,
        minute=times // MINUTE * MINUTE,
        counts=[counts[name] for name in MEASURES],
    )


def steady(
    rng: np.random.Generator, days: float, an_hour: int, mean: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Times and values in 0..1: mostly 0 or 1, with `mean(time)`."""
    times = np.sort(rng.integers(START, START + int(days * DAY), int(days * 24 * an_hour)))
    return times, (rng.random(len(times)) < mean(times)).astype(float)
