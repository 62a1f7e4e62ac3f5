"""Which releases and index versions a service was seen with, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


def first_seen(
    store: Store, service: str, environment: str, since: int
) -> dict[str, dict[str, int]]:
    """First times in unix nanoseconds by name, of `service_version` and of `index_epoch`.

    Looks at records since a time, in seconds. Raises as `Store.read` does.
    """
    asked = {"service": service, "environment": environment, "since": max(0, since)}
    found: dict[str, dict[str, int]] = {"service_version": {}, "index_epoch": {}}
    for row in store.read("versions_seen", asked, priority=Priority.TICK):
        found[row["kind"]][row["name"]] = row["first_nanos"]
    return found
