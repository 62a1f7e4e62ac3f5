"""Rows hold the values of the arrays; unknown is None."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from alerts.deltas.compute import Columns, compute
from alerts.deltas.rows import deltas, stored, values
from alerts.deltas.windows import Sums
from alerts.settings import AlertsSettings
from ragvigil.model.delta import BaselineKind, Delta, Moved
from tests.unit.alerts.score_streams import DAY, HOUR, START, rollups, steady

NOW = START + 8 * DAY


def columns() -> list[Columns]:
    rng = np.random.default_rng(1)
    onset = NOW - 6 * HOUR
    times, scores = steady(rng, 8, 40, lambda time: np.where(time < onset, 0.95, 0.5))
    return compute(Sums(rollups(times, scores, end=NOW)), np.array([NOW]), AlertsSettings())


def test_a_row_a_window_with_python_values() -> None:
    found = list(deltas(columns(), closed_until=NOW))
    assert [row.window for row in found] == ["15m", "30m", "90m", "6h", "24h"]
    moved = found[3]
    assert moved.moved is Moved.FELL
    assert moved.since == NOW - 6 * HOUR
    assert moved.closed
    assert moved.baseline_kind is BaselineKind.SAME_HOURS
    assert moved.release_baseline is None
    assert type(moved.n) is int
    assert type(moved.mean) is float


def test_a_tick_that_still_waits_is_open() -> None:
    assert not any(row.closed for row in deltas(columns(), closed_until=NOW - 300))


def test_a_window_without_scores_has_no_row() -> None:
    times = np.array([NOW - 3 * HOUR])
    found = compute(Sums(rollups(times, np.ones(1), end=NOW)), np.array([NOW]), AlertsSettings())
    assert [row.window for row in deltas(found, closed_until=NOW)] == ["6h", "24h"]


def test_stored_rows_follow_the_order_of_the_table() -> None:
    window = columns()[3]
    by_name = values(window, NOW, window.has_row())
    order = ["tick", "route", "rubric", "window", "mean", "computed", "replica"]
    rows = list(stored(by_name, order, computed=7, replica="a"))
    row = next(iter(deltas([columns()[3]], NOW)))
    assert rows == [(NOW, "/refunds", "citation_validity", "6h", row.mean, 7, "a")]


def test_values_name_every_field_of_a_delta() -> None:
    window = columns()[0]
    assert set(values(window, NOW, window.has_row())) == set(Delta.__dataclass_fields__)
    assert asdict(next(iter(deltas([columns()[0]], NOW))))
