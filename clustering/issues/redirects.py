"""Follows merges: a record keeps the id of the issue it joined, whatever that was merged into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ragvigil.model.issue import Issue
from ragvigil.store.issues.issues import IssueFilter


class IssueRedirects:
    """All issues at one moment, merged ones included."""

    def __init__(self, known: Iterable[Issue]) -> None:
        self._known = {issue.issue_id: issue for issue in known}
        self._parts: dict[str, list[str]] = defaultdict(list)
        for name in self._known:
            home = self.home(name)
            if home is not None:
                self._parts[home.issue_id].append(name)

    def home(self, issue_id: str) -> Issue | None:
        """The issue of this id, or the one it was merged into."""
        issue = self._known.get(issue_id)
        while issue is not None and issue.merged_into:
            issue = self._known.get(issue.merged_into)
        return issue

    def ids(self, issues: Iterable[Issue]) -> list[str]:
        """The ids of these issues and of all that were merged into them."""
        return [name for issue in issues for name in self._parts[issue.issue_id]]

    def find(self, wanted: IssueFilter) -> list[Issue]:
        """All issues that match and are not merged; the filter's limit does not apply."""
        return [self._known[name] for name in self._parts if _matches(self._known[name], wanted)]

    def names(self) -> Mapping[str, str]:
        """Names by id."""
        return {issue.issue_id: issue.name for issue in self._known.values()}


def _matches(issue: Issue, wanted: IssueFilter) -> bool:
    return (
        wanted.service in ("", issue.service)
        and wanted.environment in ("", issue.environment)
        and wanted.family in ("", issue.family)
        and (not wanted.states or issue.state in wanted.states)
        and (not wanted.route or wanted.route in issue.routes)
        and (wanted.text.casefold() in issue.name.casefold() or wanted.text == issue.issue_id)
    )
