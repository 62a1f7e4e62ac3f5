"""Counts of the records that match a filter, by what they have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragvigil.store.records.record_filter import RecordFilter

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_COUNTED = 10_000
"""Records that are counted, the newest first: so many take 0.1 s."""
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


def counts(store: Store, filter_: RecordFilter) -> RecordCounts:
    """Counts the newest MOST_COUNTED records that match, whatever page the filter asks for."""
    parameters = replace(filter_, after=None).parameters()
    (one_more,) = store.read("record_counts", {**parameters, "most": MOST_COUNTED + 1})
    answers = int(one_more["answers"])
    is_more = answers > MOST_COUNTED
    parameters["most"] = MOST_COUNTED
    (by_record,) = store.read("record_counts", parameters) if is_more else (one_more,)
    (by_score,) = store.read("record_counts_by_score", parameters)
    facets = {**_facets(by_record), **_facets(by_score)}
    return RecordCounts(answers=min(answers, MOST_COUNTED), is_more=is_more, facets=facets)


def searched_since(store: Store, filter_: RecordFilter) -> int:
    """From when on words are looked for: as asked, or later if there are too many records.

    In seconds since the epoch; then it is the start of a minute.
    """
    parameters = {**filter_.parameters(), "most": MOST_SEARCHED + 1}
    (newest,) = store.read("records_newest", parameters)
    is_all = newest["answers"] <= MOST_SEARCHED
    # The oldest minute may have been cut in two.
    return filter_.since if is_all else max(filter_.since, int(newest["minute_seconds"]) + 60)


def _facets(row: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Counts by value, most first; sumMap gives the values and their counts."""
    return {
        name: {
            value: int(number)
            for value, number in sorted(zip(*cell, strict=True), key=lambda each: (-each[1], each))
            if value
        }
        for name, cell in row.items()
        if name != "answers"
    }
