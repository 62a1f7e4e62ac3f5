"""A tick has rows of what changed, and rows read as "stands until the next" are every tick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from alerts.deltas.changes import changed, digests
from alerts.deltas.compute import Columns, compute
from alerts.deltas.windows import TICK_SECONDS, Sums
from alerts.settings import AlertsSettings
from ragvigil.model.delta import Series
from tests.unit.alerts.score_streams import DAY, HOUR, START, rollups, series

FIRST = START + 9 * DAY + HOUR + 600
OF = (series(route="/busy"), series(route="/rare"))
Rows = dict[tuple[Series, str], dict[int, int]]


def stream(
    rng: np.random.Generator, *, rare: int = 20
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, values and series of 9 days and 6 hours: a busy series, and a score now and then."""
    size = 4000
    times = rng.integers(START, FIRST + 5 * HOUR, size + rare)
    return times, np.round(rng.random(size + rare), 2), np.repeat([0, 1], [size, rare])


def ticks(scores: tuple[np.ndarray, ...], first: int, hours: float) -> list[Columns]:
    times, values, index = scores
    sums = Sums(rollups(times, values, end=FIRST + 6 * HOUR, of=OF, index=index))
    ends = np.arange(first, first + int(hours * HOUR), TICK_SECONDS)
    return compute(sums, ends, AlertsSettings())


def write(rows: Rows, windows: list[Columns]) -> int:
    """Adds the rows that a run would write to `rows`; returns their number."""
    written = 0
    for columns in windows:
        first = int(columns.ticks[0])
        since = (first - TICK_SECONDS) // HOUR * HOUR
        digest = digests(columns)
        stored = {
            key: tuple(map(list, zip(*recent, strict=True)))
            for key, own in rows.items()
            if (recent := [pair for pair in own.items() if since <= pair[0] <= columns.ticks[-1]])
        }
        chosen = changed(columns, digest, stored)  # type: ignore[arg-type]
        for tick, place in np.argwhere(chosen):
            key = (columns.series[place], columns.window)
            rows.setdefault(key, {})[int(columns.ticks[tick])] = int(digest[tick, place])
            written += 1
    return written


def standing(rows: Rows, windows: list[Columns]) -> list[list[int]]:
    """The digest of the row that stands at each tick, found within the hour before it."""
    found = []
    for columns in windows:
        for place, tick in np.ndindex(len(columns.series), len(columns.ticks)):
            own = rows.get((columns.series[place], columns.window), {})
            end = int(columns.ticks[tick])
            known = [time for time in own if end // HOUR * HOUR <= time <= end]
            found.append(own[max(known)] if known else 0)
    return found


def expected(windows: list[Columns]) -> list[int]:
    return [int(digest) for columns in windows for digest in digests(columns).transpose().ravel()]


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_what_changed_are_every_tick_however_often_ticks_run(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = stream(rng)
    kept = rng.random(len(scores[0])) < 0.9
    early = tuple(each[kept] for each in scores)
    rows: Rows = {}
    write(rows, ticks(early, FIRST, 2))
    write(rows, ticks(early, FIRST + HOUR, 2))
    # Late scores: from an hour into what is stored, and on to ticks that are new.
    write(rows, ticks(scores, FIRST + HOUR // 2, 4))
    windows = ticks(scores, FIRST + HOUR // 2, 4)
    assert standing(rows, windows) == expected(windows)
    assert write(rows, windows) == 0


def test_a_series_that_hardly_changes_has_few_rows_and_one_each_hour() -> None:
    times = np.array([FIRST - 2 * HOUR])
    windows = ticks((times, np.ones(1), np.array([1])), FIRST, 5)
    rows: Rows = {}
    assert write(rows, windows) < 60 / 3
    full_hours = [tick for tick in rows[OF[1], "24h"] if tick % HOUR == 0]
    assert len(full_hours) == 5
    # Its bin of five minutes leaves the window: a row says that the window holds nothing.
    assert rows[OF[1], "6h"][FIRST + 4 * HOUR + TICK_SECONDS] == 0


def test_a_digest_is_another_for_any_number_and_none_for_less_than_is_kept() -> None:
    columns = ticks(stream(np.random.default_rng(9)), FIRST, 1)[3]
    held = columns.has_row()
    digest = digests(columns)[held]
    for name in ("n", "mean", "low", "baseline", "overdispersion", "sustained_drop", "since"):
        numbers = getattr(columns, name)
        other = ~numbers if numbers.dtype == bool else numbers + 1
        assert (digests(replace(columns, **{name: other}))[held] != digest).any()
    same = digests(replace(columns, mean=columns.mean + 1e-9))[held]
    assert (same == digest).mean() > 0.99
    assert digest.min() > 0
