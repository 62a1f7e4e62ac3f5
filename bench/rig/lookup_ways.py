"""Ways to read the scores of one trace; part of `bench/store.py --compare`."""

from __future__ import annotations

import statistics
import time

from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.records import traces

REBUILT = "MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild'"


def compare(store: Store, ids: list[str], rubrics: int) -> dict[str, float]:
    """Median ms of reading one trace's scores without its row in `traces`, three ways."""
    found = {
        "through_traces_final_ms": round(
            statistics.median(_by_row(store, id, rubrics) for id in ids), 1
        )
    }
    variants = {
        "scan": "ALTER TABLE scores DROP INDEX idx_trace_id",
        "skip_index": "ALTER TABLE scores ADD INDEX by_trace trace_id TYPE bloom_filter(0.001) "
        "GRANULARITY 1",
        "projection": "ALTER TABLE scores ADD PROJECTION by_trace (SELECT * ORDER BY trace_id)",
    }
    build = {
        "skip_index": "MATERIALIZE INDEX by_trace",
        "projection": "MATERIALIZE PROJECTION by_trace",
    }
    drop = {"skip_index": "DROP INDEX by_trace", "projection": "DROP PROJECTION by_trace"}
    for name, statement in variants.items():
        before = size_of(store)
        if name == "scan":
            store.change(f"{statement} SETTINGS mutations_sync = 2")
        if name in build:
            if name == "projection":
                store.change(f"ALTER TABLE scores {REBUILT}")
            store.change(statement)
            store.change(f"ALTER TABLE scores {build[name]} SETTINGS mutations_sync = 2")
        for final in ("", " FINAL"):
            key = f"{name}{'_final' if final else ''}_ms"
            found[key] = round(
                statistics.median(_by_id(store, id, final, rubrics) for id in ids), 1
            )
        found[f"{name}_extra_mb"] = round((size_of(store) - before) / 1e6, 1)
        if name in drop:
            store.change(f"ALTER TABLE scores {drop[name]} SETTINGS mutations_sync = 2")
    return found


def _by_row(store: Store, trace_id: str, rubrics: int) -> float:
    """Milliseconds of the store's own way: the row in `traces`, then a prefix of the key."""
    started = time.perf_counter()
    stored = traces.lookup(store, [trace_id])[trace_id]
    seconds = stored.time_unix_nano // 10**9
    place = {"minutes": [seconds - seconds % 60], "trace_ids": [trace_id], "received": 0}
    assert len(store.read("record_scores", place)) == rubrics
    return (time.perf_counter() - started) * 1e3


def _by_id(store: Store, trace_id: str, final: str, rubrics: int) -> float:
    started = time.perf_counter()
    sql = f"SELECT * FROM scores{final} WHERE trace_id = '{trace_id}'"
    found = store._ask("compare", lambda client: client.query(sql).result_rows, Priority.TICK)
    assert len(found) == rubrics, len(found)
    return (time.perf_counter() - started) * 1e3


def size_of(store: Store) -> int:
    """Bytes of the table `scores` on disk."""
    return sum(int(row["bytes"]) for row in store.read("parts") if row["table"] == "scores")
