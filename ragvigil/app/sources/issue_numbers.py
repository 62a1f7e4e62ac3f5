"""How large an issue is, against what fails around it, and which of its members stand for it."""

from __future__ import annotations

from collections.abc import Sequence

from clustering.failures.embedding import joint_vectors
from clustering.issues import counts
from clustering.issues.background_rate import Background
from clustering.issues.counts import Count
from clustering.issues.redirects import IssueRedirects
from ragvigil.model.issue import Issue
from ragvigil.model.score import Layer
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import memberships
from ragvigil.store.issues import views as issue_views
from ragvigil.store.issues.failing_rows import KeptFailure
from ragvigil.store.issues.issues import IssueFilter
from ragvigil.store.issues.views import DAYS, Looked
from ragvigil.web.views.issues import BackgroundForm

WEEK = 7 * 86_400
MOST_COMPARED = 300
"""The newest members, of which those that stand for an issue are chosen."""
MOST_SHOWN = 5


def looked_of(
    store: Store,
    issues: Sequence[Issue],
    parts: IssueRedirects,
    now: float,
    priority: Priority = Priority.PAGE,
) -> list[tuple[Issue, list[Looked]]]:
    """Each issue with what was looked at of it and of its parts; `now` in seconds."""
    found = issue_views.looked(store, now, parts.ids(issues), priority=priority)
    return [
        (issue, [one for name in parts.ids([issue]) for one in found.get(name, ())])
        for issue in issues
    ]


def count(looked: Sequence[Looked]) -> Count:
    """How many members were seen, and how many there are."""
    return counts.count(
        counts.SampledMembers(
            stream=one.stream,
            inclusion_probability=one.inclusion_probability,
            members=one.members,
        )
        for one in looked
    )


def days(looked: Sequence[Looked]) -> tuple[int, ...]:
    """Members of each of the last 14 days (UTC), today last."""
    return tuple(map(sum, zip((0,) * DAYS, *(one.days for one in looked), strict=True)))


class Around:
    """What fails in no issue, and the traffic, of the 7 days before `now` (seconds)."""

    def __init__(self, store: Store, now: float) -> None:
        since = int(now) - WEEK
        self._loose = memberships.tally(store, since, is_loose=True, bin_seconds=WEEK)
        self._requests = memberships.requests(store, since, bin_seconds=WEEK)

    def of(self, wanted: IssueFilter) -> list[BackgroundForm]:
        """A background for each family that is wanted, on all routes that are."""
        families = [Layer(wanted.family)] if wanted.family else Layer
        routes = (wanted.route,) if wanted.route else ()
        return [self._of(one, wanted.service, wanted.environment, routes) for one in families]

    def of_issue(self, issue: Issue) -> BackgroundForm:
        """The background of an issue's family on its routes."""
        return self._of(issue.family, issue.service, issue.environment, issue.routes)

    def _of(
        self, family: Layer, service: str, environment: str, routes: Sequence[str]
    ) -> BackgroundForm:
        def is_wanted(one: memberships.Tally | memberships.Requests) -> bool:
            return (
                service in ("", one.service)
                and environment in ("", one.environment)
                and (not routes or one.route in routes)
            )

        loose = (one for one in self._loose if one.family is family and is_wanted(one))
        background = Background(
            failing=sum(one.records for one in loose),
            requests=sum(one.requests for one in self._requests if is_wanted(one)),
        )
        return BackgroundForm(
            family=family,
            failing=background.failing,
            requests=background.requests,
            rate=background.rate,
        )


def representatives(store: Store, issue: Issue, ids: Sequence[str]) -> list[KeptFailure]:
    """Up to five members of an issue and its parts, the most typical first.

    Where no vectors are known, the newest.
    """
    wanted = failed.FailureFilter(issue_ids=tuple(ids), newest_first=True, limit=MOST_COMPARED)
    found = failed.find(store, wanted)
    known = failed.with_vectors(store, found, issue.vector_model) if issue.vector_model else []
    if not known:
        return found[:MOST_SHOWN]
    from clustering.issues.representatives import representatives as positions

    places = positions([one.failure for one in known], joint_vectors(known), count=MOST_SHOWN)
    return [known[place] for place in places]
