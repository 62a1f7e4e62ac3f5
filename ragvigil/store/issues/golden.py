"""Golden cases with all their revisions, what was done to them, and their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.golden import (
    CaseEvent,
    CaseRun,
    CaseState,
    CaseVerb,
    ExpectedFact,
    GoldenCase,
    QueryType,
)
from ragvigil.store.engine.batch import Batch, Row, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

TUPLES = ("gold_chunk_ids", "gold_texts", "tags", "edited_by")
STEPS = (CaseState.PROPOSED, CaseState.SIGNED, CaseState.PASSING, CaseState.REJECTED)
"""A revision takes them in this order, so that the later row is known without a clock."""
MOST_CASES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """Which cases; an empty filter is none."""

    case_id: str = ""
    state: str = ""
    service: str = ""
    query_type: str = ""
    issue_id: str = ""
    limit: int = MOST_CASES


def write(
    store: Store,
    now: int,
    *,
    cases: Sequence[GoldenCase] = (),
    events: Sequence[CaseEvent] = (),
    runs: Sequence[CaseRun] = (),
) -> None:
    """Stores these and returns when they are durable; `now` in nanoseconds, by the daemon's clock.

    A revision that is stored already is replaced by a later step of it; events are written first.
    """
    writer = (nanos(now), store.replica, store.epoch)
    tables: dict[str, Sequence[Row]] = {
        "golden_events": [(*_event_values(one), *writer) for one in events],
        "golden_runs": [(*_run_values(one), *writer) for one in runs],
        "golden_cases": [(*_values(one), *writer) for one in cases],
    }
    rows = {table: some for table, some in tables.items() if some}
    store.write(Batch(rows=rows, token=token_of("golden", *rows.items())))


def _values(one: GoldenCase) -> Row:
    return (
        one.case_id,
        one.revision,
        STEPS.index(one.state),
        one.state.value,
        one.service,
        one.environment,
        one.query_type.value,
        one.trace_id,
        one.issue_id,
        json.dumps(asdict(one), ensure_ascii=False),
    )


def _event_values(one: CaseEvent) -> Row:
    time = nanos(one.time_unix_nano)
    return (one.case_id, time, one.verb.value, one.revision, one.actor, one.text)


def _run_values(one: CaseRun) -> Row:
    is_pass = None if one.is_pass is None else int(one.is_pass)
    return (one.case_id, nanos(one.time_unix_nano), one.against, is_pass, one.why, one.answer)


def find(
    store: Store, wanted: CaseFilter, *, priority: Priority = Priority.PAGE
) -> list[GoldenCase]:
    """The newest revision of the cases that match, newest first. Raises as `Store.read` does."""
    return [_case(row) for row in store.read("golden_find", asdict(wanted), priority=priority)]


def one(store: Store, case_id: str) -> GoldenCase | None:
    """The newest revision of a case, None where there is no such case."""
    found = find(store, CaseFilter(case_id=case_id, limit=1)) if case_id else []
    return found[0] if found else None


def events(store: Store, case_id: str) -> list[CaseEvent]:
    """What was done to a case, oldest first."""
    rows = store.read("golden_events_of", {"case_id": case_id})
    return [_event(row) for row in rows]


def runs(store: Store, case_id: str, *, limit: int = 30) -> list[CaseRun]:
    """The newest runs of a case, newest first."""
    return [_run(row) for row in store.read("golden_runs_of", {"case_id": case_id, "limit": limit})]


def newest_runs(store: Store) -> dict[str, CaseRun]:
    """The newest run of every case that was run, by case id."""
    rows = store.read("golden_runs_newest", priority=Priority.TICK)
    return {row["case_id"]: _run(row) for row in rows}


def _case(row: Mapping[str, Any]) -> GoldenCase:
    body = json.loads(row["body"])
    return GoldenCase(
        **body
        | {name: tuple(body[name]) for name in TUPLES}
        | {
            "expected_facts": tuple(ExpectedFact(**fact) for fact in body["expected_facts"]),
            "query_type": QueryType(body["query_type"]),
            "state": CaseState(body["state"]),
        }
    )


def _event(row: Mapping[str, Any]) -> CaseEvent:
    values = {name: row[name] for name in ("case_id", "revision", "actor", "text")}
    return CaseEvent(time_unix_nano=row["time_nanos"], verb=CaseVerb(row["verb"]), **values)


def _run(row: Mapping[str, Any]) -> CaseRun:
    is_pass = None if row["is_pass"] is None else bool(row["is_pass"])
    values = {name: row[name] for name in ("case_id", "against", "why", "answer")}
    return CaseRun(time_unix_nano=row["time_nanos"], is_pass=is_pass, **values)
