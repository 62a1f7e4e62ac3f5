"""Sizes of issues, their harm, failures outside of issues, and members that represent an issue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
from ragvigil.store.issues.neighbours import Neighbour, neighbours
from ragvigil.store.issues.views import DAYS, SampledMembers
from ragvigil.web.views.issues import BackgroundForm, TrafficForm
from ragvigil.web.views.values import view

NANOS, HOUR, DAY = 10**9, 3600, 86_400
WEEK = 7 * DAY
MOST_COMPARED = 300
"""The newest members; representatives are chosen among them."""
MOST_CANDIDATES = 15
"""Of which the representatives are chosen."""
MOST_SHOWN = 5
"""Representatives of an issue."""


def sampled_members(
    store: Store,
    issues: Sequence[Issue],
    redirects: IssueRedirects,
    now: float,
    priority: Priority = Priority.PAGE,
) -> list[tuple[Issue, list[SampledMembers]]]:
    """Each issue with its members by sampling, those of merged issues too; `now` in seconds."""
    by_id = issue_views.sampled_members(store, now, redirects.ids(issues), priority=priority)
    return [
        (issue, [sample for name in redirects.ids([issue]) for sample in by_id.get(name, ())])
        for issue in issues
    ]


def count(samples: Sequence[SampledMembers]) -> Count:
    """How many members were seen, and an estimate of how many there are."""
    return counts.count(
        counts.SampledMembers(
            stream=sample.stream,
            inclusion_probability=sample.inclusion_probability,
            members=sample.members,
        )
        for sample in samples
    )


def harmed(samples: Sequence[SampledMembers]) -> Count:
    """Answers that an issue harmed in the last 24 hours."""
    return count([replace(sample, members=sample.last_day) for sample in samples])


def per_day(issue: Issue, harmed_answers: float, now: float) -> float:
    """The harm of the last 24 hours per day: an issue that is younger is counted by its own time.

    Of its first hour the harm is taken for that of an hour: a few minutes tell little.
    """
    age = now - issue.first_unix_nano / NANOS
    return harmed_answers * DAY / min(DAY, max(HOUR, age))


def traffic(failing: float, answers: int) -> TrafficForm:
    """Members beside the traffic of their routes; roll-ups may lag behind members by a minute."""
    share = min(1.0, failing / answers) if answers else None
    return TrafficForm(failing=failing, answers=answers, share=share)


def days(samples: Sequence[SampledMembers]) -> tuple[int, ...]:
    """Members of each of the last 14 days (UTC), today last."""
    return tuple(map(sum, zip((0,) * DAYS, *(sample.days for sample in samples), strict=True)))


class FailuresOutside:
    """Failures in no issue, and the traffic, of the 7 days before `now` (seconds)."""

    def __init__(self, store: Store, now: float) -> None:
        since = int(now) - WEEK
        self._loose = memberships.tally(store, since, is_loose=True, bin_seconds=WEEK)
        self._requests = memberships.requests(store, since, bin_seconds=WEEK)

    def of(self, filter_: IssueFilter) -> list[BackgroundForm]:
        """A background for each family that the filter matches, on all its routes."""
        families = [Layer(filter_.family)] if filter_.family else Layer
        routes = (filter_.route,) if filter_.route else ()
        return [
            self._of(family, filter_.service, filter_.environment, routes) for family in families
        ]

    def of_issue(self, issue: Issue) -> BackgroundForm:
        """The background of an issue's family on its routes."""
        return self._of(issue.family, issue.service, issue.environment, issue.routes)

    def _of(
        self, family: Layer, service: str, environment: str, routes: Sequence[str]
    ) -> BackgroundForm:
        def matches(row: memberships.Tally | memberships.Requests) -> bool:
            return (
                service in ("", row.service)
                and environment in ("", row.environment)
                and (not routes or row.route in routes)
            )

        loose = (row for row in self._loose if row.family is family and matches(row))
        background = Background(
            failing=sum(row.records for row in loose),
            requests=sum(row.requests for row in self._requests if matches(row)),
        )
        return view(BackgroundForm, background, family=family, rate=background.rate)


def of_different_questions(store: Store, ids: Sequence[str], limit: int) -> list[KeptFailure]:
    """The newest member of each question, newest first; those without a question are left out."""
    filter_ = failed.FailureFilter(issue_ids=tuple(ids), newest_first=True, limit=MOST_COMPARED)
    newest: dict[str, KeptFailure] = {}
    for member in failed.find(store, filter_):
        if question := " ".join((member.failure.question or "").casefold().split()):
            newest.setdefault(question, member)
    return list(newest.values())[:limit]


def representatives(
    store: Store, issue: Issue, ids: Sequence[str]
) -> tuple[list[KeptFailure], list[Neighbour]]:
    """Up to five members of an issue and its merged issues, and their passing neighbours.

    The most typical come first, without vectors the newest of each question; those that have a
    neighbour before the others, as a difference shows what is wrong.
    """
    candidates = _typical(store, issue, ids)
    nearest = neighbours(store, issue, candidates)
    beside = {(each.beside_trace_id, each.beside_record_id) for each in nearest}
    chosen = sorted(candidates, key=lambda member: member.key not in beside)[:MOST_SHOWN]
    shown = {member.key for member in chosen}
    return chosen, [
        each for each in nearest if (each.beside_trace_id, each.beside_record_id) in shown
    ]


def _typical(store: Store, issue: Issue, ids: Sequence[str]) -> list[KeptFailure]:
    """Members to choose representatives from, the most typical first."""
    filter_ = failed.FailureFilter(issue_ids=tuple(ids), newest_first=True, limit=MOST_COMPARED)
    newest = failed.find(store, filter_)
    model = issue.vector_model
    members = failed.with_vectors(store, newest, model) if model else []
    if not members:
        by_question = {member.failure.question: member.key for member in reversed(newest)}
        differ = set(by_question.values())
        return sorted(newest, key=lambda member: member.key not in differ)[:MOST_CANDIDATES]
    from clustering.issues.representatives import representatives as positions

    places = positions(
        [member.failure for member in members], joint_vectors(members), count=MOST_CANDIDATES
    )
    return [members[place] for place in places]
