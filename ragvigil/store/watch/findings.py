"""The table `findings`: what was worse, as each incident holds it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.store.engine.batch import Row
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

SAME_NAME = ("finding_id", "service", "environment", "signal", "value", "reference", "low", "high")


def row(
    incident_id: str, one: Finding, written_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Row:
    """A row of the table."""
    return (
        incident_id,
        one.finding_id,
        one.kind.value,
        one.service,
        one.environment,
        list(one.routes),
        one.signal,
        one.layer.value,
        [cause.value for cause in one.causes],
        one.value,
        one.reference,
        one.low,
        one.high,
        one.n,
        nanos(one.since_unix_nano),
        nanos(one.seen_unix_nano),
        nanos(one.cleared_unix_nano),
        list(one.traces),
        one.words,
        written_unix_nano,
        replica,
        epoch,
    )


def of_incidents(
    store: Store, incident_ids: Collection[str], *, priority: Priority = Priority.PAGE
) -> dict[str, list[Finding]]:
    """Findings by incident, earliest onset first. Raises as `Store.read` does."""
    found: dict[str, list[Finding]] = {}
    if incident_ids:
        asked = {"incidents": sorted(incident_ids)}
        for values in store.read("findings_of", asked, priority=priority):
            found.setdefault(values["incident_id"], []).append(_finding(values))
    return found


def loose(store: Store) -> list[Finding]:
    """Findings that last and were stored, but not their incident: a crash came between."""
    return [_finding(values) for values in store.read("findings_loose", priority=Priority.TICK)]


def _finding(values: Mapping[str, Any]) -> Finding:
    return Finding(
        kind=FindingKind(values["kind"]),
        layer=Layer(values["layer"]),
        routes=tuple(values["routes"]),
        causes=tuple(Cause(one) for one in values["causes"]),
        n=int(values["n"]),
        since_unix_nano=values["since_nanos"],
        seen_unix_nano=values["seen_nanos"],
        cleared_unix_nano=values["cleared_nanos"],
        traces=tuple(values["traces"]),
        words=values["words"],
        **{name: values[name] for name in SAME_NAME},
    )
