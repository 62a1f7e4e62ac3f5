"""Deltas of 8 days of ticks: seconds, peak memory, and equality with the naive computation.

    python bench/deltas.py [--small]

300 series (30 with --small) with a score every few minutes and hidden records, 17 days of it;
every tick of the last 8 days is computed, a day at a time, as a backfill does. A sample of
cells is computed again from the single scores.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from alerts.deltas.compute import Columns, compute
from alerts.deltas.windows import DAY, HOUR, TICK_SECONDS, WINDOWS, Floats, Ints, Sums, fold
from alerts.settings import AlertsSettings
from bench.rig.report import finish, peak_rss_mb, progress
from ragvigil.model.delta import Series

SEED = 17
START = 1_767_225_600
DAYS_BEFORE, DAYS_OF_TICKS = 9, 8
SCORES_A_DAY = 200
SAMPLE_A_DAY = 50
SECONDS = 10.0


def stream(rng: np.random.Generator, series: int) -> tuple[Ints, Ints, Floats]:
    """Series, time and value of every score; NaN could not be seen."""
    size = series * SCORES_A_DAY * (DAYS_BEFORE + DAYS_OF_TICKS)
    index = rng.integers(0, series, size)
    times = START + rng.integers(0, (DAYS_BEFORE + DAYS_OF_TICKS) * 86_400, size)
    values = np.where(rng.random(size) < 0.8, 1.0, rng.random(size))
    values[rng.random(size) < 0.03] = np.nan
    return index, times, values


def summed(index: Ints, times: Ints, values: Floats, series: int) -> Sums:
    """The roll-ups of the scores."""
    seen = ~np.isnan(values)
    numbers = np.nan_to_num(values)
    names = tuple(
        Series(service="s", environment="e", route=f"/{number}", rubric="r")
        for number in range(series)
    )
    failed = (seen & (numbers < 0.5)).astype(float)
    rollups = fold(
        names,
        START,
        START + (DAYS_BEFORE + DAYS_OF_TICKS) * 86_400,
        index=index,
        minute=times // 60 * 60,
        counts=[seen.astype(float), numbers, numbers**2, failed, (~seen).astype(float)],
    )
    return Sums(rollups)


def naive(times: Ints, values: Floats, tick: int, window: str) -> tuple[float, float]:
    """Mean and baseline of one series from its scores."""
    length = WINDOWS[window] * TICK_SECONDS
    past = max(length, HOUR * TICK_SECONDS)
    seen = ~np.isnan(values)
    inside = seen & (times >= tick - length) & (times < tick)
    before = np.zeros(len(times), dtype=np.bool_)
    for day in range(1, 8):
        end = tick - day * DAY * TICK_SECONDS
        before |= seen & (times >= end - past) & (times < end)
    return (
        float(values[inside].mean()) if inside.any() else float("nan"),
        float(values[before].mean()) if before.any() else float("nan"),
    )


def largest_error(
    rng: np.random.Generator, found: list[Columns], stream: tuple[Ints, Ints, Floats]
) -> float:
    """Largest difference from the naive mean and baseline over a sample of cells."""
    index, times, values = stream
    worst = 0.0
    for _ in range(SAMPLE_A_DAY):
        columns = found[rng.integers(len(WINDOWS))]
        tick, column = rng.integers(DAY), rng.integers(len(columns.series))
        if not columns.same_hours[tick, column]:
            continue
        mine = index == column
        expected = naive(times[mine], values[mine], int(columns.ticks[tick]), columns.window)
        shown = (columns.mean[tick, column], columns.baseline[tick, column])
        if np.isnan(expected).tolist() != np.isnan(shown).tolist():
            return float("inf")
        worst = max(worst, float(np.nan_to_num(np.abs(np.subtract(expected, shown))).max()))
    return worst


def main() -> None:
    """Runs it and prints the JSON line."""
    small = "--small" in sys.argv
    rng = np.random.default_rng(SEED)
    series = 30 if small else 300
    scores = stream(rng, series)
    sums = summed(*scores, series)
    before = peak_rss_mb()
    seconds, rows, error = 0.0, 0, 0.0
    for day in range(DAYS_OF_TICKS):
        first = START + (DAYS_BEFORE + day) * 86_400
        started = time.perf_counter()
        found = compute(sums, first + TICK_SECONDS * np.arange(1, DAY + 1), AlertsSettings())
        seconds += time.perf_counter() - started
        rows += sum(int(columns.has_row().sum()) for columns in found)
        error = max(error, largest_error(rng, found, scores))
        progress(f"day {day + 1} of {DAYS_OF_TICKS}")
    bars = {"equal to the naive computation": error < 1e-9}
    if not small:
        bars |= {f"<= {SECONDS} s": seconds <= SECONDS}
    figures: dict[str, object] = {
        "ticks": DAYS_OF_TICKS * DAY,
        "series": series,
        "rows": rows,
        "seconds": round(seconds, 2),
        "peak_rss_mb": peak_rss_mb(),
        "peak_before_mb": before,
        "largest_error": error,
    }
    finish("deltas", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
