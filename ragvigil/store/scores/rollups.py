"""Roll-ups: counts per series and minute, recomputed from the scores and replaced by version.

Nothing is ever added to a roll-up, so a span that is sent again, a trace that is scored again and a
job that runs twice change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.delta import Series
from ragvigil.model.score import Kind, Layer, Stream
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragvigil.store.engine.store import Store

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

HOUR = 3600
AT_ONCE_SECONDS = 2 * HOUR
"""The longest span of minutes that one statement recomputes; it bounds the memory."""
TABLES = {Stream.BASE: "rollups", Stream.PROXY: "proxy_rollups"}
"""Where the scores of a stream are counted: local ones beside a judge's, never in its means."""
COUNTS = ("n", "total", "squares", "failed", "absent", "not_applicable")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """Records with a label: `index` is a position in the series, `start` that of the bin."""

    index: int
    label: str
    start: Ints
    records: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesCounts:
    """Counts per series and bin, a row each: arrays of one length.

    `index` is a position in `series`, `start` the bin's start in seconds since the epoch. `total`
    and `squares` sum the values and their squares over the `n` records that have one; `absent`
    counts those that could not be seen, `not_applicable` the rest without a value.
    """

    series: tuple[Series, ...]
    index: Ints
    start: Ints
    n: Floats
    total: Floats
    squares: Floats
    failed: Floats
    absent: Floats
    not_applicable: Floats
    labels: tuple[LabelCounts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMinutes:
    """First and last minute whose roll-ups are newer than a version, and the newest version."""

    first: int
    last: int
    version: int


def recompute(store: Store, minutes: Iterable[int], *, version: int = 0) -> None:
    """Counts these minutes (starts, seconds since the epoch) again. Safe to repeat.

    `version` is a nanosecond time by convention; 0 takes the next version of each row.
    """
    for chunk in _chunks(sorted(set(minutes))):
        _recompute(store, chunk[0], chunk[-1], chunk, version)


def rebuild(store: Store, since: int = 0, *, version: int = 0) -> int:
    """Recounts all minutes since a time (seconds) that have scores; returns how many hours.

    Minutes whose scores are past their retention keep their roll-ups.
    """
    rows = store.read("score_hours", {"since": since}, priority=Priority.SCAN)
    for row in rows:
        hour = int(row["hour"])
        _recompute(store, hour, hour + HOUR - 60, [], version)
    return len(rows)


def minutes_received(store: Store, since: float) -> list[int]:
    """Minutes with scores of traces received since a time (seconds): to recompute after a crash."""
    parameters = {"received": int(since)}
    (row,) = store.read("score_minutes_received", parameters, priority=Priority.TICK)
    return [int(minute) for minute in row["minutes"]]


def minutes_not_counted(store: Store) -> list[int]:
    """Minutes with scores and without a roll-up: those that an earlier life left when it ended."""
    (row,) = store.read("score_minutes_not_counted", priority=Priority.TICK)
    return [int(minute) for minute in row["minutes"]]


def changed(store: Store, version: int) -> ChangedMinutes | None:
    """The minutes that were recomputed after `version`, None if there are none."""
    row = store.read("rollup_changed", {"version": version}, priority=Priority.TICK)[0]
    if not row["rows"]:
        return None
    return ChangedMinutes(
        first=int(row["first"]), last=int(row["last"]), version=int(row["version"])
    )


def counts(
    store: Store, start: int, end: int, *, bin_seconds: int = 60, with_labels: bool = True
) -> SeriesCounts:
    """Counts of all series from `start` until `end`, in bins of whole minutes."""
    window = {"first": start, "end": end, "bin": bin_seconds}
    # Scores arrive between these three reads. Labels come first, so that no label has more records
    # than its series; names come last, so that a series that arrived meanwhile has a name.
    labels = store.arrays("rollup_labels", window) if with_labels else {}
    columns = store.arrays("rollup_counts", window) or _no_columns()
    ids = set(columns["series"].tolist())
    rows = store.read("rollup_series", window, priority=Priority.TICK)
    named = [row for row in rows if int(row["id"]) in ids]
    places = {int(row["id"]): place for place, row in enumerate(named)}
    index = _places(columns["series"], places)
    kept = index >= 0
    return SeriesCounts(
        series=tuple(_series(row) for row in named),
        index=index[kept],
        start=columns["start"][kept].astype("int64"),
        labels=tuple(_labels(labels, places)),
        **{name: columns[name][kept].astype("float64") for name in COUNTS},
    )


def _recompute(store: Store, first: int, last: int, minutes: list[int], version: int) -> None:
    parameters = {
        "first": first,
        "last": last,
        "minutes": minutes,
        "version": version,
        "replica": store.replica,
        "epoch": store.epoch,
    }
    # The means come last: a reader of changes goes by their version.
    for stream in (Stream.PROXY, Stream.BASE):
        where = {"stream": stream.value, "table": TABLES[stream]}
        store.run("rollup_recompute", parameters | where)


def _chunks(minutes: list[int]) -> Iterator[list[int]]:
    """Groups of minutes that lie within AT_ONCE_SECONDS."""
    chunk: list[int] = []
    for minute in minutes:
        if chunk and minute - chunk[0] >= AT_ONCE_SECONDS:
            yield chunk
            chunk = []
        chunk.append(minute)
    if chunk:
        yield chunk


def _series(row: dict[str, Any]) -> Series:
    return Series(
        service=row["service"],
        environment=row["environment"],
        route=row["route"],
        rubric=row["rubric"],
        layer=Layer(row["layer"]),
        segment=row["segment"],
        kind=Kind(row["kind"]) if row["kind"] else None,
    )


def _no_columns() -> dict[str, NDArray[Any]]:
    import numpy as np

    return dict.fromkeys(("series", "start", *COUNTS), np.zeros(0))


def _places(ids: NDArray[Any], places: Mapping[int, int]) -> Ints:
    """The place of each series id; -1 for an id that has none."""
    import numpy as np

    if not len(ids):
        return np.zeros(0, dtype=np.int64)
    # A look-up in the dict for each distinct id, not for each of the many rows.
    distinct, inverse = np.unique(ids, return_inverse=True)
    return np.asarray([places.get(int(series), -1) for series in distinct], dtype=np.int64)[inverse]


def _labels(
    columns: Mapping[str, NDArray[Any]], places: Mapping[int, int]
) -> Iterator[LabelCounts]:
    import numpy as np

    if not columns:
        return
    ids, labels = columns["series"], columns["label"]
    # Rows come ordered by series and label: each run of equal ones is one `LabelCounts`.
    starts = np.flatnonzero((ids[1:] != ids[:-1]) | (labels[1:] != labels[:-1])) + 1
    for first, last in zip([0, *starts], [*starts, len(ids)], strict=True):
        place = places.get(int(ids[first]))
        if place is not None:
            yield LabelCounts(
                index=place,
                label=str(labels[first]),
                start=columns["start"][first:last].astype(np.int64),
                records=columns["records"][first:last].astype(np.float64),
            )
