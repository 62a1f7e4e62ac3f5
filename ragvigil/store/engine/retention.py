"""How long rows are kept, and how much the embedded store may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragvigil.store import metrics
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.settings import StoreSettings

# For each table: the setting that holds its days, and the day that its age counts from.
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
    "signal_minutes": ("scores_days", "toDate(minute)"),
    "fingerprint_minutes": ("scores_days", "toDate(minute)"),
    "proxy_rollups": ("deltas_days", "toDate(minute)"),
    "rollups": ("deltas_days", "toDate(minute)"),
    "delta_changes": ("changes_days", "toDate(tick)"),
    "rubric_deltas": ("deltas_days", "toDate(tick)"),
    "judged_sums": ("deltas_days", "toDate(start)"),
    "question_sums": ("deltas_days", "toDate(start)"),
    "slice_sums": ("deltas_days", "toDate(start)"),
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
    "offline_scores": ("deltas_days", "toDate(written)"),
    "offline_gates": ("deltas_days", "toDate(written)"),
    "accepted_rubrics": ("deltas_days", "toDate(written)"),
    "label_bars": ("deltas_days", "toDate(written)"),
    "failures": ("scores_days", "toDate(received)"),
    "memberships": ("scores_days", "toDate(received)"),
    "issues": ("deltas_days", "toDate(written)"),
    "issue_events": ("deltas_days", "toDate(written)"),
    "issue_pairs": ("deltas_days", "toDate(written)"),
    "root_causes": ("scores_days", "toDate(written)"),
    "checkpoints": ("deltas_days", "toDate(written)"),
    "dirty_minutes": ("spans_days", "toDate(written)"),
    "late_spans": ("spans_days", "toDate(written)"),
    "members": ("spans_days", "toDate(beat)"),
    "questions": ("spans_days", "toDate(written)"),
    "erasures": ("deltas_days", "toDate(written)"),
    "acts": ("deltas_days", "toDate(written)"),
    "drift_states": ("deltas_days", "toDate(written)"),
    "sampling_overrides": ("deltas_days", "toDate(written)"),
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
"""Tables whose oldest days are dropped when the store is too large, all of one before the next."""


def apply_days(store: Store) -> list[str]:
    """Sets the time to live of each table where it differs from the settings; returns the SQL."""
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


def show_bytes(store: Store) -> None:
    """Sets the gauge of the size that the store's tables have on disk."""
    metrics.BYTES.set(_bytes(store.read("parts", priority=Priority.TICK)))


def enforce_max_bytes(store: Store) -> dict[str, int]:
    """Drops the oldest days until the embedded store is under `max_bytes`.

    Returns the rows dropped by table. Spans go first. The newest day of a table is never dropped.
    On a server nothing is dropped.
    """
    rows = store.read("parts", priority=Priority.SCAN)
    used = _bytes(rows)
    limit = store.settings.max_bytes
    dropped: dict[str, int] = {}
    if limit is None or store.settings.url:
        return dropped
    for row in _oldest_first(rows):
        if used <= limit:
            break
        table = str(row["table"])
        store.change(f"ALTER TABLE {table} DROP PARTITION ID '{row['partition_id']}'")
        used -= int(row["bytes"])
        dropped[table] = dropped.get(table, 0) + int(row["rows"])
        metrics.ROWS_DROPPED.labels(table).inc(int(row["rows"]))
    return dropped


def _bytes(parts: list[dict[str, Any]]) -> int:
    return sum(int(row["bytes"]) for row in parts)


def _oldest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Partitions that may be dropped: table by table, oldest first, without each table's newest."""
    droppable: list[dict[str, Any]] = []
    for table in DROPPED_FIRST:
        # A partition is a day or a month, and its id sorts like its date.
        own = [row for row in rows if row["table"] == table]
        droppable += sorted(own, key=lambda row: str(row["partition_id"]))[:-1]
    return droppable
