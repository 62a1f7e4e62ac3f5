"""The releases and index versions of a service, and when each was first seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


def first_seen(
    store: Store, service: str, environment: str, since: int
) -> dict[str, dict[str, int]]:
    """When each `service_version` and each `index_epoch` was first seen, Unix nanoseconds.

    Reads records since a time, in seconds. Raises as `Store.read` does.
    """
    parameters = {"service": service, "environment": environment, "since": max(0, since)}
    times: dict[str, dict[str, int]] = {"service_version": {}, "index_epoch": {}}
    for row in store.read("versions_seen", parameters, priority=Priority.TICK):
        times[row["kind"]][row["name"]] = row["first_nanos"]
    return times
