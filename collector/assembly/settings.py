"""Settings of assembly: when a trace closes, and how much memory open and closed traces use."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class AssemblyLimits(BaseModel):
    """`[collector.assembly]`: when a trace closes, and how much memory traces use."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    quiet_seconds: float = Field(
        default=2.0, gt=0, description="a trace with a root closes this long after its last span"
    )
    idle_seconds: float = Field(
        default=60.0,
        gt=0,
        description="a trace without a root closes this long after its last span",
    )
    max_age_seconds: float = Field(
        default=600.0, gt=0, description="a trace closes at this age, even if spans still arrive"
    )
    late_seconds: float = Field(
        default=600.0,
        ge=0,
        description="a late span re-scores its trace up to this long after closing",
    )
    max_spans: int = Field(
        default=5_000, ge=1, description="a trace closes at this number of spans and log records"
    )
    max_bytes: int = Field(
        default=16 << 20, ge=1, description="a trace closes at this number of encoded bytes"
    )
    max_open_traces: int = Field(
        default=100_000,
        ge=1,
        description="with more open traces than this, the oldest closes early",
    )
    max_remembered_bytes: int = Field(
        default=256 << 20,
        ge=0,
        description="bytes of memory for closed traces that may still get late spans",
    )
