"""Settings of `[clustering.root_cause]`; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class RootCauseSettings(BaseModel):
    """Limits of the root-cause agent; it uses the model of `[judge]` and the budget's reserve."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs_per_day: int = Field(
        default=10,
        ge=0,
        description="new, escalating and regressed issues that the model explains unasked, a day "
        "(UTC); spans of their traces are sent to its address. With 0 they get the report by code",
    )
    max_turns: int = Field(default=30, ge=1, le=30, description="turns of the model in a run")
    max_money: float = Field(
        default=0.5,
        gt=0,
        allow_inf_nan=False,
        description="most US dollars of a run, if the model has a price. A turn is made only if "
        "the most that it can cost still fits: four times its usual cost",
    )
    max_tokens: int = Field(
        default=1_000_000,
        ge=1000,
        description="most tokens of a run, counted the same way, if the model has no price",
    )
    max_seconds: float = Field(default=600.0, gt=0, le=3600, description="longest run")
