"""Columns of the tables that the watch writes: incidents, notices, audits."""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.store.tables.column_kinds import LOW, LOWS, MAYBE_FLOAT, NANOS, TEXTS, WRITER, named

WATCH_TABLES: Mapping[str, Mapping[str, str]] = {
    "findings": {
        **named("String", "incident_id finding_id"),
        **named(LOW, "kind service environment"),
        "routes": LOWS,
        **named(LOW, "signal layer"),
        "causes": LOWS,
        **named(MAYBE_FLOAT, "value reference low high"),
        "n": "Int64",
        **named(NANOS, "since seen cleared"),
        "traces": TEXTS,
        "words": "String",
        "written": NANOS,
        **WRITER,
    },
    "incidents": {
        "incident_id": "String",
        **named(LOW, "service environment state severity"),
        **named(NANOS, "opened since"),
        "suspects": "String",
        "cause": LOW,
        **named(NANOS, "paged resolved snoozed_until"),
        "assignee": "String",
        **named("UInt8", "is_false_page is_expected"),
        "written": NANOS,
        **WRITER,
    },
    "incident_events": {
        "incident_id": "String",
        "time": NANOS,
        "verb": LOW,
        **named("String", "actor text"),
        "written": NANOS,
        **WRITER,
    },
    "notices": {
        "notice_id": "String",
        **named(LOW, "kind service environment route"),
        **named(NANOS, "since noticed"),
        "requests": "UInt32",
        "share": "Float64",
        **named("String", "before after evidence"),
        "written": NANOS,
        **WRITER,
    },
    "audits": {
        "audit_id": "String",
        **named(LOW, "service environment"),
        **named(NANOS, "anchor started ended"),
        "routes": LOWS,
        "since": "Array(Int64)",
        "sources": TEXTS,
        "reason": "String",
        "causes": LOWS,
        "state": LOW,
        "pairs": "UInt32",
        **named("String", "results progress why"),
        "written": NANOS,
        **WRITER,
    },
    "audit_scores": {
        "audit_id": "String",
        "pair": "UInt32",
        "side": LOW,
        "likeness": "Float64",
        **named("String", "trace_id record_id"),
        **named(LOW, "route rubric layer"),
        "value": MAYBE_FLOAT,
        **named(LOW, "label scorer version"),
        "written": NANOS,
        **WRITER,
    },
}
