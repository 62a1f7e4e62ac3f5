"""Verdicts of judges: on given traces, the newest ones, and their sums."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.score import Kind, Stream
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records import traces

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

AT_ONCE = 1000
"""Traces of one query, whose minutes are among its parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's, or another scorer's, score of one record by one rubric."""

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
    verdicts: list[Verdict] = []
    for first in range(0, len(ids), AT_ONCE):
        some = ids[first : first + AT_ONCE]
        seconds = {stored[trace_id].time_unix_nano // 10**9 for trace_id in some}
        parameters = {
            "minutes": sorted({time - time % 60 for time in seconds}),
            "trace_ids": some,
            "received": min(stored[trace_id].received_unix_nano for trace_id in some) // 10**9,
            "rubrics": sorted(rubrics),
        }
        verdicts += map(_verdict, store.read("verdicts_of", parameters, priority=Priority.TICK))
    return verdicts


def recent(store: Store, since: int, *, limit: int = 2000) -> list[Verdict]:
    """Values of judges since a time (seconds), newest first.

    With them come the values that other scorers gave the same records by the same rubrics. At most
    `limit` pairs of trace and rubric. Kept, as several parts of a page ask.
    """
    key = ("verdicts", store.kept.moving(since), limit)
    parameters = {"since": since, "limit": limit}
    rows = store.kept.of(
        key,
        lambda: store.read("verdicts_recent", parameters),
        lasts=True,
        most_seconds=SLOW_SECONDS,
    )
    return [_verdict(row) for row in rows]


def judges(store: Store, since: int) -> list[Judge]:
    """The judges at work since a time, seconds since the epoch."""
    return [Judge(**row) for row in store.read("judges", {"since": since}, priority=Priority.TICK)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotes:
    """Quotes by which a judge proved its grades, and how many of them were not in the text."""

    quotes: int = 0
    not_found: int = 0


def quotes(store: Store, since: int) -> dict[tuple[str, str], Quotes]:
    """Quotes of judges since a time (seconds since the epoch), by rubric and segment."""
    rows = store.read("judge_quotes", {"since": since})
    return {
        (row["rubric"], row["segment"]): Quotes(
            quotes=int(row["quotes"]), not_found=int(row["not_found"])
        )
        for row in rows
    }


def sums(store: Store, since: int, rubrics: Collection[str]) -> dict[tuple[str, str], Sums]:
    """Sums over the uniform sample since a time (seconds), by rubric and segment."""
    parameters = {"since": since, "rubrics": sorted(rubrics)}
    return {
        (row["rubric"], row["segment"]): Sums(
            n=int(row["n"]),
            total=float(row["total"]),
            squares=float(row["squares"]),
            failed=int(row["failed"]),
        )
        for row in store.read("segment_sums", parameters, priority=Priority.TICK)
    }


def _verdict(row: Mapping[str, Any]) -> Verdict:
    values = {name: value for name, value in row.items() if name != "time_nanos"}
    values["kind"] = Kind(values.get("kind", Kind.JUDGE))
    values["stream"] = Stream(values.get("stream", Stream.BASE))
    return Verdict(time_unix_nano=row["time_nanos"], **values)
