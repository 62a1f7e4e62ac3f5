"""Settings of the watch: `[alerts.notices]`, `.broken`, `.moved`, `.audit`, `.incidents`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]


class NoticeSettings(BaseModel):
    """When a change of a service counts as noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    warm_up_requests: int = Field(
        default=200, ge=100, description="requests of a route from which its usual values are known"
    )


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


class AuditSettings(BaseModel):
    """The judge, before against after a change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    per_day: int = Field(default=2, ge=0, description="audits started a day (UTC); 0 is none")
    records: int = Field(
        default=300,
        ge=30,
        description="records judged from before a change, and as many from after it; twice as "
        "many where a drop is in sight",
    )
    rubrics: tuple[str, ...] = Field(
        default=("context_relevance", "context_precision", "groundedness"),
        min_length=1,
        description="judged rubrics of an audit, by layer: a drop of one that pages ends those "
        "that stand after it; the first two are read from the same replies",
    )
    then: tuple[str, ...] = Field(
        default=("chunk_attribution", "completeness"),
        description="judged on the same records where no drop of the first pages",
    )
    smallest_drop: Annotated[float, Field(ge=0.01, le=0.5)] = Field(
        default=0.04, description="smallest drop that matters; a smaller one is no drop"
    )
    hours: float = Field(
        default=6.0, gt=0, le=48, description="hours after which an audit ends undecided"
    )


class IncidentSettings(BaseModel):
    """How findings become incidents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    within_minutes: int = Field(
        default=30,
        ge=1,
        le=1440,
        description="findings whose onsets lie so close together are one incident",
    )
    follows_minutes: int = Field(
        default=120,
        ge=1,
        le=1440,
        description="how long after a change an onset may still be due to it",
    )
    undeclared_hours: int = Field(
        default=12,
        ge=1,
        le=24,
        description="hours after which a change that no release declared is the usual state",
    )
    clear_minutes: int = Field(
        default=10,
        ge=0,
        le=1440,
        description="an incident of which nothing lasts for so long is resolved",
    )
    reopen_minutes: int = Field(
        default=60,
        ge=0,
        le=1440,
        description="what comes back so soon after the resolution opens the same incident again",
    )
    unseen_minutes: int = Field(
        default=30,
        ge=1,
        le=1440,
        description="a finding that nothing has confirmed for so long counts as over",
    )
    audit_hours: int = Field(
        default=24,
        ge=1,
        le=720,
        description="how long a confirmed audit keeps an incident open where nothing else does",
    )
    page_drop: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="a drop that an audit confirmed pages from this size on; a smaller one is a "
        "ticket",
    )
