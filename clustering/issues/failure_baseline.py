"""Compares a group of failing records with what else fails on its routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clustering.failures.primary_failure import fails_without_incident
from clustering.issues.background_rate import Background, is_above
from clustering.issues.provisional import Key
from ragvigil.model.issue import FailureKind
from ragvigil.model.wilson import wilson
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_changes as failing
from ragvigil.store.issues import memberships

if TYPE_CHECKING:
    from ragvigil.model.issue import Failure
    from ragvigil.model.score import Layer
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Route
    from ragvigil.store.issues.memberships import Requests, Tally

HOUR, DAY = 3600, 86_400
NANOS = 10**9
UNUSUAL = 0.001
"""Each kind of failure is tested again and again, on every route: so few may pass by chance."""
UNHEALTHY = 0.1
"""What fails this share of the answers is no background, however long it has done so."""
KEPT_SECONDS = 600.0
"""Traffic and usual shares are read again after this long."""


class FailureBaseline:
    """Holds the traffic of the past `days`, and the failures of that time that are in no issue.

    What failed only because an incident showed it is none of them: it was seldom looked for.
    """

    def __init__(self, store: Store, days: int, fails_below: Mapping[str, float]) -> None:
        self._store, self._seconds = store, days * 24 * HOUR
        self._fails_below = fails_below
        self._loose: list[Tally] = []
        self._requests: list[Requests] = []
        self._now = 0.0
        self._read = float("-inf")
        self._usual: Mapping[Route, Mapping[str, float]] = {}
        self._usual_read = float("-inf")

    @property
    def requests(self) -> Sequence[Requests]:
        """Records by route and hour, as of the last `refresh`."""
        return self._requests

    def refresh(self, now: float) -> Sequence[Tally]:
        """Reads the failures in no issue, and the traffic if it is old. Raises StoreError."""
        self._now = now
        since = int(now - self._seconds)
        tallies = memberships.tally(
            self._store, since, is_loose=True, bin_seconds=24 * HOUR, priority=Priority.TICK
        )
        self._loose = [
            tally for tally in tallies if fails_without_incident(tally, self._fails_below)
        ]
        if now - self._read >= KEPT_SECONDS:
            self._requests = memberships.requests(self._store, since, priority=Priority.TICK)
            self._read = now
        return self._loose

    def usual(self, now: float) -> Mapping[Route, Mapping[str, float]]:
        """The shares (0..1) of each route's records that fail the rubrics. Raises StoreError."""
        if now - self._usual_read >= KEPT_SECONDS:
            self._usual = failing.usual_shares(self._store, max(0, int(now - self._seconds)))
            self._usual_read = now
        return self._usual

    def is_above(self, failures: Sequence[Failure], *, loose: int) -> bool:
        """Whether failures of one family are more than their routes' background explains.

        They must also be more frequent lately than before: what fails seldom, and at the same rate
        all the time, is the background of its service, from the first day on.

        `loose` is how many of the records in no issue are candidates for issues: they are not
        counted as background. The requests are those since the first failure, times the share that
        the rubric sampled.
        """
        first = failures[0]
        routes = {failure.route for failure in failures}
        since = min(failure.time_unix_nano for failure in failures) // NANOS
        share = sum(failure.inclusion_probability for failure in failures) / len(failures)
        others = self._failing(first.service, first.environment, first.family, routes)
        background = Background(
            failing=max(0, others - loose),
            requests=self._scored(first.service, first.environment, routes, 0, share),
        )
        requests = self._scored(first.service, first.environment, routes, since, share)
        # The traffic may be minutes old: there were at least as many requests as failures.
        is_more = is_above(len(failures), max(requests, len(failures)), background)
        return is_more and self._is_unusual(failures, background.requests, share)

    def _is_unusual(self, failures: Sequence[Failure], requests: int, share: float) -> bool:
        """Whether there are more of them lately than before, or anyhow too many.

        Lately is the last day, of a service known for less than two days the second half of that
        time. Where there is no past at all, only what fails often stands out.
        """
        first = failures[0]
        routes = {failure.route for failure in failures}
        since = self._splits(first.service, first.environment, routes)
        recent = sum(failure.time_unix_nano >= since * NANOS for failure in failures)
        lately = self._scored(first.service, first.environment, routes, since, share)
        before = requests - lately
        if before <= 0:
            return _is_unhealthy(len(failures), requests, share)
        past = Background(failing=len(failures) - recent, requests=before)
        if _is_unhealthy(past.failing, before, share):
            return True
        return is_above(recent, max(lately, recent), past, chance=UNUSUAL)

    def _splits(self, service: str, environment: str, routes: set[str]) -> float:
        """The hour (seconds since the epoch) that parts what is lately from what was before."""
        hours = [
            row.start
            for row in self._requests
            if (row.service, row.environment) == (service, environment) and row.route in routes
        ]
        known = self._now - min(hours, default=self._now)
        return (self._now - min(DAY, known / 2)) // HOUR * HOUR

    def explained(self, failure: Failure, since: float) -> float:
        """How many failures the service's background explains since then (seconds)."""
        mine = [
            row
            for row in self._requests
            if (row.service, row.environment) == (failure.service, failure.environment)
        ]
        routes = {row.route for row in mine}
        failing = self._failing(failure.service, failure.environment, failure.family, routes)
        background = Background(failing=failing, requests=sum(row.requests for row in mine))
        return background.rate * sum(row.requests for row in mine if row.start + HOUR > since)

    def _failing(self, service: str, environment: str, family: Layer, routes: set[str]) -> int:
        return sum(
            tally.records
            for tally in self._loose
            if (tally.service, tally.environment, tally.family) == (service, environment, family)
            and tally.route in routes
        )

    def _scored(
        self, service: str, environment: str, routes: set[str], since: float, share: float
    ) -> int:
        """Requests since then (seconds) that a rubric which samples this share has scored."""
        return round(
            share
            * sum(
                row.requests
                for row in self._requests
                if (row.service, row.environment) == (service, environment)
                and row.route in routes
                and row.start + HOUR > since
            )
        )


def _is_unhealthy(failing: int, requests: int, share: float) -> bool:
    """Whether UNHEALTHY of the requests fail; of a sample it must be so for sure.

    A judge that errs now and then fails 3 of the first 30 answers that it is shown.
    """
    if share >= 1:
        return failing >= UNHEALTHY * requests
    return wilson(failing, max(requests, failing))[0] >= UNHEALTHY


def key_of_tally(tally: Tally) -> Key:
    """The key that the records of a tally have in common."""
    by_rubric = tally.kind is FailureKind.RUBRIC
    return Key(
        service=tally.service,
        environment=tally.environment,
        family=tally.family,
        rubric=tally.rubric if by_rubric else "",
        label=tally.label if by_rubric else tally.kind.value,
    )
