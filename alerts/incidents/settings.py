"""Settings of `[alerts.incidents]`; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


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
