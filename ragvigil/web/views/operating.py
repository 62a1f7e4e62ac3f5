"""Operating points as the API shows them."""

from __future__ import annotations

from pydantic import BaseModel, Field


class OperatingPointForm(BaseModel):
    """A lasting fact about a route; its 95 % interval lies wholly beyond the bound."""

    name: str = Field(description="low_utilization, over_fetching, under_fetching, thumbs_down, …")
    service: str
    environment: str
    route: str
    value: float = Field(description="where two rubrics diverge: the change of the one that fell")
    low: float = Field(description="of the 95 % interval")
    high: float
    n: int
    bound: float
    words: str


class OperatingPointsForm(BaseModel):
    """By service, environment, route and name."""

    operating_points: list[OperatingPointForm]
