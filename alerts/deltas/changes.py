"""Which rows of the ticks are written: what changed, and a whole picture at every full hour. Pure.

A row stands until the next of its series and window. So a tick needs a row only where its numbers
differ from those of the tick before, or from a row that is stored at the same tick. A full hour has
a row of everything: no reader looks back further than that, and the hours alone are a history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.compute import Columns
from alerts.deltas.windows import TICK_SECONDS, Ints
from ragvigil.model.delta import Series

DIGITS = 5
"""Digits of a number that is kept: a thousandth of a point. Less is no change."""
SECONDS_AN_HOUR = 3600
NO_ROW = -1
_OFFSET, _ODD = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)
_UNKNOWN = np.uint64(0x7FF8000000000000)
_WITHOUT = ("window", "ticks", "series")

Stored = Mapping[tuple[Series, str], tuple[list[int], list[int]]]
"""Ticks with a row and the digests of these rows, by series and window."""


def rounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers to DIGITS digits; + 0.0 turns -0.0 into 0.0."""
    return np.round(numbers, DIGITS) + 0.0


def digests(columns: Columns) -> Ints:
    """A number per tick and series, equal where the row is (a multiplicative hash of its numbers).

    It is 0 where the window holds nothing.
    """
    total = np.full(columns.n.shape, _OFFSET)
    for name in (field.name for field in fields(columns) if field.name not in _WITHOUT):
        numbers = rounded(getattr(columns, name).astype(np.float64))
        bits = np.where(np.isnan(numbers), _UNKNOWN, numbers.view(np.uint64))
        total = (total ^ bits) * _ODD
    # The upper half: every bit of the numbers has reached it.
    short = np.maximum(total >> np.uint64(32), 1).astype(np.int64)
    return np.where(columns.has_row(), short, 0)


def changed(columns: Columns, digest: Ints, stored: Stored) -> NDArray[np.bool_]:
    """Where a row must be written, of consecutive ticks; `digest` is that of `columns`.

    `stored` holds the rows since the last full hour before the first tick.
    """
    standing, own = _stored(columns, stored)
    before = np.vstack([standing, digest[:-1]])
    is_hour = is_full_hour(columns.ticks)[:, np.newaxis]
    is_news = (digest != before) | (is_hour & (digest != 0))
    return np.asarray(np.where(own == NO_ROW, is_news, own != digest))


def is_full_hour(ticks: Ints) -> NDArray[np.bool_]:
    """Which ticks end an hour."""
    return np.asarray(ticks % SECONDS_AN_HOUR == 0)


def _stored(columns: Columns, stored: Stored) -> tuple[Ints, Ints]:
    """Digests that stand before the first tick (0 for none), and those of the ticks' own rows."""
    first, last = int(columns.ticks[0]), int(columns.ticks[-1])
    standing = np.zeros(len(columns.series), dtype=np.int64)
    own = np.full(columns.n.shape, NO_ROW, dtype=np.int64)
    for place, series in enumerate(columns.series):
        rows = stored.get((series, columns.window), ([], []))
        ticks, values = (np.array(numbers, dtype=np.int64) for numbers in rows)
        earlier = ticks < first
        if earlier.any():
            standing[place] = values[earlier][np.argmax(ticks[earlier])]
        inside = ~earlier & (ticks <= last)
        own[(ticks[inside] - first) // TICK_SECONDS, place] = values[inside]
    return standing, own
