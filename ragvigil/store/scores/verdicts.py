"""What judges said: of labelled records, lately, and in sum."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.score import Kind, Stream
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records import traces

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

AT_ONCE = 1000
"""Traces that are asked for together; their minutes stand in the query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge, or another scorer, said of one record by one rubric."""

    trace_id: str
    record_id: str
    rubric: str
    time_unix_nano: int
    value: float | None = None
    label: str = ""
    scorer: str = ""
    version: str = ""
    segment: str = ""
    kind: Kind = Kind.JUDGE
    stream: Stream = Stream.BASE
    service: str = ""
    route: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model with the version of a rubric that it judges by; `segment` names both."""

    rubric: str
    segment: str
    scorer: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Values of the uniform sample: their number, sum, sum of squares, and how many fail."""

    n: int
    total: float
    squares: float
    failed: int


def of_traces(store: Store, trace_ids: Collection[str], rubrics: Collection[str]) -> list[Verdict]:
    """The judges' verdicts on all records of these traces, by these rubrics."""
    stored = traces.lookup(store, trace_ids)
    ids = sorted(stored)
    found: list[Verdict] = []
    for first in range(0, len(ids), AT_ONCE):
        some = ids[first : first + AT_ONCE]
        seconds = {stored[one].time_unix_nano // 10**9 for one in some}
        asked = {
            "minutes": sorted({one - one % 60 for one in seconds}),
            "trace_ids": some,
            "received": min(stored[one].received_unix_nano for one in some) // 10**9,
            "rubrics": sorted(rubrics),
        }
        found += map(_verdict, store.read("verdicts_of", asked, priority=Priority.TICK))
    return found


def recent(store: Store, since: int, *, limit: int = 2000) -> list[Verdict]:
    """Values of judges since then, newest first, and what others said of the same by code.

    At most `limit` pairs of trace and rubric.
    """
    rows = store.read("verdicts_recent", {"since": since, "limit": limit})
    return [_verdict(row) for row in rows]


def judges(store: Store, since: int) -> list[Judge]:
    """Who has judged since then, seconds since the epoch."""
    return [Judge(**row) for row in store.read("judges", {"since": since}, priority=Priority.TICK)]


def sums(store: Store, since: int, rubrics: Collection[str]) -> dict[tuple[str, str], Sums]:
    """The uniform sample since then by rubric and segment."""
    asked = {"since": since, "rubrics": sorted(rubrics)}
    return {
        (row["rubric"], row["segment"]): Sums(
            n=int(row["n"]),
            total=float(row["total"]),
            squares=float(row["squares"]),
            failed=int(row["failed"]),
        )
        for row in store.read("segment_sums", asked, priority=Priority.TICK)
    }


def _verdict(row: Mapping[str, Any]) -> Verdict:
    values = {name: value for name, value in row.items() if name != "time_nanos"}
    values["kind"] = Kind(values.get("kind", Kind.JUDGE))
    values["stream"] = Stream(values.get("stream", Stream.BASE))
    return Verdict(time_unix_nano=row["time_nanos"], **values)
