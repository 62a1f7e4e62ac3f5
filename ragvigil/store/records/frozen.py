"""A whole record as one JSON text, and back: what does not change though its rows do."""

from __future__ import annotations

from dataclasses import asdict

from ragvigil.model.record import RagRecord
from ragvigil.store.engine.json_values import load
from ragvigil.store.records.record_rows import as_json


def freeze(record: RagRecord) -> str:
    """The record as JSON."""
    return as_json(asdict(record))


def thaw(text: str) -> RagRecord:
    """The record of a frozen text. Raises ValueError, KeyError or TypeError where it is none."""
    record: RagRecord = load(RagRecord, text)
    return record
