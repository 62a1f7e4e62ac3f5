"""Incidents and what was done to them: the tables `incidents` and `incident_events`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.finding import Finding
from ragvigil.model.incident import Incident, IncidentEvent, IncidentState, Severity, Verb
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.store.engine.batch import Batch, Row, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.span_rows import nanos
from ragvigil.store.watch import findings as found_table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """Which incidents; an empty filter is none. `since`, in seconds: not resolved before it."""

    incident_id: str = ""
    service: str = ""
    state: str = ""
    expected: bool = False
    since: int = 0
    limit: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCounts:
    """Incidents that paged; of how many a person said what it was, and how many were false."""

    pages: int = 0
    judged: int = 0
    false_pages: int = 0

    @property
    def precision(self) -> float | None:
        """1 - false pages / judged pages; None before a person judged one."""
        return 1 - self.false_pages / self.judged if self.judged else None


def batch(
    incidents: Iterable[Incident],
    findings: Iterable[tuple[str, Finding]],
    events: Iterable[IncidentEvent],
    written_unix_nano: int,
    *,
    replica: str = "",
    epoch: int = 0,
) -> Batch:
    """A batch that stores these; findings, each with its incident's id, are written first."""
    writer = (written_unix_nano, replica, epoch)
    tables: dict[str, Sequence[Row]] = {
        "findings": [
            found_table.row(name, one, written_unix_nano, replica=replica, epoch=epoch)
            for name, one in findings
        ],
        "incident_events": [(*_event_values(one), *writer) for one in events],
        "incidents": [(*_values(one), *writer) for one in incidents],
    }
    rows = {table: some for table, some in tables.items() if some}
    return Batch(rows=rows, token=token_of("incidents", *rows.items()))


def _values(one: Incident) -> Row:
    return (
        one.incident_id,
        one.service,
        one.environment,
        one.state.value,
        one.severity.value,
        nanos(one.opened_unix_nano),
        nanos(one.since_unix_nano),
        json.dumps([asdict(notice) for notice in one.suspects]),
        one.cause.value if one.cause else "",
        nanos(one.paged_unix_nano),
        nanos(one.resolved_unix_nano),
        nanos(one.snoozed_until_unix_nano),
        one.assignee,
        int(one.is_false_page),
        int(one.is_expected),
    )


def _event_values(one: IncidentEvent) -> Row:
    return (one.incident_id, nanos(one.time_unix_nano), one.verb.value, one.actor, one.text)


def find(
    store: Store, wanted: IncidentFilter, *, priority: Priority = Priority.PAGE
) -> list[Incident]:
    """Incidents that match, with their findings, newest first. Raises as `Store.read` does."""
    rows = store.read("incidents_find", asdict(wanted), priority=priority)
    names = [row["incident_id"] for row in rows]
    held = found_table.of_incidents(store, names, priority=priority)
    return [_incident(row, held.get(row["incident_id"], [])) for row in rows]


def _incident(row: Mapping[str, Any], held: Sequence[Finding]) -> Incident:
    return Incident(
        incident_id=row["incident_id"],
        service=row["service"],
        environment=row["environment"],
        state=IncidentState(row["state"]),
        severity=Severity(row["severity"]),
        opened_unix_nano=row["opened_nanos"],
        since_unix_nano=row["since_nanos"],
        findings=tuple(held),
        suspects=tuple(_notice(one) for one in json.loads(row["suspects"])),
        cause=Cause(row["cause"]) if row["cause"] else None,
        paged_unix_nano=row["paged_nanos"],
        resolved_unix_nano=row["resolved_nanos"],
        snoozed_until_unix_nano=row["snoozed_nanos"],
        assignee=row["assignee"],
        is_false_page=bool(row["is_false_page"]),
        is_expected=bool(row["is_expected"]),
    )


def _notice(values: Mapping[str, Any]) -> Notice:
    return Notice(**{**values, "kind": ChangeKind(values["kind"])})


def events(store: Store, incident_id: str) -> list[IncidentEvent]:
    """What was done to one incident, oldest first."""
    return [
        IncidentEvent(
            incident_id=row["incident_id"],
            time_unix_nano=row["time_nanos"],
            verb=Verb(row["verb"]),
            actor=row["actor"],
            text=row["text"],
        )
        for row in store.read("incident_events_of", {"incident_id": incident_id})
    ]


def pages(store: Store, since: int = 0) -> PageCounts:
    """Pages since a time, in seconds since the epoch."""
    row = store.read("incident_pages", {"since": since}, priority=Priority.TICK)[0]
    return PageCounts(**{name: int(count) for name, count in row.items()})
