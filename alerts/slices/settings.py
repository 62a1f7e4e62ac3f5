"""Settings of `[alerts.slices]`; the descriptions are the documentation."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Dimension = Literal["slice", "topic", "language", "tier", "tenant", "locale"]


class SliceSettings(BaseModel):
    """By what the traffic of a service is sliced."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by: tuple[Dimension, ...] = Field(
        default=("slice", "topic", "language", "tier"),
        description="what slices are made by: the attribute `ragvigil.slice`, the topic of the "
        "question, the language of `ragvigil.locale`, the tenant's tier, `tenant` or `locale`; "
        "none: no slices",
    )
    tiers: dict[str, str] = Field(
        default={}, description='tier by tenant, `*` for all others: {acme = "gold"}'
    )
    most: int = Field(
        default=20,
        ge=1,
        le=200,
        description="values of a dimension that are compared by themselves, the most frequent "
        "first; the others are together `__other__`",
    )
