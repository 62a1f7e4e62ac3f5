"""Settings of the deltas, and of the labels of their metrics.

The descriptions are the documentation; `alerts.settings` composes the sections.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

Share = Annotated[float, Field(ge=0, le=1)]


class DeltaSettings(BaseModel):
    """How means, baselines and movements are computed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    baseline_days: int = Field(
        default=7, ge=1, le=28, description="days whose same hours form the baseline"
    )
    baseline_min_days: int = Field(
        default=3,
        ge=1,
        le=28,
        description="days that must have scores in those hours; with fewer, the baseline is the "
        "flat mean of the available past",
    )
    close_late_seconds: int = Field(
        default=600,
        ge=0,
        le=7200,
        description="seconds that a tick waits for late scores before it closes; later scores "
        "amend history",
    )
    min_coverage: Share = Field(
        default=0.5,
        description="a mean is shown as a number only if at least this share of the answers that "
        "the rubric applies to could be scored",
    )
    moved_points: Share = Field(
        default=0.02,
        description="a mean has moved when the 95 % interval of its 6 h delta lies wholly beyond "
        "this",
    )
    moved_min_scores: int = Field(
        default=10, ge=1, description="fewest effective scores in 6 h that can show a move"
    )
    sustained_points: Share = Field(
        default=0.02,
        description="a drop is sustained when the 30 m or 90 m delta was this far down at every "
        "tick for the length of its window",
    )
    rates: tuple[str, ...] = Field(
        default=("refusal:refused", "refusal:partial", "*:failed"),
        description="labels followed as rates, `rubric:label`; `failed` is the share of answers "
        "that fail, `*` stands for every rubric",
    )
    release_baselines: dict[str, str] = Field(
        default={},
        description="pinned release baseline by service (`*` for all): the time range "
        "START/END, ISO 8601, whose means are the reference",
    )

    @field_validator("rates")
    @classmethod
    def _rates_name_rubric_and_label(cls, rates: tuple[str, ...]) -> tuple[str, ...]:
        for rate in rates:
            rubric, _, label = rate.partition(":")
            if not rubric or not label or (rubric == "*" and label != "failed"):
                raise ValueError(f"{rate} is neither rubric:label nor *:failed")
        return rates

    @field_validator("release_baselines")
    @classmethod
    def _release_baselines_are_ranges(cls, ranges: dict[str, str]) -> dict[str, str]:
        for service, text in ranges.items():
            try:
                time_range(text)
            except ValueError as error:
                raise ValueError(f"{service}: {error}") from error
        return ranges


def time_range(text: str) -> tuple[int, int]:
    """Start and end of `START/END`, seconds since the epoch; times without a zone are UTC.

    >>> time_range("2026-03-01/2026-03-02T06:00:00Z")
    (1772323200, 1772431200)

    Raises ValueError in one sentence.
    """
    first, separator, last = text.partition("/")
    try:
        start, end = (_seconds(part) for part in (first, last))
    except ValueError:
        start, end = 0, 0
    if not separator or end <= start:
        raise ValueError(f"{text} is not a time range START/END in ISO 8601")
    return start, end


def _seconds(text: str) -> int:
    time = datetime.fromisoformat(text)
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


class LabelLimits(BaseModel):
    """How many label values the metrics may have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_routes: int = Field(
        default=200,
        ge=1,
        description="routes that get label values of their own, each with all its rubrics; "
        "further ones share `__other__`",
    )
    max_labels: int = Field(
        default=50,
        ge=1,
        description="failure labels of a rubric with a label value of their own; further ones "
        "share `__other__`",
    )
