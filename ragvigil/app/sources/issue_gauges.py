"""Updates the metrics of issues."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clustering.issues import metrics as issue_metrics
from clustering.issues.message import message
from clustering.issues.metrics import URGENT, ExposedIssue, Place
from clustering.issues.redirects import IssueRedirects
from ragvigil.app.sources.issue_numbers import count, days, sampled_members
from ragvigil.model.issue import Issue, IssueState
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.issues.issues import IssueFilter
from ragvigil.store.watch.signals import first_minute

NANOS, DAY = 10**9, 86_400


def show(
    store: Store,
    issues: Iterable[Issue],
    place: Place,
    now: float,
    external_url: str = "",
    retired: Collection[str] = (),
) -> None:
    """Sets the gauges from all issues, merged ones included; `place` bounds their labels.

    `now` is in seconds since the epoch; `retired` are rubrics whose judge is. Raises StoreError.
    """
    redirects = IssueRedirects(issues)
    heads = redirects.find(IssueFilter())
    issue_metrics.show(heads, place)
    urgent = [issue for issue in heads if issue.state in URGENT]
    begins = {
        (service, environment): first_minute(store, service=service, environment=environment)
        for service, environment in {(issue.service, issue.environment) for issue in urgent}
    }
    issue_metrics.show_open(
        ExposedIssue(
            issue=issue,
            days=days(samples),
            message=message(issue, count(samples), external_url, retired),
            is_of_first_day=_is_of_first_day(issue, begins[issue.service, issue.environment]),
        )
        for issue, samples in sampled_members(store, urgent, redirects, now, Priority.TICK)
    )


def _is_of_first_day(issue: Issue, begins: float) -> bool:
    """Whether a new issue was opened within a day of its service's first answer (seconds)."""
    day_before = issue.opened_unix_nano // NANOS - DAY
    return issue.state is IssueState.NEW and begins >= day_before
