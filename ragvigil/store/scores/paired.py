"""Judged scores beside a local model's of the same records, for two-phase estimates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ragvigil.model.delta import Series
from ragvigil.model.score import Layer
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_RECORDS = 5_000
"""The newest records of a series that are read; more would not make an estimate finer."""
_SERIES = ("service", "environment", "route", "rubric")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A record: its local score, its judged one, and the probability of being judged.

    Without a verdict of the newest judge version, `judged` is None and `probability` 0.
    """

    cheap: float | None
    judged: float | None
    probability: float


def pairs(store: Store, since: int) -> Iterator[tuple[Series, list[Pair]]]:
    """The records of each judged series since then (seconds since the epoch), newest first.

    The series is that of the newest judge version: verdicts of others are not mixed in.
    """
    parameters = {"since": since, "most": MOST_RECORDS}
    scores = store.read("paired_scores", parameters, priority=Priority.SCAN)
    for _, rows in groupby(scores, key=lambda row: [row[name] for name in _SERIES]):
        listed = list(rows)
        segment = next((row["segment"] for row in listed if row["segment"]), "")
        if segment:
            yield _series(listed[0], segment), [_pair(row, segment) for row in listed]


def _series(row: dict[str, Any], segment: str) -> Series:
    named = {name: row[name] for name in _SERIES}
    return Series(**named, layer=Layer(row["layer"]), segment=segment)


def _pair(row: dict[str, Any], segment: str) -> Pair:
    is_judged = row["segment"] == segment and row["judged"] is not None
    return Pair(
        cheap=row["cheap"],
        judged=row["judged"] if is_judged else None,
        probability=float(row["probability"]) if is_judged else 0.0,
    )
