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
    empty_answers: Share | None = Field(default=None, description="as in the section")
    other_language: Share | None = Field(default=None, description="as in the section")
    nothing_relevant: Share | None = Field(default=None, description="as in the section")
    injected_context: Share | None = Field(default=None, description="as in the section")
    slow: Share | None = Field(default=None, description="as in the section")
    latency_seconds: float | None = Field(default=None, gt=0, description="as in the section")


class BrokenSettings(BaseModel):
    """Ceilings of rates on all traffic."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    empty_retrieval: Share = Field(
        default=0.2,
        description="highest share of retrievals that return nothing; 1 turns the signal off",
    )
    errors: Share = Field(default=0.2, description="highest share of requests that fail")
    invalid_citations: Share = Field(
        default=0.2, description="highest share of citing answers that cite what is not there"
    )
    refusals: Share = Field(default=0.15, description="highest share of answers that refuse")
    truncation: Share = Field(default=0.1, description="highest share of answers that are cut off")
    empty_answers: Share = Field(
        default=0.03, description="highest share of answers that have no text at all"
    )
    other_language: Share = Field(
        default=0.2,
        description="highest share of answers in another language than their question",
    )
    nothing_relevant: Share = Field(
        default=0.3,
        description="highest share of answers whose context a local model finds irrelevant",
    )
    injected_context: Share = Field(
        default=0.2, description="highest share of retrievals that hold instructions to the model"
    )
    slow: Share = Field(
        default=0.05,
        description="highest share of requests that take longer than `latency_seconds`",
    )
    latency_seconds: float = Field(
        default=60.0, gt=0, description="seconds that a request may take; with `slow` 0.05, its p95"
    )
    lost_traffic: Share = Field(
        default=0.5,
        description="share of a route's usual requests whose loss is a ticket; 1 turns it off",
    )
    lost_traffic_page: Share = Field(
        default=0.85, description="share of a route's usual requests whose loss pages"
    )
    routes: dict[str, RouteCeilings] = Field(
        default={},
        description="other ceilings by route or by `service/route`; the latter takes precedence",
    )
    fewest_requests: int = Field(
        default=5, ge=3, description="fewest requests of a window that can break a ceiling"
    )
    stand_minutes: int = Field(
        default=1,
        ge=1,
        le=60,
        description="minutes in a row in which a rate must be over its ceiling",
    )
    clear_minutes: int = Field(
        default=10,
        ge=1,
        le=1440,
        description="minutes under its ceiling after which a rate is no longer broken",
    )


class MovedSettings(BaseModel):
    """When a number measured on all traffic has moved away from its past."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rubrics: tuple[str, ...] = Field(
        default=("chunk_utilization", "citation_coverage"),
        description="rubrics scored on every answer whose mean is followed",
    )
    local_rubrics: tuple[str, ...] = Field(
        default=("groundedness", "context_relevance", "answer_relevance"),
        description="rubrics whose scores by local models are followed; of `groundedness` also "
        "the share of answers labelled `unsupported`",
    )
    measures: tuple[str, ...] = Field(
        default=(
            "citations",
            "answer_words",
            "context_tokens",
            "context_chunks",
            "context_order",
            "chunk_characters",
            "top_score",
            "score_gap",
            "seconds_total",
            "cost_usd",
        ),
        description="measures of an answer that are followed",
    )
    least_change: float = Field(
        default=0.08,
        gt=0,
        description="smallest change that counts, as a share of the level; not for scores by local "
        "models, whose level means little",
    )
    least_sds: float = Field(
        default=0.3,
        gt=0,
        description="smallest change that counts, in standard deviations of single requests; "
        "twice as many for scores by local models",
    )
    fewest_requests: int = Field(
        default=30, ge=10, description="fewest requests of a window that can show a move"
    )
    least_past: int = Field(
        default=200,
        ge=20,
        description="fewest requests of the past, over at least an hour, to compare with",
    )
    clear_minutes: int = Field(
        default=10,
        ge=1,
        le=1440,
        description="minutes back at its level after which a move is over",
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
