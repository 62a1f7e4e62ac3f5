"""Settings of assembly: when a trace closes, and how much memory open and closed traces use."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class AssemblyLimits(BaseModel):
    """`[collector.assembly]`: when a trace closes, and how much memory traces use."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quiet_seconds: float = Field(
        default=2.0, gt=0, description="a trace closes this long after its last span, root seen"
    )
    idle_seconds: float = Field(
        default=60.0,
        gt=0,
        description="a trace without a root closes after this long without spans",
    )
    max_age_seconds: float = Field(
        default=600.0, gt=0, description="a trace closes at this age, whatever still arrives"
    )
    late_seconds: float = Field(
        default=600.0, ge=0, description="a late span re-scores a trace this long after it closed"
    )
    max_spans: int = Field(
        default=5_000, ge=1, description="a trace closes at so many spans and log records"
    )
    max_bytes: int = Field(
        default=16 << 20, ge=1, description="a trace closes at so many encoded bytes"
    )
    max_open_traces: int = Field(
        default=100_000, ge=1, description="above so many open traces the oldest closes early"
    )
    max_remembered_bytes: int = Field(
        default=256 << 20,
        ge=0,
        description="memory for closed traces that may still get late spans",
    )
