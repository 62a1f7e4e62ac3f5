"""Follows merges: a record keeps the id of the issue it joined, whatever that was merged into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ragvigil.model.issue import Issue
from ragvigil.store.issues.issues import NOBODY, IssueFilter

NANOS = 10**9


class IssueRedirects:
    """All issues at one moment, merged ones included."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        self._by_id = {issue.issue_id: issue for issue in issues}
        self._parts: dict[str, list[str]] = defaultdict(list)
        for name in self._by_id:
            home = self.home(name)
            if home is not None:
                self._parts[home.issue_id].append(name)

    def home(self, issue_id: str) -> Issue | None:
        """The issue of this id, or the one it was merged into."""
        issue = self._by_id.get(issue_id)
        while issue is not None and issue.merged_into:
            issue = self._by_id.get(issue.merged_into)
        return issue

    def ids(self, issues: Iterable[Issue]) -> list[str]:
        """The ids of these issues and of all that were merged into them."""
        return [name for issue in issues for name in self._parts[issue.issue_id]]

    def find(self, filter_: IssueFilter) -> list[Issue]:
        """All issues that match and are not merged; the filter's limit does not apply.

        Those without answers are found by their state or id alone: their cause is elsewhere.
        """
        return [self._by_id[name] for name in self._parts if _matches(self._by_id[name], filter_)]

    def names(self) -> Mapping[str, str]:
        """Names by id."""
        return {issue.issue_id: issue.name for issue in self._by_id.values()}


def _matches(issue: Issue, filter_: IssueFilter) -> bool:
    return bool(
        filter_.service in ("", issue.service)
        and filter_.environment in ("", issue.environment)
        and filter_.family in ("", issue.family)
        and (not filter_.states or issue.state in filter_.states)
        and (not filter_.route or filter_.route in issue.routes)
        and filter_.owner in ("", issue.assignee or NOBODY)
        and issue.last_unix_nano >= filter_.since * NANOS
        and (not filter_.until or issue.first_unix_nano < filter_.until * NANOS)
        and (not issue.is_emptied or filter_.states or filter_.text == issue.issue_id)
        and (filter_.text.casefold() in issue.name.casefold() or filter_.text == issue.issue_id)
    )
