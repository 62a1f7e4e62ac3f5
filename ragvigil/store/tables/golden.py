"""Columns of the tables of the golden set."""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.store.tables.column_kinds import LOW, NANOS, WRITER, named

GOLDEN_TABLES: Mapping[str, Mapping[str, str]] = {
    "golden_cases": {
        "case_id": "String",
        "revision": "UInt32",
        "step": "UInt8",
        **named(LOW, "state service environment query_type"),
        **named("String", "trace_id issue_id body"),
        "written": NANOS,
        **WRITER,
    },
    "golden_events": {
        "case_id": "String",
        "time": NANOS,
        "verb": LOW,
        "revision": "UInt32",
        **named("String", "actor text"),
        "written": NANOS,
        **WRITER,
    },
    "golden_runs": {
        "case_id": "String",
        "time": NANOS,
        "against": LOW,
        "is_pass": "Nullable(UInt8)",
        **named("String", "why answer"),
        "written": NANOS,
        **WRITER,
    },
}
