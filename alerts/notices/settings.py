"""Settings of `[alerts.notices]`; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class NoticeSettings(BaseModel):
    """When the usual values of a route are known, so that a change can be noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    warm_up_requests: int = Field(
        default=200, ge=100, description="requests of a route until its usual values are known"
    )
