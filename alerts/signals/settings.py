"""Settings of `[alerts.broken]` and `[alerts.moved]`; the descriptions are the documentation."""

from __future__ import annotations

from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class RouteCeilings(BaseModel):
    """Ceilings of one route, in place of the usual ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    empty_retrieval: Share | None = Field(default=None, description="as in the section")
    errors: Share | None = Field(default=None, description="as in the section")
    invalid_citations: Share | None = Field(default=None, description="as in the section")
    refusals: Share | None = Field(default=None, description="as in the section")
    truncation: Share | None = Field(default=None, description="as in the section")
    injected_context: Share | None = Field(default=None, description="as in the section")
    slow: Share | None = Field(default=None, description="as in the section")
    latency_seconds: float | None = Field(default=None, gt=0, description="as in the section")


class BrokenSettings(BaseModel):
    """Ceilings of rates on all traffic."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    empty_retrieval: Share = Field(
        default=0.2, description="most retrievals that may return nothing; 1 turns the signal off"
    )
    errors: Share = Field(default=0.2, description="most requests that may fail")
    invalid_citations: Share = Field(
        default=0.3, description="most citing answers that may cite what is not there"
    )
    refusals: Share = Field(default=0.25, description="most answers that may refuse")
    truncation: Share = Field(default=0.2, description="most answers that may be cut off")
    injected_context: Share = Field(
        default=0.2, description="most retrievals that may hold instructions to the model"
    )
    slow: Share = Field(
        default=0.05, description="most requests that may take longer than `latency_seconds`"
    )
    latency_seconds: float = Field(
        default=60.0, gt=0, description="seconds that a request may take; with `slow` 0.05, its p95"
    )
    routes: dict[str, RouteCeilings] = Field(
        default={},
        description="other ceilings by route, or by `service/route`, which goes before it",
    )
    fewest_requests: int = Field(
        default=5, ge=3, description="fewest requests of a window that prove anything"
    )
    stand_minutes: int = Field(
        default=1, ge=1, le=60, description="ticks in a row at which a rate must be over"
    )
    clear_minutes: int = Field(
        default=15,
        ge=1,
        le=1440,
        description="minutes that a rate must stay under its ceiling until it is cleared",
    )


class MovedSettings(BaseModel):
    """When a number measured on all traffic has left its past."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rubrics: tuple[str, ...] = Field(
        default=("chunk_utilization", "citation_coverage"),
        description="rubrics scored on every record whose mean is followed",
    )
    local_rubrics: tuple[str, ...] = Field(
        default=("groundedness", "context_relevance", "answer_relevance"),
        description="rubrics whose scores by local models are followed",
    )
    measures: tuple[str, ...] = Field(
        default=(
            "citations",
            "answer_words",
            "context_tokens",
            "context_chunks",
            "chunk_characters",
            "top_score",
            "score_gap",
            "seconds_total",
            "cost_usd",
        ),
        description="measures of a record that are followed",
    )
    least_change: float = Field(
        default=0.08, gt=0, description="a smaller change, as a share of the level, is no move"
    )
    least_sds: float = Field(
        default=0.3,
        gt=0,
        description="a smaller change, in standard deviations of single requests, is no move",
    )
    fewest_requests: int = Field(
        default=30, ge=10, description="fewest requests of a window that prove anything"
    )
    least_past: int = Field(
        default=200, ge=20, description="requests of the past, over an hour at least, to compare"
    )
    clear_minutes: int = Field(
        default=30,
        ge=1,
        le=1440,
        description="minutes that a level must be back until the move is cleared",
    )


class SignalSettings(Protocol):
    """What the signals need of `[alerts]`."""

    @property
    def broken(self) -> BrokenSettings:
        """Ceilings of rates."""
        ...

    @property
    def moved(self) -> MovedSettings:
        """When a number has left its past."""
        ...

    @property
    def baseline_min_days(self) -> int:
        """Days with requests in the same hours before these are the past to compare with."""
        ...
