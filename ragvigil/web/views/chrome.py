"""What every page shows in its bars: how much is watched, what is open, what waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.incident import IncidentState, Severity
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.issues import views as issue_views
from ragvigil.store.records import places
from ragvigil.store.records.places import RoutePlace
from ragvigil.store.watch import incidents

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Chrome:
    """The same for all readers; `places` are routes with answers in a day, the busiest first."""

    places: tuple[RoutePlace, ...] = ()
    open_pages: int = 0
    open_incidents: int = 0
    new_issues: int = 0
    proposed_cases: int = 0

    @property
    def routes(self) -> int:
        """How many routes had answers in the last day."""
        return len(self.places)


def chrome(store: Store, now: float) -> Chrome:
    """The numbers at `now` in Unix seconds; kept, as every page shows them."""
    return store.kept.of("chrome", lambda: _read(store, int(now)))


def _read(store: Store, now: int) -> Chrome:
    open_ = [
        incident
        for incident in incidents.find(store, incidents.IncidentFilter(since=now))
        if incident.state is not IncidentState.RESOLVED
    ]
    waiting = issue_views.waiting(store)
    return Chrome(
        places=_places(store, now),
        open_pages=sum(incident.severity is Severity.PAGE for incident in open_),
        open_incidents=len(open_),
        new_issues=waiting.new_issues,
        proposed_cases=waiting.proposed_cases,
    )


def _places(store: Store, now: int) -> tuple[RoutePlace, ...]:
    return store.kept.of(
        "places",
        lambda: tuple(places.since(store, now - DAY)),
        lasts=True,
        most_seconds=SLOW_SECONDS,
    )
