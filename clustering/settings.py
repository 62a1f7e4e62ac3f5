"""Settings of `[clustering]`; the descriptions are the documentation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from clustering.rca.settings import RootCauseSettings
from clustering.topics.settings import TopicSettings


class ClusteringSettings(BaseModel):
    """Failing records become issues: when, out of how many days, within which limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(default=True, description="whether failing records become issues")
    records: int = Field(
        default=1000,
        ge=10,
        le=20_000,
        description="failing records that are placed each minute, oldest first; more wait for the "
        "next minute. With local models 1,000 take about 5 s of CPU",
    )
    residue_days: int = Field(
        default=7,
        ge=1,
        le=30,
        description="days; older failing records that are in no issue are not clustered",
    )
    residue_records: int = Field(
        default=60,
        ge=20,
        le=5000,
        description="failing records in no issue from which they are clustered",
    )
    child_seconds: float = Field(
        default=600.0,
        gt=0,
        le=3600,
        description="longest run of the clustering process, which only gets idle CPU; then it is "
        "killed",
    )
    child_bytes: int = Field(
        default=1536 << 20,
        ge=256 << 20,
        description="most memory of the clustering process; above that it is killed",
    )
    topics: TopicSettings = TopicSettings()
    root_cause: RootCauseSettings = RootCauseSettings()
