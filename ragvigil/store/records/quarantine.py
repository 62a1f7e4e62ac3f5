"""The table `quarantine`: rows that the database refused for good, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_REASONS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """Rows of a table that were refused for one reason, and when the last of them was."""

    table: str
    reason: str
    rows: int
    last: datetime


def reasons(store: Store, since: int) -> list[SetAside]:
    """What was refused since a time (seconds since the epoch), most rows first."""
    rows = store.read("quarantine_reasons", {"since": since, "limit": MOST_REASONS})
    return [SetAside(**{**row, "last": row["last"].replace(tzinfo=UTC)}) for row in rows]
