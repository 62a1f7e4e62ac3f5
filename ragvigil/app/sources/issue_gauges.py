"""What Prometheus reads of issues, brought up to date."""

from __future__ import annotations

from collections.abc import Iterable

from clustering.issues import metrics as issue_metrics
from clustering.issues.message import message
from clustering.issues.metrics import URGENT, ExposedIssue, Place
from clustering.issues.redirects import IssueRedirects
from ragvigil.app.sources.issue_numbers import count, days, looked_of
from ragvigil.model.issue import Issue
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.issues.issues import IssueFilter


def show(
    store: Store, known: Iterable[Issue], place: Place, now: float, external_url: str = ""
) -> None:
    """Shows all issues that are known, merged ones too; `place` bounds the labels.

    `now` is in seconds since the epoch. Raises StoreError.
    """
    parts = IssueRedirects(known)
    found = parts.find(IssueFilter())
    issue_metrics.show(found, place)
    urgent = [one for one in found if one.state in URGENT]
    issue_metrics.show_open(
        ExposedIssue(
            issue=one, days=days(looked), message=message(one, count(looked), external_url)
        )
        for one, looked in looked_of(store, urgent, parts, now, Priority.TICK)
    )
