"""Findings: one signal is worse than it was. Incidents are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import hypot
from typing import Protocol

from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.model.signal import SLOW, TRAFFIC, UNSUPPORTED, is_rate


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
    BLIND = "blind"
    """A field is no longer sent, so that nobody sees what it shows; a ticket about the
    instrumentation, of no layer."""
    LIMIT = "limit"
    """A rate, mean or count on all traffic is past a bound that is worth a ticket, no page."""


WEIGHT = (
    FindingKind.AUDIT,
    FindingKind.BROKEN,
    FindingKind.DRIFT,
    FindingKind.LIMIT,
    FindingKind.MOVED,
    FindingKind.CHANGED,
    FindingKind.BLIND,
)
"""Kinds of findings, the one that proves most first."""
QUALITY = frozenset({"answer_relevance", "context_relevance", "groundedness", UNSUPPORTED})
"""Numbers that move with the quality of answers; others say only that something changed."""
HARMLESS = frozenset({SLOW, TRAFFIC})
"""Rates that make no answer worse."""
UPSTREAM = (Layer.RETRIEVAL, Layer.GENERATION, Layer.CROSS_CUTTING)
"""Layers in the order in which an answer passes them."""
LEAST_FURTHER = 0.1
"""Share of a change by which it must go beyond an expected level to be news."""
PAGES = frozenset({FindingKind.BROKEN, FindingKind.AUDIT, FindingKind.DRIFT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One signal that is worse, on one or more routes of a service.

    `finding_id` is stable: a later row of the same finding has the same id and newer numbers.
    `signal` is a rubric, `rubric:label`, or a measure of `record_shape`. `value` is compared with
    `reference`, which is the ceiling of a broken rate, else the level before; `low` and `high`
    bound the change at 95 %, in the unit of the signal. `cleared_unix_nano` is 0 while it lasts.
    `earliest_unix_nano` and `latest_unix_nano` bound the onset at 95 %, 0 where it has no interval.
    `words` is one line for a person: what is worse, by how much, of how many records.
    `is_local` says that it is a sustained drop of a local model's scores. `is_untrusted` says that
    it pages nobody: it rests on a judge that people's labels proved wrong, or on a local model
    where a judge scores the same rubric.
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
    earliest_unix_nano: int = 0
    latest_unix_nano: int = 0
    seen_unix_nano: int = 0
    cleared_unix_nano: int = 0
    traces: tuple[str, ...] = ()
    words: str = ""
    is_local: bool = False
    is_untrusted: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it still lasts."""
        return not self.cleared_unix_nano


class Harmful(Protocol):
    """What `harm` reads of a finding, in whatever form it is."""

    @property
    def kind(self) -> FindingKind: ...
    @property
    def signal(self) -> str: ...
    @property
    def layer(self) -> Layer: ...
    @property
    def value(self) -> float | None: ...
    @property
    def reference(self) -> float | None: ...


def harm(finding: Harmful) -> float:
    """About which share of the answers a finding says are worse for their users, 0 to 1.

    A broken rate counts them; a rate that rose, or a mean of a rubric that fell, by 0.2 stands for
    a fifth of them.
    """
    value, reference = finding.value, finding.reference
    if value is None or reference is None or finding.signal in HARMLESS:
        return 0.0
    worse = 0.0
    if finding.kind is FindingKind.BROKEN:
        worse = value
    elif finding.kind in (FindingKind.AUDIT, FindingKind.DRIFT) or finding.signal in QUALITY:
        worse = value - reference if is_rate(finding.signal) else reference - value
    return min(1.0, max(0.0, worse))


class Measured(Protocol):
    """What `goes_beyond` reads of a change, in whatever form it is."""

    @property
    def value(self) -> float | None: ...
    @property
    def reference(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def goes_beyond(change: Measured, level: float, level_error: float = 0.0) -> bool:
    """Whether a change leads further away than a `level` that somebody expects.

    By more than its own error at 95 % and that of the level together, and by a tenth of its size; a
    change to the other side does, too. What has no numbers cannot be told apart, and counts as
    expected; so does a number that is where it was.

    >>> from types import SimpleNamespace
    >>> fell = SimpleNamespace(value=0.5, reference=0.9, low=-0.45, high=-0.35)
    >>> goes_beyond(fell, 0.7), goes_beyond(fell, 0.53), goes_beyond(fell, 0.4)
    (True, False, False)
    >>> goes_beyond(SimpleNamespace(value=0.0, reference=0.0, low=None, high=None), 0.3)
    False
    """
    if change.value is None or change.reference is None or change.value == change.reference:
        return False
    size = change.value - change.reference
    further = (change.value - level) * (1 if size > 0 else -1)
    return further > max(hypot(error_of(change), level_error), LEAST_FURTHER * abs(size))


def error_of(change: Measured) -> float:
    """Half of the interval of a change, 0 where none is known."""
    if change.low is None or change.high is None:
        return 0.0
    return (change.high - change.low) / 2


def order(finding: Harmful) -> tuple[bool, float, int, int]:
    """A key by which the finding that harms most comes first, and of equal ones the upstream one.

    Shares within a tenth are equal; a mere change comes last.
    """
    return (
        finding.kind is FindingKind.CHANGED,
        -round(harm(finding), 1),
        UPSTREAM.index(finding.layer),
        WEIGHT.index(finding.kind),
    )
