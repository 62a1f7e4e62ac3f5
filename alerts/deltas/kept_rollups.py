"""Roll-ups that one run has read and the next need not read again: days of them do not change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from alerts.deltas.windows import HOUR as TICKS
from ragvigil.store.engine.store import Priority, Store
from ragvigil.store.scores import rollups as stored
from ragvigil.store.scores.rollups import COUNTS, SeriesCounts

HOUR = 3600
TICK_SECONDS = HOUR // TICKS
RECENT_HOURS = 2
"""Hours before the present one that are read each time: another replica may write them late."""
WHOLE_SECONDS = HOUR
"""Seconds after which everything is read again, whatever is known to have changed."""
SMALL = ("n", "failed", "absent", "not_applicable")
"""Counts that a four-byte number holds exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """The roll-ups from `first` until `end`, full hours in seconds since the epoch."""

    first: int
    end: int
    counts: SeriesCounts


class KeptRollups:
    """The roll-ups of the last days by bins of a tick, hour by hour as they were read.

    Whoever asks must `forget` what has changed since. Some 36 bytes a bin and series.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pieces: list[_Piece] = []
        self._begun = 0

    def forget(self, since: int) -> None:
        """Forgets the hours that reach beyond a time (seconds): some of their minutes changed."""
        self._pieces = [piece for piece in self._pieces if piece.end <= since]

    def read(self, start: int, end: int, *, with_labels: bool) -> list[SeriesCounts]:
        """The roll-ups from `start`, a full hour, until `end`, oldest first. Raises StoreError."""
        settled = max(start, end - end % HOUR - RECENT_HOURS * HOUR)
        is_short = bool(self._pieces) and self._pieces[0].first > start
        if is_short or abs(end - self._begun) >= WHOLE_SECONDS:
            self._pieces, self._begun = [], end
        self._pieces = [piece for piece in self._pieces if start < piece.end <= settled]
        first = self._pieces[-1].end if self._pieces else start
        self._pieces += self._read(first, settled, with_labels)
        newest = self._read(settled, end, with_labels)
        kept = [
            piece.counts if piece.first >= start else _since(piece.counts, start)
            for piece in self._pieces
        ]
        return [*kept, *(piece.counts for piece in newest)]

    def _read(self, first: int, end: int, with_labels: bool) -> list[_Piece]:
        return [
            _Piece(first=since, end=until, counts=_small(counts))
            for since, until, counts in read_pieces(self._store, first, end, with_labels)
        ]


def read_pieces(
    store: Store, start: int, end: int, with_labels: bool
) -> Iterator[tuple[int, int, SeriesCounts]]:
    """Reads start..end in ranges of whole hours that stay under the store's limit of rows."""
    if start >= end:
        return
    series = store.read("rollup_series", {"first": start, "end": end}, priority=Priority.TICK)
    # A series has up to as many rows an hour as it has ticks; half of the limit stays as a margin.
    hours = max(1, store.settings.query_rows // (2 * TICKS * max(1, len(series))))
    for first in range(start, end, hours * HOUR):
        last = min(first + hours * HOUR, end)
        counts = stored.counts(
            store, first, last, bin_seconds=TICK_SECONDS, with_labels=with_labels
        )
        yield first, last, counts


def _small(counts: SeriesCounts) -> SeriesCounts:
    """The same with small numbers in four bytes."""
    four = {name: getattr(counts, name).astype(np.float32) for name in SMALL}
    places = {name: getattr(counts, name).astype(np.int32) for name in ("index", "start")}
    return replace(counts, **four, **places)


def _since(counts: SeriesCounts, start: int) -> SeriesCounts:
    """What began at `start` or later, without series that have nothing left."""
    is_left = counts.start >= start
    alive, index = np.unique(counts.index[is_left], return_inverse=True)
    place = {int(was): now for now, was in enumerate(alive)}
    labels = [
        replace(
            label,
            index=place[label.index],
            start=label.start[label.start >= start],
            records=label.records[label.start >= start],
        )
        for label in counts.labels
        if label.index in place
    ]
    columns = {name: getattr(counts, name)[is_left] for name in ("start", *COUNTS)}
    return SeriesCounts(
        series=tuple(counts.series[was] for was in alive),
        index=index,
        labels=tuple(labels),
        **columns,
    )
