"""Parts of the embedded store that are damaged.

ClickHouse sets parts aside that are broken when it opens. A part whose data turns out damaged
later, at a read or a merge, is set aside by `Store`: else every read and merge of it would fail for
ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragvigil.store import metrics
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


def set_aside(store: Store) -> dict[str, int]:
    """Parts of each table that were set aside and are in no answer; empty for a server."""
    if store.settings.url:
        return {}
    rows = store.read("parts_set_aside", priority=Priority.TICK)
    parts = {str(row["table"]): int(row["parts"]) for row in rows}
    metrics.PARTS_SET_ASIDE.set(sum(parts.values()))
    return parts
