"""Columns of the tables that topics are kept in."""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.store.tables.column_kinds import LOW, NANOS, SECONDS, TEXTS, WRITER, named
from ragvigil.store.tables.issues import VECTOR

TOPIC_TABLES: Mapping[str, Mapping[str, str]] = {
    "questions": {
        "minute": SECONDS,
        **named("String", "trace_id record_id"),
        **named(LOW, "service environment"),
        "question": "String",
        "is_sampled": "UInt8",
        "vector": VECTOR,
        "vector_model": LOW,
        "written": NANOS,
        **WRITER,
    },
    "topics": {
        **named(LOW, "service environment"),
        **named(NANOS, "built since"),
        **named("String", "topic_id name"),
        **named("UInt32", "questions failing rated down golden_cases"),
        "examples": TEXTS,
        "centroid": VECTOR,
        "vector_model": LOW,
        "written": NANOS,
        **WRITER,
    },
}
