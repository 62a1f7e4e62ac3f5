"""When the last finding of each route ended: it is no evidence for another one. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from alerts.signals.ceilings import Scope
from ragvigil.model.finding import Finding


class Ends:
    """Times in seconds, by route: a finding of several tells nothing of the others."""

    def __init__(self) -> None:
        self._times: dict[Scope, int] = {}

    def add(self, finding: Finding, time: int) -> None:
        """Takes a finding that ended."""
        for route in finding.routes:
            scope = (finding.service, finding.environment, finding.signal, route)
            self._times[scope] = max(time, self._times.get(scope, 0))

    def last(self, scopes: Iterable[Scope]) -> int:
        """When the last finding of these routes ended; 0 if none did."""
        return max((self._times.get(scope, 0) for scope in scopes), default=0)

    def forget(self, until: int) -> None:
        """Forgets what ended until a time."""
        self._times = {scope: time for scope, time in self._times.items() if time > until}
