"""Failing records and issues for tests, and how they come into the store."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from ragvigil.model.issue import Failure, FailureKind, Issue, IssueState, MemberBy, Membership
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as stored
from ragvigil.store.issues.failing_rows import KeptFailure

NANOS = 10**9
DAY = 86_400
NOW = int(datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0).timestamp())

A_FAILURE = Failure(
    trace_id="",
    record_id="",
    time_unix_nano=NOW * NANOS,
    service="desk",
    environment="prod",
    route="/refunds",
    kind=FailureKind.RUBRIC,
    family=Layer.GENERATION,
    rubric="groundedness",
    label="contradicted",
    rubrics=("groundedness",),
    reason="the answer names another number of days than the chunk",
    question="How long do refunds take?",
    service_version="2.4.0",
)
AN_ISSUE = Issue(
    issue_id="i1",
    service="desk",
    environment="prod",
    family=Layer.GENERATION,
    rubric="groundedness",
    label="contradicted",
    name="groundedness: another number of days (/refunds)",
    state=IssueState.NEW,
    first_unix_nano=(NOW - DAY) * NANOS,
    last_unix_nano=NOW * NANOS,
    opened_unix_nano=(NOW - DAY) * NANOS,
    state_unix_nano=(NOW - DAY) * NANOS,
    members=22,
    routes=("/refunds",),
)


def failure(number: int, *, ago: int = 60, **fields: object) -> Failure:
    """One failing record, so many seconds before noon of today."""
    return replace(
        A_FAILURE,
        trace_id=f"{number:032x}",
        record_id=f"{number:016x}",
        time_unix_nano=(NOW - ago) * NANOS,
        **fields,  # type: ignore[arg-type]
    )


def issue(issue_id: str = "i1", **fields: object) -> Issue:
    """An issue of 22 members; `fields` replace its own."""
    return replace(AN_ISSUE, issue_id=issue_id, **fields)  # type: ignore[arg-type]


def membership(failure: Failure, issue_id: str) -> Membership:
    """The failure in an issue, and a little in another."""
    return Membership(
        trace_id=failure.trace_id,
        record_id=failure.record_id,
        issue_id=issue_id,
        by=MemberBy.ASSIGNED,
        strength=0.75,
        others=(("i9", 0.25),),
    )


def keep(
    store: Store, failures: Iterable[Failure], issue: Issue | None = None, written: int = 0
) -> None:
    """Stores failing records, as members of an issue where one is given, which is stored too.

    `written` (seconds since the epoch; now, where it is 0) decides which row of a record is newer.
    """
    kept = [_kept(failed) for failed in failures]
    members = [(each, membership(each.failure, issue.issue_id)) for each in kept if issue]
    issues = [issue] if issue else []
    nanos = written * NANOS or time.time_ns()
    store.write(stored.batch(nanos, failures=kept, members=members, issues=issues))


def _kept(failure: Failure) -> KeptFailure:
    seconds = failure.time_unix_nano // NANOS
    return KeptFailure(failure=failure, masked="", received=seconds, digest=1)
