"""The table `findings`: the findings of each incident."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.finding import Finding
from ragvigil.store.engine.batch import Rows
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class _IncidentFinding:
    """A finding with the incident that holds it."""

    incident_id: str
    finding: Finding


FINDINGS = table("findings", _IncidentFinding)


def rows(findings: Iterable[tuple[str, Finding]], **stamps: object) -> Rows:
    """Rows of the table, each of an incident's id and a finding; `stamps` as of `Table.rows`."""
    values = (_IncidentFinding(incident_id=name, finding=finding) for name, finding in findings)
    return FINDINGS.rows(values, **stamps)


def of_incidents(
    store: Store, incident_ids: Collection[str], *, priority: Priority = Priority.PAGE
) -> dict[str, list[Finding]]:
    """Findings by incident, earliest onset first. Raises as `Store.read` does."""
    by_incident: dict[str, list[Finding]] = {}
    if incident_ids:
        parameters = {"incidents": sorted(incident_ids)}
        for row in FINDINGS.read(store, "findings_of", parameters, priority=priority):
            by_incident.setdefault(row.incident_id, []).append(row.finding)
    return by_incident


def loose(store: Store) -> list[Finding]:
    """Findings that last and whose incident was not stored: a crash came between the two."""
    rows = FINDINGS.read(store, "findings_loose", priority=Priority.TICK)
    return [row.finding for row in rows]
