"""Settings of the watch: `[alerts.notices]`, `.broken`, `.moved`, `.audit`, `.incidents`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class NoticeSettings(BaseModel):
    """When a change of a service counts as noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    warm_up_requests: int = Field(
        default=200, ge=20, description="requests of a route from which its usual values are known"
    )


class BrokenSettings(BaseModel):
    """Ceilings of rates on all traffic."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MovedSettings(BaseModel):
    """When a number measured on all traffic has left its past."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AuditSettings(BaseModel):
    """The judge, before against after a change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    per_day: int = Field(default=2, ge=0, description="audits started a day (UTC); 0 is none")


class IncidentSettings(BaseModel):
    """How findings become incidents."""

    model_config = ConfigDict(extra="forbid", frozen=True)
