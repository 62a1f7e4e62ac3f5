"""Where answers come from: services, environments, routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_PLACES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutePlace:
    """A route of a service."""

    service: str
    environment: str
    route: str


def since(store: Store, seconds: int) -> list[RoutePlace]:
    """Routes with answers since a time (seconds since the epoch), the busiest first, at most 500.

    Imported and replayed answers count too.
    """
    parameters = {"since": seconds, "limit": MOST_PLACES}
    return [RoutePlace(**row) for row in store.read("places", parameters, priority=Priority.PAGE)]
