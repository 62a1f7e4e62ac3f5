"""Which records fail, and which fail no more, since somebody looked last.

Whatever changes a score makes its minute's roll-up new, so the versions of the roll-ups say which
minutes to look at. Within a minute a digest of what a record fails by is compared with the one that
the table `failures` has: looking twice finds nothing new.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ragvigil.model.record import Absent, Dimensions, Document, Feedback, RagRecord
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records import feedback

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key: TypeAlias = tuple[str, str]
"""Trace id and record id."""
Route: TypeAlias = tuple[str, str, str]
"""Service, environment and route."""
UNSEEN = 20
"""Passing records that are believed of each rubric and route before any is seen."""

_DIMENSIONS = ("prompt_version", "index_epoch", "llm_model", "service_version")
_NAMES = ("trace_id", "record_id", "generation", "service", "environment", "route", "query")
_SCORE = ("rubric", "value", "label", "explanation", "scorer", "version", "inclusion_probability")


class Place(Protocol):
    """Where the rows of a record lie."""

    @property
    def minute(self) -> int:
        """The start of its minute, in seconds since the epoch."""
        ...

    @property
    def key(self) -> Key:
        """Trace id and record id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A record whose failing changed; `digest` names what it fails by, 0 for nothing any more."""

    minute: int
    trace_id: str
    record_id: str
    digest: int

    @property
    def key(self) -> Key:
        """Trace id and record id."""
        return (self.trace_id, self.record_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A failing record as it is stored: what tells why, without its texts; its failing scores.

    Of its context it has ids only. `received` is in seconds since the epoch.
    """

    record: RagRecord
    scores: tuple[Score, ...]
    time_unix_nano: int
    received: int
    digest: int


def minutes_changed(store: Store, version: int, since: int = 0) -> dict[int, int]:
    """Versions of the minutes with scores that changed after `version`, oldest minute first.

    Minutes, and `since`, are in seconds since the epoch.
    """
    asked = {"version": max(0, version), "since": max(0, since)}
    rows = store.read("failing_minutes", asked, priority=Priority.TICK)
    return {int(row["minute"]): int(row["version"]) for row in rows}


def minutes_disliked(store: Store, told: float, since: int) -> list[int]:
    """Minutes since then with records of which something bad was said after `told` (seconds)."""
    asked = {"told": max(0.0, told), "since": max(0, since)}
    rows = store.read("failing_disliked", asked, priority=Priority.TICK)
    return [int(row["minute"]) for row in rows]


def changes(
    store: Store, minutes: Collection[int], fails_below: Mapping[str, float], limit: int
) -> list[Change]:
    """What fails otherwise in these minutes than is known, oldest first, at most `limit`."""
    if not minutes:
        return []
    asked = {
        "minutes": sorted(minutes),
        "first": max(0, min(minutes)),
        "limit": limit,
        **_bars(fails_below),
    }
    return [
        Change(**{**row, "minute": int(row["minute"]), "digest": int(row["digest"])})
        for row in store.read("failing_changed", asked, priority=Priority.TICK)
    ]


def usual_shares(store: Store, since: int) -> dict[Route, dict[str, float]]:
    """The share of records since then (seconds) that fail each rubric, by route."""
    found: dict[Route, dict[str, float]] = {}
    for row in store.read("failing_usual", {"since": since}, priority=Priority.TICK):
        route = (row["service"], row["environment"], row["route"])
        share = row["failing"] / (row["scored"] + UNSEEN)
        found.setdefault(route, {})[row["rubric"]] = share
    return found


def read(
    store: Store, changed: Sequence[Change], fails_below: Mapping[str, float]
) -> list[Failing]:
    """These records, oldest first; those that are gone from the store are left out."""
    if not changed:
        return []
    digests = {one.key: one.digest for one in changed}
    place = {
        "minutes": sorted({one.minute for one in changed}),
        "trace_ids": sorted({one.trace_id for one in changed}),
    }
    rows = [
        row
        for row in store.read("failing_records", place, priority=Priority.TICK)
        if (row["trace_id"], row["record_id"]) in digests
    ]
    scores: dict[Key, list[Score]] = {}
    asked = {**place, **_bars(fails_below)}
    for row in store.read("failing_scores", asked, priority=Priority.TICK):
        scores.setdefault((row["trace_id"], row["record_id"]), []).append(_score(row))
    told = feedback.of_records(store, rows)
    return [
        Failing(
            record=_record(row, told[key]),
            scores=tuple(scores.get(key, ())),
            time_unix_nano=row["time_nanos"],
            received=row["received_seconds"],
            digest=digests[key],
        )
        for row in rows
        for key in [(row["trace_id"], row["record_id"])]
    ]


def bury(store: Store, gone: Sequence[Change], written_unix_nano: int) -> None:
    """Takes records that fail no more out of `failures` and out of their issues. Repeatable."""
    release(store, gone, written_unix_nano)
    _bury(store, "failures", gone, written_unix_nano)


def release(store: Store, records: Sequence[Place], written_unix_nano: int) -> None:
    """Takes records out of their issues. Repeatable."""
    _bury(store, "memberships", records, written_unix_nano)


def _bury(store: Store, table: str, records: Sequence[Place], written_unix_nano: int) -> None:
    if records:
        asked = {
            "minutes": sorted({one.minute for one in records}),
            "trace_ids": sorted({one.key[0] for one in records}),
            "keys": sorted(" ".join(one.key) for one in records),
            "written": written_unix_nano,
        }
        store.run(f"bury_{table}", asked)


def _bars(fails_below: Mapping[str, float]) -> dict[str, list[Any]]:
    """Never empty: ClickHouse does not transform by nothing."""
    bars = {"": 0.0, **fails_below}
    return {"rubrics": list(bars), "bars": [float(bar) for bar in bars.values()]}


def _score(row: Mapping[str, Any]) -> Score:
    return Score(
        **{name: row[name] for name in _SCORE},
        layer=Layer(row["layer"]),
        kind=Kind(row["kind"]),
        stream=Stream(row["stream"]),
        details=json.loads(row["details"]) if row["details"] else {},
    )


def _record(row: Mapping[str, Any], told: Sequence[Mapping[str, Any]]) -> RagRecord:
    chunks = zip(row["context.chunk_id"], row["context.document_id"], strict=True)
    return RagRecord(
        **{name: row[name] for name in _NAMES},
        error=row["error"],
        absent={field: Absent(reason) for field, reason in row["absent"].items()},
        context=tuple(Document(chunk_id=chunk, document_id=name) for chunk, name in chunks),
        dimensions=Dimensions(**{name: row[name] for name in _DIMENSIONS}),
        feedback=(*_own_feedback(row), *map(_feedback, told)),
    )


def _own_feedback(row: Mapping[str, Any]) -> list[Feedback]:
    columns = [row[f"feedback.{name}"] for name in ("kind", "value", "comment", "source", "time")]
    return [
        Feedback(kind=kind, value=value, comment=comment, source=source, time_unix_nano=time)
        for kind, value, comment, source, time in zip(*columns, strict=True)
    ]


def _feedback(told: Mapping[str, Any]) -> Feedback:
    return Feedback(**{name: told[name] for name in ("kind", "value", "comment", "source")})
