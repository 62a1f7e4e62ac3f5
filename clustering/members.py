"""What a new member changes of its issue. Pure."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.model.issue import Failure, Issue


def with_member(issue: Issue, failure: Failure) -> Issue:
    """The issue with one member more; its centroid is left as it is."""
    return replace(
        issue,
        members=issue.members + 1,
        first_unix_nano=min(issue.first_unix_nano, failure.time_unix_nano),
        last_unix_nano=max(issue.last_unix_nano, failure.time_unix_nano),
        routes=tuple(sorted({*issue.routes, failure.route})),
    )
