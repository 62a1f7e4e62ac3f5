"""Failures and issues for tests; hours count from `START`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ragvigil.model.issue import Failure, FailureKind, Issue, IssueState
from ragvigil.model.score import Layer

START = 1_772_366_400.0  # 2026-03-01 12:00 UTC
HOUR = 3600.0
DAY = 24 * HOUR


def at(hours: float) -> int:
    return int((START + hours * HOUR) * 10**9)


def failure(name: str, hours: float = 0.0, **more: Any) -> Failure:
    example = Failure(
        trace_id=f"trace-{name}",
        record_id=f"record-{name}",
        time_unix_nano=at(hours),
        service="desk",
        environment="prod",
        route="/ask",
        kind=FailureKind.RUBRIC,
        family=Layer.GENERATION,
        reason="2 x unsupported",
        rubric="groundedness",
        label="unsupported",
        rubrics=("groundedness",),
    )
    return replace(example, **more)


def issue(name: str = "a", **more: Any) -> Issue:
    example = Issue(
        issue_id=name,
        service="desk",
        environment="prod",
        family=Layer.GENERATION,
        rubric="groundedness",
        label="unsupported",
        name=f"groundedness: {name}",
        state=IssueState.NEW,
        first_unix_nano=at(0),
        last_unix_nano=at(0),
        opened_unix_nano=at(0),
        state_unix_nano=at(0),
        members=10,
        is_provisional=False,
    )
    return replace(example, **more)
