"""Deltas: how far the rolling mean of a series is from its own past."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from ragvigil.model.score import Kind, Layer

TICK_SECONDS = 300
"""Means are taken, and the drift detector steps, at every full five minutes."""


class BaselineKind(StrEnum):
    """The past that a mean is compared with."""

    SAME_HOURS = "same_hours"
    """The same hours of the last 7 days."""
    FLAT = "flat"
    """All of the past, while fewer than 3 of those days have scores."""
    NONE = "none"
    """There is no past yet."""


class Moved(StrEnum):
    """Whether the 95 % interval of the 6 h delta lies wholly beyond 2 points, and where."""

    NO = ""
    FELL = "fell"
    ROSE = "rose"


class Estimate(StrEnum):
    """Which mean of all answers a delta shows."""

    PLAIN = ""
    """Of what was scored as it is: every answer that the rubric applies to; a judged sample of them
    where the row is the share of a label."""
    CORRECTED = "corrected"
    """Of a judged sample, weighted, and corrected by a local model's scores of all answers."""
    WEIGHTED = "weighted"
    """Of a judged sample, weighted by 1 over the chance of being judged; no local scores help."""
    TOO_FEW = "too few"
    """Of the judged answers as they are: too few to correct."""


ESTIMATE_WORDS = {
    Estimate.PLAIN: "",
    Estimate.CORRECTED: "corrected for the others",
    Estimate.WEIGHTED: "weighted by how likely each was",
    Estimate.TOO_FEW: "too few to correct",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The scores that a mean is taken over. `segment` names the versions of rubric and scorer.

    `rubric` is `<rubric>:<label>` for the rate of a label, `<rubric>:failed` for the share of
    records that fail. `kind` says who scores it, None where that is not known; it follows from the
    segment, so that series are equal without it.
    """

    service: str
    environment: str
    route: str
    rubric: str
    layer: Layer = Layer.CROSS_CUTTING
    segment: str = ""
    kind: Kind | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """One series at one tick over one window; a row of `delta_changes` and `rubric_deltas`.

    `tick` is the end of the window, seconds since the epoch; `closed` says that it no longer waits
    for late scores. Unknown numbers are None: a mean of nothing, a mean whose coverage is too low,
    a delta without a past. `low` and `high` bound `delta` at 95 %. `n_effective` is the size of a
    plain sample of independent scores that is as precise. `estimate` says how `mean` was computed,
    `plain_mean` is that of what was scored as it is, `judged_share` the share of all answers that
    were judged (None: scored on all). `coverage` is scored / (scored + absent). `detection_limit`
    is the drop that a window of this size can show. `since` is the start of an hour, seconds since
    the epoch. `release_*` compare with the pinned release.
    """

    series: Series
    tick: int
    window: str
    closed: bool = True
    n: int = 0
    n_effective: float = 0.0
    failed: int = 0
    coverage: float | None = None
    mean: float | None = None
    estimate: Estimate = Estimate.PLAIN
    plain_mean: float | None = None
    judged_share: float | None = None
    baseline: float | None = None
    baseline_kind: BaselineKind = BaselineKind.NONE
    baseline_n: int = 0
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    release_baseline: float | None = None
    release_delta: float | None = None
    release_low: float | None = None
    release_high: float | None = None
    overdispersion: float = 1.0
    detection_limit: float | None = None
    sustained_drop: bool = False
    moved: Moved = Moved.NO
    since: int | None = None

    @property
    def basis(self) -> str:
        """On which of the answers the mean rests; empty where it is on all of them.

        >>> series = Series(service="desk", environment="", route="/ask", rubric="groundedness")
        >>> Delta(
        ...     series=series, tick=0, window="6h", estimate=Estimate.CORRECTED, judged_share=0.07
        ... ).basis
        '7 % of the answers judged, corrected for the others'
        """
        if self.judged_share is None:
            return ""
        judged = f"{self.judged_share * 100:.2g} % of the answers judged"
        words = ESTIMATE_WORDS[self.estimate]
        return f"{judged}, {words}" if words else judged

    @property
    def holds(self) -> bool:
        """Whether anything was scored, or could not be seen; a row without says that it ended."""
        return self.n > 0 or self.coverage is not None


def judged_first(deltas: Iterable[Delta]) -> list[Delta]:
    """Leaves out what a local scorer says of a rubric that a judge scores at the same place.

    For readers that want a single answer of a rubric: local values are another series beside it.
    """
    rows = list(deltas)
    judged = {_place(row) for row in rows if row.series.kind is Kind.JUDGE}
    return [row for row in rows if row.series.kind is Kind.JUDGE or _place(row) not in judged]


def _place(row: Delta) -> tuple[str, ...]:
    series = row.series
    rubric = series.rubric.partition(":")[0]
    return (series.service, series.environment, series.route, rubric, row.window)
