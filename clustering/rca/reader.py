"""What the root-cause agent may read: records of one issue's service, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ragvigil.model.incident import Incident
from ragvigil.model.issue import ComparedRecord, Failure

Form: TypeAlias = Mapping[str, Any]
"""A record or span as the store returns it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """Requests of the issue's routes in one hour."""

    start_unix_nano: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A deploy that somebody marked, or a change that the daemon noticed."""

    time_unix_nano: int
    kind: str
    text: str
    route: str = ""


class IssueReader(Protocol):
    """Reads what belongs to one issue; every answer is bounded. Raises StoreError."""

    def members(self) -> Sequence[Failure]:
        """The issue's failing records, newest first."""

    def failing(self) -> Sequence[ComparedRecord]:
        """A sample of its members, with their dimensions."""

    def passing(self) -> Sequence[ComparedRecord]:
        """A sample of records of the same routes and days that fail nothing."""

    def hours(self) -> Sequence[Hour]:
        """The traffic of its routes since the day before its first member, oldest first."""

    def changes(self) -> Sequence[Change]:
        """Changes of its service since the day before its first member, oldest first."""

    def incident(self) -> Incident | None:
        """The incident whose answers the issue holds; None where it is of none."""

    def trace(self, trace_id: str) -> Sequence[Form]:
        """The records of a trace in full; none where the service has no such trace."""

    def spans(self, trace_id: str) -> Sequence[Form]:
        """The spans of a trace of the service, oldest first; none where it has no such trace."""

    def search(self, *, route: str, rubric: str, label: str) -> Sequence[Form]:
        """Records of the service without their chunks, newest first; empty filters are none."""
