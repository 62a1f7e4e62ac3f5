"""Slices of the traffic as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class SliceForm(BaseModel):
    """A rubric in a slice over a window, against the same hours of its last seven days."""

    service: str
    environment: str
    dimension: str = Field(description="slice, topic, language, tier, tenant or locale")
    value: str = Field(description="`__other__` for all rare values together")
    name: str = Field(description="the value, or the name of the topic")
    rubric: str
    layer: str
    window: Literal["6h", "24h"]
    share: float = Field(description="of the service's answers of the window")
    n: int
    mean: float
    baseline: float
    delta: float
    low: float = Field(description="of the 95 % interval for all slices of the service together")
    high: float
    rest_delta: float | None = Field(description="the change of the rest of the service")
    is_worse: bool = Field(
        description="the interval lies below `[alerts] moved_points`, and the slice fell by more "
        "than the rest"
    )


class SlicesForm(BaseModel):
    """What is worse first, then the widest drop; `until` is the end of the windows."""

    until: datetime
    slices: list[SliceForm]
