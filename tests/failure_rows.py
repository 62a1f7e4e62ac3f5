"""Failing records and issues for tests."""

from __future__ import annotations

from array import array

from ragvigil.model.issue import Failure, FailureKind, Issue, IssueState, MemberBy, Membership
from ragvigil.model.score import Layer
from ragvigil.store.issues.failing_rows import KeptFailure
from tests.judged import ids
from tests.outcomes import NOW, SECOND

MODEL = "minilm@1"


def failure(number: int, **more: object) -> Failure:
    """The failure of `outcome_of(number)`."""
    trace_id, record_id = ids(number)
    given: dict[str, object] = {
        "trace_id": trace_id,
        "record_id": record_id,
        "time_unix_nano": NOW,
        "service": "helpdesk",
        "environment": "prod",
        "route": "/ask",
        "kind": FailureKind.RUBRIC,
        "family": Layer.CROSS_CUTTING,
        "reason": "quote not found in refund-02",
        "rubric": "citation_validity",
        "label": "quote_not_found",
        "rubrics": ("citation_validity",),
        "question": "How long?",
        **more,
    }
    return Failure(**given)  # type: ignore[arg-type]


def kept_failure(number: int, *, vector_model: str = MODEL, **more: object) -> KeptFailure:
    """A failing record with short vectors, or with none where the model has no name."""
    numbers = array("f", [1.0, 0.5]).tobytes() if vector_model else b""
    return KeptFailure(
        failure=failure(number, **more),
        masked="quote not found in ID",
        received=NOW // SECOND,
        digest=number + 1,
        reason_vector=numbers,
        question_vector=numbers,
        vector_model=vector_model,
    )


def issue(issue_id: str, **more: object) -> Issue:
    """A new provisional issue of three members."""
    given: dict[str, object] = {
        "issue_id": issue_id,
        "service": "helpdesk",
        "environment": "prod",
        "family": Layer.CROSS_CUTTING,
        "rubric": "citation_validity",
        "label": "quote_not_found",
        "name": "citation_validity: quote not found",
        "state": IssueState.NEW,
        "first_unix_nano": NOW,
        "last_unix_nano": NOW,
        "opened_unix_nano": NOW,
        "members": 3,
        "routes": ("/ask",),
        **more,
    }
    return Issue(**given)  # type: ignore[arg-type]


def member(number: int, issue_id: str) -> Membership:
    """The membership of `outcome_of(number)` by its key."""
    trace_id, record_id = ids(number)
    return Membership(
        trace_id=trace_id, record_id=record_id, issue_id=issue_id, by=MemberBy.KEY, strength=1.0
    )
