"""How long rows are kept, and how much the embedded store may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragvigil.store import metrics
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.settings import StoreSettings

# Table -> the setting that says its days, and the day that its time to live counts from.
KEPT = {
    "spans": ("spans_days", "toDate(Received)"),
    "documents": ("scores_days", "toDate(seen)"),
    "records": ("scores_days", "toDate(received)"),
    "record_shapes": ("scores_days", "toDate(received)"),
    "scores": ("scores_days", "toDate(received)"),
    "traces": ("scores_days", "toDate(received)"),
    "feedback": ("scores_days", "toDate(received)"),
    "ledger": ("scores_days", "toDate(received)"),
    "quarantine": ("scores_days", "toDate(time)"),
    "rollups": ("deltas_days", "toDate(minute)"),
    "rubric_deltas": ("deltas_days", "toDate(tick)"),
    "deploys": ("deltas_days", "toDate(received)"),
    "labels": ("deltas_days", "toDate(received)"),
    "canary_members": ("deltas_days", "toDate(chosen)"),
    "canary_scores": ("deltas_days", "toDate(received)"),
    "findings": ("deltas_days", "toDate(written)"),
    "incidents": ("deltas_days", "toDate(written)"),
    "incident_events": ("deltas_days", "toDate(written)"),
    "notices": ("deltas_days", "toDate(written)"),
    "audits": ("deltas_days", "toDate(written)"),
    "audit_scores": ("deltas_days", "toDate(written)"),
    "golden_cases": ("deltas_days", "toDate(written)"),
    "golden_events": ("deltas_days", "toDate(written)"),
    "golden_runs": ("deltas_days", "toDate(written)"),
    "failures": ("scores_days", "toDate(received)"),
    "memberships": ("scores_days", "toDate(received)"),
    "issues": ("deltas_days", "toDate(written)"),
    "issue_events": ("deltas_days", "toDate(written)"),
    "issue_pairs": ("deltas_days", "toDate(written)"),
    "root_causes": ("scores_days", "toDate(written)"),
    "checkpoints": ("deltas_days", "toDate(written)"),
    "questions": ("spans_days", "toDate(written)"),
    "topics": ("scores_days", "toDate(written)"),
}
DROPPED_FIRST = (
    "spans",
    "record_shapes",
    "records",
    "scores",
    "traces",
    "failures",
    "memberships",
)
"""What goes when the store is too large, whole days of one table before the next table."""


def apply_days(store: Store) -> list[str]:
    """Brings the tables' time to live in line with the settings; returns the SQL that was run."""
    rows = store.read("retention_now", priority=Priority.SCAN)
    now = {str(row["table"]): int(row["days"]) for row in rows}
    statements = [
        _statement(table, store.settings)
        for table, (setting, _) in KEPT.items()
        if now.get(table) != getattr(store.settings, setting)
    ]
    for statement in statements:
        store.change(statement)
    return statements


def _statement(table: str, settings: StoreSettings) -> str:
    setting, day = KEPT[table]
    cluster = f" ON CLUSTER `{settings.cluster}`" if settings.cluster else ""
    days = int(getattr(settings, setting))
    return f"ALTER TABLE {table}{cluster} MODIFY TTL {day} + INTERVAL {days} DAY"


def enforce_max_bytes(store: Store) -> dict[str, int]:
    """Drops the oldest days until the embedded store is under `max_bytes`; rows by table.

    Spans go first. The newest day of a table is never dropped. A server is left alone.
    """
    rows = store.read("parts", priority=Priority.SCAN)
    held = sum(int(row["bytes"]) for row in rows)
    metrics.BYTES.set(held)
    limit = store.settings.max_bytes
    dropped: dict[str, int] = {}
    if limit is None or store.settings.url:
        return dropped
    for row in _oldest_first(rows):
        if held <= limit:
            break
        table = str(row["table"])
        store.change(f"ALTER TABLE {table} DROP PARTITION ID '{row['partition_id']}'")
        held -= int(row["bytes"])
        dropped[table] = dropped.get(table, 0) + int(row["rows"])
        metrics.ROWS_DROPPED.labels(table).inc(int(row["rows"]))
    return dropped


def _oldest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Partitions that may go: table by table, oldest first, without each table's newest."""
    found: list[dict[str, Any]] = []
    for table in DROPPED_FIRST:
        own = [row for row in rows if row["table"] == table]
        found += sorted(own, key=lambda row: str(row["partition_id"]))[:-1]
    return found
