"""Ids by their beginning, for people who type the first characters."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


class IdKind(StrEnum):
    """What has an id that people type."""

    TRACES = "traces"
    ISSUES = "issues"
    INCIDENTS = "incidents"


def starting_with(store: Store, kind: IdKind, prefix: str, limit: int) -> list[str]:
    """The first ids that begin with `prefix`, in order. Raises as `Store.read` does."""
    rows = store.read(f"ids_{kind}", {"prefix": prefix, "limit": limit})
    return [str(row["id"]) for row in rows]


def named(store: Store, prefix: str) -> list[tuple[str, str]]:
    """Kind and id of what begins with `prefix`, at most two of each kind.

    Kinds are `traces`, `records`, `issues`, `incidents`, `golden`. Raises as `Store.read` does.
    """
    rows = store.read("ids_named", {"prefix": prefix})
    return [(str(row["kind"]), str(row["id"])) for row in rows]
