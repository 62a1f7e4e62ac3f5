"""Incidents and their events: the tables `incidents` and `incident_events`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ragvigil.model.finding import Finding
from ragvigil.model.incident import NO_VERDICT, Incident, IncidentEvent, LayerVerdict
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.json_values import dump, load
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table
from ragvigil.store.watch import findings as finding_rows

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

# Findings have a table of their own; `find` puts them in.
INCIDENTS = table(
    "incidents",
    Incident,
    computed={"verdict": lambda incident: dump(incident.verdict)},
    parsed={"findings": lambda _: (), "verdict": lambda row: _verdict(row["verdict"])},
)
EVENTS = table("incident_events", IncidentEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """Which incidents; an empty filter is none.

    `since`, in seconds: not resolved before it, or, with `lasting`, with a finding that is open.
    """

    incident_id: str = ""
    service: str = ""
    state: str = ""
    expected: bool = False
    since: int = 0
    lasting: bool = False
    limit: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCounts:
    """Incidents that paged, how many of them people judged, and how many were false pages."""

    pages: int = 0
    judged: int = 0
    false_pages: int = 0

    @property
    def precision(self) -> float | None:
        """1 - false pages / judged pages; None before a person judged any."""
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
    """A batch that stores these; findings come with their incident's id and are written first.

    A crash then leaves findings without an incident, which `findings.loose` reads at start.
    """
    stamps = {"written": written_unix_nano, "replica": replica, "epoch": epoch}
    tables = {
        "findings": finding_rows.rows(findings, **stamps),
        "incident_events": EVENTS.rows(events, **stamps),
        "incidents": INCIDENTS.rows(incidents, **stamps),
    }
    rows = {name: some for name, some in tables.items() if some}
    return Batch(rows=rows, token=token_of("incidents", *rows.items()))


def find(
    store: Store, filter_: IncidentFilter, *, priority: Priority = Priority.PAGE
) -> list[Incident]:
    """Incidents that match, with their findings, newest first. Raises as `Store.read` does."""
    incidents = INCIDENTS.read(store, "incidents_find", asdict(filter_), priority=priority)
    names = [incident.incident_id for incident in incidents]
    findings = finding_rows.of_incidents(store, names, priority=priority)
    return [
        replace(incident, findings=tuple(findings.get(incident.incident_id, ())))
        for incident in incidents
    ]


def events(store: Store, incident_id: str) -> list[IncidentEvent]:
    """What was done to one incident, oldest first."""
    return EVENTS.read(store, "incident_events_of", {"incident_id": incident_id})


def pages(store: Store, since: int = 0) -> PageCounts:
    """Counts pages since a time, in seconds since the epoch."""
    row = store.read("incident_pages", {"since": since}, priority=Priority.TICK)[0]
    return PageCounts(**{name: int(count) for name, count in row.items()})


def _verdict(text: str) -> LayerVerdict:
    """A stored verdict; none for rows of before there were any."""
    verdict: LayerVerdict = load(LayerVerdict, text) if text else NO_VERDICT
    return verdict
