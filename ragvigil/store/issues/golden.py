"""Golden cases with all their revisions, their events and their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ragvigil.model.golden import CaseEvent, CaseRun, CaseState, GoldenCase, QueryType
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.json_values import dump, load
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import nanos, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

STEPS = (CaseState.PROPOSED, CaseState.SIGNED, CaseState.PASSING, CaseState.REJECTED)
"""The states of a revision in their order, which tells the newer of two rows without a clock."""
MOST_CASES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _CaseRow:
    """A revision of a case: what cases are found by, and in `body` the whole of it as JSON."""

    case_id: str
    revision: int
    step: int
    state: CaseState
    service: str
    environment: str
    query_type: QueryType
    trace_id: str
    issue_id: str
    body: str


CASES = table("golden_cases", _CaseRow)
EVENTS = table("golden_events", CaseEvent)
RUNS = table("golden_runs", CaseRun)


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
    stamps = {"written": nanos(now), "replica": store.replica, "epoch": store.epoch}
    tables = {
        "golden_events": EVENTS.rows(events, **stamps),
        "golden_runs": RUNS.rows(runs, **stamps),
        "golden_cases": CASES.rows(map(_case_row, cases), **stamps),
    }
    rows = {name: some for name, some in tables.items() if some}
    store.write(Batch(rows=rows, token=token_of("golden", *rows.items())))


def _case_row(case: GoldenCase) -> _CaseRow:
    return _CaseRow(
        case_id=case.case_id,
        revision=case.revision,
        step=STEPS.index(case.state),
        state=case.state,
        service=case.service,
        environment=case.environment,
        query_type=case.query_type,
        trace_id=case.trace_id,
        issue_id=case.issue_id,
        body=dump(case),
    )


def find(
    store: Store, filter_: CaseFilter, *, priority: Priority = Priority.PAGE
) -> list[GoldenCase]:
    """The newest revision of the cases that match, newest first. Raises as `Store.read` does."""
    rows = store.read("golden_find", asdict(filter_), priority=priority)
    return [load(GoldenCase, row["body"]) for row in rows]


def get(store: Store, case_id: str) -> GoldenCase | None:
    """The newest revision of a case, None if there is no such case."""
    cases = find(store, CaseFilter(case_id=case_id, limit=1)) if case_id else []
    return cases[0] if cases else None


def events(store: Store, case_id: str) -> list[CaseEvent]:
    """What was done to a case, oldest first."""
    return EVENTS.read(store, "golden_events_of", {"case_id": case_id})


def runs(store: Store, case_id: str, *, limit: int = 30) -> list[CaseRun]:
    """The newest runs of a case, newest first."""
    return RUNS.read(store, "golden_runs_of", {"case_id": case_id, "limit": limit})


def last_runs(store: Store, each: int) -> dict[str, list[CaseRun]]:
    """The newest runs of every case that was run, newest first, without answers, by case id."""
    rows = RUNS.read(store, "golden_runs_last", {"each": each}, priority=Priority.TICK)
    runs: dict[str, list[CaseRun]] = {}
    for run in rows:
        runs.setdefault(run.case_id, []).append(run)
    return runs


def newest_runs(store: Store) -> dict[str, CaseRun]:
    """The newest run of every case that was run, by case id."""
    rows = RUNS.read(store, "golden_runs_newest", priority=Priority.TICK)
    return {run.case_id: run for run in rows}
