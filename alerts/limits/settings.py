"""Settings of `[[alerts.limits]]`; the descriptions are the documentation."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Reach(StrEnum):
    """Whom a limit tells."""

    PAGE = "page"
    TICKET = "ticket"
    NOBODY = "nobody"


class OwnLimit(BaseModel):
    """A limit of one's own on a score, a label or a measurement."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    signal: str = Field(
        min_length=1,
        description="a rubric (its mean), `rubric:label` or `rubric:failed` (a share of answers), "
        "or a measurement such as `answer_words` (its mean)",
    )
    service: str = Field(default="", description="the service; empty: every service")
    route: str = Field(
        default="", description="the route; empty: every route by itself; `*`: all together"
    )
    above: float | None = Field(default=None, description="too high is what lies over this")
    below: float | None = Field(default=None, description="too low is what lies under this")
    reaches: Reach = Field(
        default=Reach.TICKET,
        description="`page`, `ticket`, or `nobody`: only tried on the past, for the page Health",
    )
    window_minutes: int = Field(
        default=60, ge=5, le=1440, description="minutes that are taken together"
    )
    least: int = Field(default=20, ge=5, description="fewest answers of a window that prove it")

    @model_validator(mode="after")
    def _has_one_bound(self) -> OwnLimit:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"{self.signal} needs `above` or `below`, and not both")
        if self.is_share and not 0 <= self.bound <= 1:
            raise ValueError(f"{self.signal} is a share: its limit lies between 0 and 1")
        return self

    @property
    def bound(self) -> float:
        """The limit itself."""
        return self.above if self.above is not None else self.below or 0.0

    @property
    def is_share(self) -> bool:
        """Whether the signal is a share of answers."""
        return ":" in self.signal
