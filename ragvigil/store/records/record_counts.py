"""Counts of the records that match a filter, by what they have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.records.record_filter import RecordFilter

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_COUNTED = 5_000
"""Records that are counted, the newest first: so many take 0.1 s."""
FIRST_LOOKED_AT = 30_000
"""Records of a place that are looked at first, the newest: enough if a sixth of them match."""
FIRST_OF_ALL = 6_000
"""The same where a place and a time are all that is asked for: some rows wait to be merged."""
MOST_SEARCHED = 100_000
"""Records whose words are looked at in one search, the newest first: so many take 0.4 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCounts:
    """How many records match; `is_more` says that there are more than were counted.

    `facets` are counts of the counted records by name and value: `routes`, `models`,
    `prompt_versions`, `failing_rubrics`, `failing_layers`, `labels`. A record may have several
    rubrics and labels.
    """

    answers: int
    is_more: bool
    facets: Mapping[str, Mapping[str, int]]


def counts(store: Store, filter_: RecordFilter, asked_since: int | None = None) -> RecordCounts:
    """Counts the newest MOST_COUNTED records that match, whatever page the filter asks for.

    The counts may be two minutes old where counting takes a second: pages repeat them.
    `asked_since` is since when they were asked for where the filter looks at a part of that alone.
    """
    whole = replace(filter_, after=None, limit=0)
    since = whole.since if asked_since is None else asked_since
    key = ("counts", replace(whole, since=store.kept.moving(since)))
    return store.kept.of(
        key, lambda: _read_counts(store, whole), lasts=True, most_seconds=SLOW_SECONDS
    )


def _read_counts(store: Store, whole: RecordFilter) -> RecordCounts:
    is_chosen = whole.asks_for_a_score or whole.asks_for_a_record
    part = newest_minutes(store, whole, least=FIRST_LOOKED_AT if is_chosen else FIRST_OF_ALL)
    by_record = _count(store, part)
    if by_record["answers"] <= MOST_COUNTED and part != whole:
        by_record = _count(store, whole)
    answers = int(by_record["answers"])
    counted = {
        "keys": by_record["keys"],
        "since": int(by_record["minute_seconds"]),
        "until": whole.until,
    }
    (by_score,) = store.read("record_counts_by_score", counted)
    facets = {**_facets(by_record), **_facets(by_score)}
    is_more = answers > MOST_COUNTED
    return RecordCounts(answers=min(answers, MOST_COUNTED), is_more=is_more, facets=facets)


def searched_since(store: Store, filter_: RecordFilter) -> int:
    """From when on words are looked for: as asked, or later if there are too many records."""
    return _newest_since(store, filter_, MOST_SEARCHED)


def newest_part(store: Store, filter_: RecordFilter) -> RecordFilter:
    """The filter over the newest time only: most often enough, and much less to read."""
    return replace(filter_, since=_newest_since(store, filter_, FIRST_LOOKED_AT))


def newest_minutes(store: Store, filter_: RecordFilter, *, least: int) -> RecordFilter:
    """The filter over the newest minutes in which its place has at least so many records."""
    (newest,) = store.read("records_newest", {**filter_.parameters(), "most": least})
    if newest["answers"] < least:
        return filter_
    return replace(filter_, since=max(filter_.since, int(newest["minute_seconds"])))


def _newest_since(store: Store, filter_: RecordFilter, most: int) -> int:
    """Since when at most so many records of the filter's place and time were asked.

    In seconds since the epoch; as the filter says if they are all, else the start of a minute.
    """
    (newest,) = store.read("records_newest", {**filter_.parameters(), "most": most + 1})
    is_all = newest["answers"] <= most
    # The oldest minute may have been cut in two.
    return filter_.since if is_all else max(filter_.since, int(newest["minute_seconds"]) + 60)


def _count(store: Store, filter_: RecordFilter) -> dict[str, Any]:
    (row,) = store.read("record_counts", {**filter_.parameters(), "most": MOST_COUNTED})
    return row


def _facets(row: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Counts by value, most first; sumMap gives the values and their counts."""
    return {
        name: {
            value: int(number)
            for value, number in sorted(zip(*cell, strict=True), key=lambda each: (-each[1], each))
            if value
        }
        for name, cell in row.items()
        if isinstance(cell, tuple)
    }
