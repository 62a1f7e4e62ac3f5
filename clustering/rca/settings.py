"""Settings of `[clustering.root_cause]`; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class RootCauseSettings(BaseModel):
    """What a search for a root cause may take; it asks the model of `[judge]`, from its reserve."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs_per_day: int = Field(
        default=10,
        ge=0,
        description="new, escalating and regressed issues that the model explains unasked, a day "
        "(UTC); spans of their traces leave for its address. 0 leaves them to the report that code "
        "can write",
    )
    max_turns: int = Field(default=30, ge=1, le=30, description="turns of the model in one run")
    max_money: float = Field(
        default=0.5,
        gt=0,
        allow_inf_nan=False,
        description="most US dollars of one run, where the model has a price. A turn is made only "
        "where the most that it can cost still fits: four times what it usually does",
    )
    max_tokens: int = Field(
        default=1_000_000,
        ge=1000,
        description="most tokens of one run, counted likewise, where the model has no price",
    )
    max_seconds: float = Field(default=600.0, gt=0, le=3600, description="longest run")
