"""Failing records and issues for tests, and how they come into the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from ragvigil.model.issue import Failure, FailureKind, Issue, IssueState, MemberBy, Membership
from ragvigil.model.score import Layer
from ragvigil.store.batch import Batch, token_of
from ragvigil.store.columns import TABLES
from ragvigil.store.span_rows import nanos
from ragvigil.store.store import Store

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


def issue(name: str = "i1", **fields: object) -> Issue:
    """An issue."""
    return replace(AN_ISSUE, issue_id=name, **fields)  # type: ignore[arg-type]


def membership(one: Failure, issue_id: str, *others: tuple[str, float]) -> Membership:
    """The failure in an issue."""
    return Membership(
        trace_id=one.trace_id,
        record_id=one.record_id,
        issue_id=issue_id,
        by=MemberBy.ASSIGNED,
        strength=0.75,
        others=others,
    )


def keep(store: Store, failures: Iterable[Failure], issue_id: str = "") -> None:
    """Stores failing records, as members of an issue where one is named."""
    kept = list(failures)
    rows = {"failures": [_row("failures", _failure_values(one)) for one in kept]}
    if issue_id:
        rows["memberships"] = [
            _row("memberships", _membership_values(one, membership(one, issue_id, ("i9", 0.25))))
            for one in kept
        ]
    store.write(Batch(rows=rows, token=token_of("issues", *rows.items())))


def _row(table: str, values: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(values[name] for name in TABLES[table])


def _place(one: Failure) -> dict[str, object]:
    seconds = one.time_unix_nano // NANOS
    return {
        "minute": datetime.fromtimestamp(seconds - seconds % 60, UTC),
        "time": nanos(one.time_unix_nano),
        "received": datetime.fromtimestamp(seconds, UTC),
        "trace_id": one.trace_id,
        "record_id": one.record_id,
        "is_gone": 0,
        "written": nanos(one.time_unix_nano),
        "replica": "",
        "epoch": 0,
    }


def _failure_values(one: Failure) -> dict[str, object]:
    names: Sequence[str] = (
        "service", "environment", "route", "rubric", "label", "rubrics", "reason", "question",
        "inclusion_probability", "service_version", "prompt_version", "index_epoch", "llm_model",
    )  # fmt: skip
    return {
        **{name: getattr(one, name) for name in names},
        **{name: str(getattr(one, name)) for name in ("kind", "family", "scorer_kind", "stream")},
        **_place(one),
        "masked": "",
        "reason_vector": [],
        "question_vector": [],
        "vector_model": "",
        "digest": 1,
    }


def _membership_values(one: Failure, held: Membership) -> dict[str, object]:
    return {
        **_place(one),
        "issue_id": held.issue_id,
        "by": held.by.value,
        "strength": held.strength,
        "other_issues": [name for name, _ in held.others],
        "other_strengths": [strength for _, strength in held.others],
    }
