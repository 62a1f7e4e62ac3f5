"""Finds the records that began or ceased to fail since the last query.

Every change of a score recomputes the roll-up of its minute, so the versions of the roll-ups say
which minutes to query. Within a minute, a digest of all that a record fails by is compared with the
digest in the table `failures`: a second query finds nothing new.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ragvigil.model.issue import MEASURES, OTHER_CHUNKS
from ragvigil.model.record import Absent, Dimensions, Document, Feedback, RagRecord
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues.spikes import Spike
from ragvigil.store.issues.spikes import parameters as spike_parameters
from ragvigil.store.records import feedback

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key: TypeAlias = tuple[str, str]
"""Trace id and record id."""
Route: TypeAlias = tuple[str, str, str]
"""Service, environment and route."""
UNSEEN = 20
"""A prior: this many passing records count for each rubric and route before any was scored."""

NOTHING_REDRAWN: frozenset[Key] = frozenset()

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
    """A record that fails in another way than before; `digest` is 0 if it no longer fails."""

    minute: int
    trace_id: str
    record_id: str
    digest: int

    @property
    def key(self) -> Key:
        """Trace id and record id."""
        return (self.trace_id, self.record_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingRecord:
    """A failing record with its failing scores, as far as they tell why it fails.

    The record has no document texts, and ids alone of its context. `received` is in seconds since
    the epoch.
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
    parameters = {"version": max(0, version), "since": max(0, since)}
    rows = store.read("failing_minutes", parameters, priority=Priority.TICK)
    return {int(row["minute"]): int(row["version"]) for row in rows}


def minutes_disliked(store: Store, after: float, since: int) -> list[int]:
    """Minutes since a time whose records got bad feedback after another; both in seconds."""
    parameters = {"told": max(0.0, after), "since": max(0, since)}
    rows = store.read("failing_disliked", parameters, priority=Priority.TICK)
    return [int(row["minute"]) for row in rows]


def changes(
    store: Store,
    minutes: Collection[int],
    fails_below: Mapping[str, float],
    limit: int,
    spikes: Sequence[Spike] = (),
    redrawn: Collection[Key] = NOTHING_REDRAWN,
) -> list[Change]:
    """Records of these minutes that fail in another way than `failures` holds, oldest first.

    At most `limit`; `fails_below` is the value below which a record fails, by rubric; `spikes` are
    what incidents show, and `redrawn` the answers that draw on other chunks since.
    """
    if not minutes:
        return []
    parameters = {
        "minutes": sorted(minutes),
        "first": max(0, min(minutes)),
        "limit": limit,
        **_bars(fails_below),
        **spike_parameters(spikes),
        "redrawn": sorted({trace_id for trace_id, _ in redrawn}),
        "redrawn_keys": sorted(map(" ".join, redrawn)),
    }
    return [
        Change(**{**row, "minute": int(row["minute"]), "digest": int(row["digest"])})
        for row in store.read("failing_changed", parameters, priority=Priority.TICK)
    ]


def usual_shares(store: Store, since: int) -> dict[Route, dict[str, float]]:
    """The share of records since a time (seconds) that fail each rubric, by route."""
    shares: dict[Route, dict[str, float]] = {}
    for row in store.read("failing_usual", {"since": since}, priority=Priority.TICK):
        route = (row["service"], row["environment"], row["route"])
        share = row["failing"] / (row["scored"] + UNSEEN)
        shares.setdefault(route, {})[row["rubric"]] = share
    return shares


def read(
    store: Store,
    changed: Sequence[Change],
    fails_below: Mapping[str, float],
    spikes: Sequence[Spike] = (),
    redrawn: Collection[Key] = NOTHING_REDRAWN,
) -> list[FailingRecord]:
    """These records, oldest first; those that are gone from the store are left out."""
    if not changed:
        return []
    digests = {change.key: change.digest for change in changed}
    place = {
        "minutes": sorted({change.minute for change in changed}),
        "trace_ids": sorted({change.trace_id for change in changed}),
    }
    rows = [
        row
        for row in store.read("failing_records", place, priority=Priority.TICK)
        if (row["trace_id"], row["record_id"]) in digests
    ]
    scores = _scores_of(store, place, fails_below, spikes)
    for key in digests.keys() & redrawn:
        scores.setdefault(key, []).append(OF_OTHER_CHUNKS)
    events = feedback.of_records(store, rows)
    return [
        FailingRecord(
            record=_record(row, events[key]),
            scores=tuple(scores.get(key, ())),
            time_unix_nano=row["time_nanos"],
            received=row["received_seconds"],
            digest=digests[key],
        )
        for row in rows
        for key in [(row["trace_id"], row["record_id"])]
    ]


