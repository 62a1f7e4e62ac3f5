"""A whole record as one JSON text, and back: what does not change though its rows do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ragvigil.model.record import (
    Absent,
    Citation,
    ContextSource,
    Dimensions,
    Document,
    Feedback,
    Latencies,
    RagRecord,
    Retrieval,
    Usage,
)
from ragvigil.store.records.record_rows import as_json

DOCUMENTS = ("retrieved", "reranked", "context")
TEXTS = ("truncated", "response_ids", "instrumentors", "conventions")


def freeze(record: RagRecord) -> str:
    """The record as JSON."""
    return as_json(asdict(record))


def thaw(text: str) -> RagRecord:
    """The record of a frozen text. Raises ValueError, KeyError or TypeError where it is none."""
    row: dict[str, Any] = json.loads(text)
    return RagRecord(
        **row
        | {name: tuple(map(_document, row[name])) for name in DOCUMENTS}
        | {name: tuple(row[name]) for name in TEXTS}
        | {
            "retrievals": tuple(map(_retrieval, row["retrievals"])),
            "citations": tuple(Citation(**one) for one in row["citations"]),
            "feedback": tuple(Feedback(**one) for one in row["feedback"]),
            "usage": Usage(**row["usage"]),
            "latencies": Latencies(**row["latencies"]),
            "dimensions": Dimensions(**row["dimensions"]),
            "context_source": ContextSource(row["context_source"]),
            "absent": {field: Absent(reason) for field, reason in row["absent"].items()},
        }
    )


def _document(row: Mapping[str, Any]) -> Document:
    return Document(**row)


def _retrieval(row: Mapping[str, Any]) -> Retrieval:
    documents = tuple(map(_document, row["documents"]))
    return Retrieval(query=row["query"], documents=documents, span_id=row["span_id"])
