"""Change audits: the judge, before against after a change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer


class AuditState(StrEnum):
    """How far an audit is, or one rubric in it."""

    RUNNING = "running"
    DROPPED = "dropped"
    """A drop is confirmed."""
    STEADY = "steady"
    """A drop that matters is ruled out."""
    UNDECIDED = "undecided"
    """Neither, and nothing is left to judge, to pay with, or to wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """What an audit knows of one rubric.

    `before` and `after` are means of the same `n` pairs, `change` is after minus before with its
    95 % interval, which holds at every look. All None while nothing is judged.
    """

    rubric: str
    layer: Layer
    state: AuditState = AuditState.RUNNING
    n: int = 0
    before: float | None = None
    after: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    decided_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """One change under audit.

    `routes` and `since_unix_nano` stand side by side: from when on a route shows the change. No
    routes are all routes of the service, since `anchor_unix_nano`. `sources` are the ids of what
    started it: notices, deploys, findings; `reason` is the same in words. `pairs` counts those
    judged, `why` says why it ended undecided, `progress` what it could show by when.
    """

    audit_id: str
    service: str
    environment: str
    anchor_unix_nano: int
    started_unix_nano: int
    routes: tuple[str, ...] = ()
    since_unix_nano: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    reason: str = ""
    causes: tuple[Cause, ...] = ()
    state: AuditState = AuditState.RUNNING
    ended_unix_nano: int = 0
    pairs: int = 0
    results: tuple[AuditResult, ...] = ()
    progress: str = ""
    why: str = ""

    @property
    def is_running(self) -> bool:
        """Whether it still judges; it may have confirmed a drop already."""
        return not self.ended_unix_nano


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the judge said of one side of a pair by one rubric; no value is never 0."""

    rubric: str
    layer: Layer
    value: float | None = None
    label: str = ""
    scorer: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A record of a pair, with its verdicts."""

    trace_id: str
    record_id: str
    route: str
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A record from after the change and the one from before it that was asked most alike.

    `likeness` of the two questions is 0..1.
    """

    number: int
    before: Side
    after: Side
    likeness: float = 0.0
