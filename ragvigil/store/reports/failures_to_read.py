"""Failing answers that are worth a person's time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureToRead:
    """A failing answer at the start of its minute, and how many failed of its cause."""

    service: str
    environment: str
    route: str
    rubric: str
    label: str
    trace_id: str
    record_id: str
    time_unix_nano: int
    question: str
    reason: str
    issue_id: str
    issue: str
    failing: int


def read(
    store: Store, since: int, limit: int, service: str = "", environment: str = ""
) -> list[FailureToRead]:
    """Failing answers since a time (seconds): one of each cause first, the most frequent first.

    Raises StoreError.
    """
    names = (
        "service", "environment", "route", "rubric", "label", "trace_id", "record_id", "question",
        "reason", "issue_id", "issue",
    )  # fmt: skip
    asked = {"since": since, "limit": limit, "service": service, "environment": environment}
    return [
        FailureToRead(
            **{name: row[name] for name in names},
            time_unix_nano=int(row["seconds"]) * 10**9,
            failing=int(row["failing"]),
        )
        for row in store.read("failures_to_read", asked)
    ]
