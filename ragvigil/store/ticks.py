"""What the ticks of `rubric_deltas` read and write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragvigil.store.batch import Batch, Row, token_of
from ragvigil.store.store import Priority, Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE = "rubric_deltas"
BINS_AN_HOUR = 12
COLUMNS = {
    "tick_bins": ("n", "total", "squares", "failed", "absent"),
    "tick_labels": ("label", "records"),
}


def newest(store: Store) -> tuple[int | None, int]:
    """The newest closed tick (seconds, None where there is none) and when rows were last computed
    (nanoseconds, 0 where there are none)."""
    row = store.read("tick_newest", {}, priority=Priority.TICK)[0]
    if not row["stored"]:
        return None, 0
    return row["closed_tick"] or None, row["computed"]


def changes(store: Store, version: int) -> tuple[int, int, int] | None:
    """First and last minute whose roll-ups are newer than `version`, and the newest minute of
    all, each its start in seconds; None where nothing changed."""
    row = store.read("tick_changes", {"version": version}, priority=Priority.TICK)[0]
    if not row["changed"]:
        return None
    return row["first"], row["last"], row["newest"]


def series(store: Store, start: int, end: int) -> list[dict[str, Any]]:
    """The series with roll-ups in start..end; `series` is their number in `bins` and `labels`."""
    return store.read("tick_series", {"start": start, "end": end}, priority=Priority.TICK)


def bins(store: Store, start: int, end: int, series: int) -> dict[str, NDArray[Any]]:
    """Counts per series and 5 minutes: series, bin, n, total, squares, failed, absent.

    `series` is about how many there are: it decides how much is read at once.
    """
    return _in_pieces(store, "tick_bins", start, end, series, {})


def labels(
    store: Store, start: int, end: int, series: int, rubrics: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Records per label of these rubrics: series, bin, label, records."""
    return _in_pieces(store, "tick_labels", start, end, series, {"rubrics": list(rubrics)})


def _in_pieces(
    store: Store, name: str, start: int, end: int, series: int, more: dict[str, Any]
) -> dict[str, NDArray[Any]]:
    """Reads a range in pieces of whole hours that stay under the limit of rows."""
    hours = max(1, store.settings.query_rows // (2 * BINS_AN_HOUR * max(1, series)))
    found = [
        store.arrays(name, {"start": at, "end": min(at + hours * 3600, end), **more})
        for at in range(start, end, hours * 3600)
    ]
    columns = ("series", "bin", *COLUMNS[name])
    return {column: _joined([one[column] for one in found if one]) for column in columns}


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    import numpy as np

    # A piece without rows has no columns, or columns without a type.
    held = [part for part in parts if len(part)]
    return np.concatenate(held) if held else np.zeros(0, dtype=np.uint64)


def batch(store: Store, rows: Sequence[Row], computed: int, part: int) -> Batch:
    """Rows of `rubric_deltas` as a batch; `computed` and `part` name it among all others."""
    return Batch(rows={TABLE: rows}, token=token_of(TABLE, store.replica, computed, part))
