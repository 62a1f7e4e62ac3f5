"""Columns of the tables that hold failing records and their issues."""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.store.tables.column_kinds import (
    LOW,
    LOWS,
    MAYBE_FLOAT,
    MAYBE_TEXT,
    NANOS,
    SECONDS,
    TEXTS,
    WRITER,
    named,
)

VECTOR = "Array(Float32)"
_KEY = {
    "minute": SECONDS,
    "time": NANOS,
    "received": SECONDS,
    **named("String", "trace_id record_id"),
}
_WRITTEN = {"written": NANOS, **WRITER}

ISSUE_TABLES: Mapping[str, Mapping[str, str]] = {
    "failures": {
        **_KEY,
        **named(LOW, "service environment route kind family rubric label"),
        "rubrics": LOWS,
        **named("String", "reason masked"),
        "question": MAYBE_TEXT,
        **named(LOW, "scorer_kind stream"),
        "inclusion_probability": "Float64",
        **named(LOW, "service_version prompt_version index_epoch llm_model"),
        **named(VECTOR, "reason_vector question_vector"),
        "vector_model": LOW,
        "digest": "UInt64",
        "is_gone": "UInt8",
        **_WRITTEN,
    },
    "memberships": {
        **_KEY,
        "issue_id": "String",
        "by": LOW,
        "strength": "Float64",
        "other_issues": TEXTS,
        "other_strengths": "Array(Float64)",
        "is_gone": "UInt8",
        **_WRITTEN,
    },
    "issues": {
        "issue_id": "String",
        **named(LOW, "service environment family rubric label"),
        "name": "String",
        "state": LOW,
        **named(NANOS, "first last opened"),
        "members": "UInt64",
        **named("UInt8", "is_provisional is_name_frozen"),
        "routes": LOWS,
        "centroid": VECTOR,
        "vector_model": LOW,
        "assignee": "String",
        "state_entered": NANOS,
        "resolved_in": "String",
        **named(NANOS, "resolved ignored_until"),
        "ignored_members": "UInt64",
        "merged_into": "String",
        **_WRITTEN,
    },
    "issue_events": {
        "issue_id": "String",
        "time": NANOS,
        "verb": LOW,
        **named("String", "actor text"),
        **_WRITTEN,
    },
    "issue_pairs": {
        **named("String", "kept merged"),
        "verdict": LOW,
        **named("Float64", "likeness shared"),
        "time": NANOS,
        "actor": "String",
        **_WRITTEN,
    },
    "root_causes": {
        "issue_id": "String",
        "time": NANOS,
        "by": LOW,
        **named("String", "cause ended"),
        "layer": LOW,
        **named("String", "fix quotes grades text transcript"),
        "turns": "UInt32",
        "cost_usd": MAYBE_FLOAT,
        **_WRITTEN,
    },
    "checkpoints": {"reader": LOW, "position": "UInt64", **_WRITTEN},
}
