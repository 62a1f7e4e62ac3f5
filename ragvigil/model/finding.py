"""Findings: one signal is worse than it was. Incidents are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer


class FindingKind(StrEnum):
    """Which detector made it; that decides whether it pages."""

    CHANGED = "changed"
    """A change that no release declared; a ticket."""
    BROKEN = "broken"
    """A rate on all traffic is over its absolute ceiling; pages."""
    MOVED = "moved"
    """A number measured on all traffic left its own past; a ticket, and it starts an audit."""
    AUDIT = "audit"
    """The judge confirmed a drop after a change; pages if the drop is large enough."""
    DRIFT = "drift"
    """A detector of sustained drops; pages."""


PAGES = frozenset({FindingKind.BROKEN, FindingKind.AUDIT, FindingKind.DRIFT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One signal that is worse, on one or more routes of a service.

    `finding_id` is stable: a later row of the same finding has the same id and newer numbers.
    `signal` is a rubric, `rubric:label`, or a measure of `record_shape`. `value` is compared with
    `reference`, which is the ceiling of a broken rate, else the level before; `low` and `high`
    bound the change at 95 %, in the unit of the signal. `cleared_unix_nano` is 0 while it lasts.
    `words` is one line for a person: what is worse, by how much, of how many records.
    """

    finding_id: str
    kind: FindingKind
    service: str
    environment: str
    routes: tuple[str, ...]
    signal: str
    layer: Layer
    causes: tuple[Cause, ...] = ()
    value: float | None = None
    reference: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    since_unix_nano: int = 0
    seen_unix_nano: int = 0
    cleared_unix_nano: int = 0
    traces: tuple[str, ...] = ()
    words: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it still lasts."""
        return not self.cleared_unix_nano