def _scores_of(
    store: Store,
    place: Mapping[str, Any],
    fails_below: Mapping[str, float],
    spikes: Sequence[Spike],
) -> dict[Key, list[Score]]:
    """The scores and measures that the records of a place fail by."""
    scores: dict[Key, list[Score]] = {}
    parameters = {**place, **_bars(fails_below), **spike_parameters(spikes)}
    for row in store.read("failing_scores", parameters, priority=Priority.TICK):
        scores.setdefault((row["trace_id"], row["record_id"]), []).append(_score(row))
    if any(spike.rubric in MEASURES for spike in spikes):
        for row in store.read("failing_measures", parameters, priority=Priority.TICK):
            scores.setdefault((row["trace_id"], row["record_id"]), []).append(_measured(row))
    return scores


def bury(store: Store, changes: Sequence[Change], written_unix_nano: int) -> None:
    """Removes records that no longer fail from `failures` and from their issues. Repeatable."""
    # `failures` last: after a crash between the two, the change is found again.
    release(store, changes, written_unix_nano)
    _bury(store, "failures", changes, written_unix_nano)


def release(store: Store, records: Sequence[Place], written_unix_nano: int) -> None:
    """Removes records from their issues. Repeatable."""
    _bury(store, "memberships", records, written_unix_nano)


def _bury(store: Store, table: str, records: Sequence[Place], written_unix_nano: int) -> None:
    if records:
        parameters = {
            "minutes": sorted({place.minute for place in records}),
            "trace_ids": sorted({place.key[0] for place in records}),
            "keys": sorted(" ".join(place.key) for place in records),
            "written": written_unix_nano,
        }
        store.run(f"bury_{table}", parameters)


def _bars(fails_below: Mapping[str, float]) -> dict[str, list[Any]]:
    """Parameters of the queries; never empty, because `transform` refuses empty arrays."""
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


OF_OTHER_CHUNKS = Score(
    rubric=OTHER_CHUNKS,
    value=0.0,
    label="other_chunks",
    explanation="it draws on other chunks than answers to its question did, or at other sentences",
    layer=Layer.RETRIEVAL,
)


def _measured(row: Mapping[str, Any]) -> Score:
    """A measure beyond what was usual, as a score: a record fails by it."""
    words = row["rubric"].replace("_", " ")
    return Score(
        rubric=row["rubric"],
        value=0.0,
        label=row["label"],
        explanation=f"{words}: {row['value']:g}, where it was seldom so before",
        layer=MEASURES[row["rubric"]],
    )


def _record(row: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> RagRecord:
    chunks = zip(row["context.chunk_id"], row["context.document_id"], strict=True)
    return RagRecord(
        **{name: row[name] for name in _NAMES},
        error=row["error"],
        absent={field: Absent(reason) for field, reason in row["absent"].items()},
        context=tuple(Document(chunk_id=chunk, document_id=name) for chunk, name in chunks),
        dimensions=Dimensions(**{name: row[name] for name in _DIMENSIONS}),
        feedback=(*_own_feedback(row), *map(_feedback, events)),
    )


def _own_feedback(row: Mapping[str, Any]) -> list[Feedback]:
    columns = [row[f"feedback.{name}"] for name in ("kind", "value", "comment", "source", "time")]
    return [
        Feedback(kind=kind, value=value, comment=comment, source=source, time_unix_nano=time)
        for kind, value, comment, source, time in zip(*columns, strict=True)
    ]


def _feedback(event: Mapping[str, Any]) -> Feedback:
    return Feedback(**{name: event[name] for name in ("kind", "value", "comment", "source")})
