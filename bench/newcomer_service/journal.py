"""The service's own log: what it did for each ticket, from its own values and never from spans."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

Row = dict[str, Any]
CURRENT: ContextVar[Row] = ContextVar("ticket")
"""The row of the ticket at hand. Threads that a framework starts share the dict."""
_WRITING = threading.Lock()


def note(**values: Any) -> None:
    """Adds values to the row of the ticket at hand."""
    CURRENT.get().update(values)


def write(path: Path, row: Row) -> None:
    """Appends a row."""
    with _WRITING, path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(row, ensure_ascii=False) + "\n")


def listed(scored: Sequence[tuple[Any, float]]) -> list[Row]:
    """Chunks and their scores as a row holds them."""
    return [{"id": chunk.id, "text": chunk.text, "score": score} for chunk, score in scored]
