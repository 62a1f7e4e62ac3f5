"""Deltas of 8 days of ticks: seconds, memory, rows and bytes in the store, and that all is right.

    python bench/deltas.py [--small]

500 series (20 with --small) with a score every few minutes and hidden records, 17 days of it, until
now; every fifth has a few scores a day. Every tick of the last 8 days is computed and written, a
day at a time, as a backfill does. A sample of cells is computed again from the single scores, and
a sample of ticks is read back: what stands then must be what was computed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from alerts.deltas.compute import Columns, compute
from alerts.deltas.rows import deltas
from alerts.deltas.windows import DAY, HOUR, TICK_SECONDS, WINDOWS, Floats, Ints, Sums, fold
from alerts.deltas.writer import DeltaWriter
from alerts.settings import AlertsSettings
from bench.rig.options import parse_small
from bench.rig.report import finish, peak_rss_mb, progress
from ragvigil.model.delta import Delta, Series
from ragvigil.store.engine import retention
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.scores.rubric_deltas import DeltaFilter
from ragvigil.store.settings import StoreSettings

SEED = 17
DAYS_BEFORE, DAYS_OF_TICKS = 9, 8
START = (int(time.time()) // 86_400 - DAYS_BEFORE - DAYS_OF_TICKS) * 86_400
SCORES_A_DAY, FEW_A_DAY = 200, 3
QUIET = 5
"""Every so many series has few scores."""
SAMPLE_A_DAY = 50
SECONDS = 17.0
MOST_MB = 300.0
CHANGES_DAYS = 4
"""As many full days as the default of 3 holds just before midnight; today has no ticks here."""
READ_BACK = (0.1, 0.6, 1.9, 6.0)
"""Days before the end whose state is read back: of changes, and of the hours that are left."""


def stream(rng: np.random.Generator, series: int) -> tuple[Ints, Ints, Floats]:
    """Series, time and value of every score; NaN could not be seen."""
    days = DAYS_BEFORE + DAYS_OF_TICKS
    a_day = np.where(np.arange(series) % QUIET, SCORES_A_DAY, FEW_A_DAY)
    index = np.repeat(np.arange(series), a_day * days)
    size = len(index)
    times = START + rng.integers(0, days * 86_400, size)
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


def stored_mb(store: Store) -> dict[str, float]:
    """Megabytes of both tables of deltas on disk, once rows past their days are dropped."""
    for table in ("delta_changes", "rubric_deltas"):
        store.change(f"OPTIMIZE TABLE {table} FINAL")
    sizes = {"delta_changes": 0.0, "rubric_deltas": 0.0}
    for row in store.read("parts"):
        if row["table"] in sizes:
            sizes[row["table"]] += int(row["bytes"]) / 1e6
    return sizes


def differing(store: Store, tick: int, expected: Iterable[Delta]) -> int:
    """How many series and windows stand otherwise at a tick than they were computed."""
    wanted = DeltaFilter(until=tick, limit=100_000)
    stands = {
        (row.series, row.window): _shown(row) for row in rubric_deltas.latest(store, wanted, tick)
    }
    computed = {(row.series, row.window): _shown(row) for row in expected}
    return sum(stands.get(key) != computed.get(key) for key in stands.keys() | computed.keys())


def _shown(row: Delta) -> tuple[object, ...]:
    return (row.tick, row.n, row.mean, row.baseline, row.delta, row.low, row.high, row.since)


def write(store: Store, found: list[Columns]) -> int:
    """Writes a day as it is written on that day; returns the number of rows."""
    end = int(found[0].ticks[-1])
    writer = DeltaWriter(store=store, computed=(end - 1) * 10**9, closed_until=end)
    writer.write(found)
    return writer.rows


def main() -> None:
    """Runs it and prints the JSON line."""
    small = parse_small(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        settings = StoreSettings(query_rows=1_000_000, changes_days=CHANGES_DAYS)
        store = Store.open(settings, Path(folder))
        retention.apply_days(store)
        try:
            figures, bars = run(store, 20 if small else 500)
        finally:
            store.close()
    if small:
        bars = {promise: held for promise, held in bars.items() if "<=" not in promise}
    finish("deltas", figures, bars, seed=SEED)


@dataclass(slots=True, kw_only=True)
class Days:
    """What the days of ticks took and made; `samples` are deltas by tick, to be read back."""

    seconds: float = 0.0
    writing: float = 0.0
    cells: int = 0
    rows: int = 0
    error: float = 0.0
    samples: dict[int, list[Delta]]


def run(store: Store, series: int) -> tuple[dict[str, object], dict[str, bool]]:
    """Computes, writes and reads back; returns the figures and whether each promise held."""
    rng = np.random.default_rng(SEED)
    scores = stream(rng, series)
    before = peak_rss_mb()
    days = all_days(store, rng, scores, series)
    megabytes = stored_mb(store)
    wrong = sum(differing(store, tick, own) for tick, own in days.samples.items())
    figures: dict[str, object] = {
        "ticks": DAYS_OF_TICKS * DAY,
        "series": series,
        "cells": days.cells,
        "rows_written": days.rows,
        "mb": {table: round(size, 1) for table, size in megabytes.items()},
        "seconds": round(days.seconds, 2),
        "seconds_writing": round(days.writing, 1),
        "peak_rss_mb": peak_rss_mb(),
        "peak_before_mb": before,
        "largest_error": days.error,
        "read_back": sum(len(own) for own in days.samples.values()),
        "read_back_wrong": wrong,
    }
    bars = {
        "equal to the naive computation": days.error < 1e-9,
        "what stands is what was computed": wrong == 0 and all(days.samples.values()),
        f"<= {SECONDS} s": days.seconds <= SECONDS,
        f"<= {MOST_MB} MB on disk": sum(megabytes.values()) <= MOST_MB,
    }
    return figures, bars


def all_days(
    store: Store, rng: np.random.Generator, scores: tuple[Ints, Ints, Floats], series: int
) -> Days:
    """Computes and writes the ticks of every day."""
    sums = summed(*scores, series)
    end = START + (DAYS_BEFORE + DAYS_OF_TICKS) * 86_400
    ends = [end - int(days * 86_400) // TICK_SECONDS * TICK_SECONDS for days in READ_BACK]
    days = Days(samples={tick: [] for tick in ends})
    for day in range(DAYS_OF_TICKS):
        first = START + (DAYS_BEFORE + day) * 86_400
        started = time.perf_counter()
        found = compute(sums, first + TICK_SECONDS * np.arange(1, DAY + 1), AlertsSettings())
        days.seconds += time.perf_counter() - started
        started = time.perf_counter()
        days.rows += write(store, found)
        days.writing += time.perf_counter() - started
        days.cells += sum(int(columns.has_row().sum()) for columns in found)
        days.error = max(days.error, largest_error(rng, found, scores))
        for tick, own in days.samples.items():
            own += deltas((at(columns, tick) for columns in found), tick)
        progress(f"day {day + 1} of {DAYS_OF_TICKS}")
    return days


def at(columns: Columns, tick: int) -> Columns:
    """The columns of one tick; without ticks where it is of another day."""
    is_tick = columns.ticks == tick
    arrays = [field.name for field in fields(columns) if field.name not in ("window", "series")]
    return replace(columns, **{name: getattr(columns, name)[is_tick] for name in arrays})


if __name__ == "__main__":
    main()
