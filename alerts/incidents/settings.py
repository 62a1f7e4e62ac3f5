"""Settings of `[alerts.incidents]`; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class IncidentSettings(BaseModel):
    """How findings are folded into incidents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    within_minutes: int = Field(
        default=10,
        ge=1,
        le=1440,
        description="troubles that begin this close together are one incident, if their routes "
        "overlap and one cause may explain both",
    )
    follows_minutes: int = Field(
        default=120,
        ge=1,
        le=1440,
        description="minutes after a change in which a trouble may begin because of it",
    )
    undeclared_hours: int = Field(
        default=12,
        ge=1,
        le=24,
        description="hours after which an undeclared change counts as the usual state",
    )
    clear_minutes: int = Field(
        default=5,
        ge=0,
        le=1440,
        description="minutes without anything worse after which an incident is resolved",
    )
    reopen_minutes: int = Field(
        default=60,
        ge=0,
        le=1440,
        description="minutes after its resolution in which an incident is reopened by the same "
        "trouble on the same route",
    )
    unseen_minutes: int = Field(
        default=30,
        ge=1,
        le=1440,
        description="minutes without confirmation after which a trouble counts as over",
    )
    audit_hours: int = Field(
        default=24,
        ge=1,
        le=720,
        description="hours that a confirmed audit alone keeps an incident open",
    )
    page_drop: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="smallest confirmed drop that pages; a smaller one is a ticket",
    )
