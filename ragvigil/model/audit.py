"""Change audits: the judge scores pairs of records from before and after a change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer


class AuditState(StrEnum):
    """The state of an audit, or of one rubric in it."""

    RUNNING = "running"
    DROPPED = "dropped"
    """A drop is confirmed."""
    STEADY = "steady"
    """A drop that matters is ruled out."""
    UNDECIDED = "undecided"
    """Neither, and there are no more records to judge, no budget, or no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """The result of an audit for one rubric.

    `before` and `after` are means over the same `n` pairs; `change` is after minus before, `low`
    and `high` its 95 % interval, which holds however often it is read. All are None until a pair is
    judged.
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

    `since_unix_nano` holds, for each of `routes`, when it began to show the change. No routes are
    all routes of the service, since `anchor_unix_nano`. `sources` are the ids of what started it:
    notices, deploys, findings; `reason` is the same in words. `pairs` counts judged pairs. `why`
    says why it ended undecided, `progress` which drop it can show by when. `goes_with` names the
    dimensions that its drop goes with, in lines; it is computed anew after a start.
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
    goes_with: tuple[str, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether it still judges pairs; it may have confirmed a drop already."""
        return not self.ended_unix_nano

    @property
    def has_decided(self) -> bool:
        """Whether it is over and knows: a drop, or none that matters."""
        return not self.is_running and self.state is not AuditState.UNDECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judge's score of one side of a pair by one rubric; a missing value is None, never 0."""

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
    """A record from after the change, and the record from before it with the most similar question.

    `likeness` is the similarity of the two questions, 0..1.
    """

    number: int
    before: Side
    after: Side
    likeness: float = 0.0
