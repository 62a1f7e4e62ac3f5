"""What the spans lack, as the API shows it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from ragvigil.model.record import Absent


class GapForm(BaseModel):
    """A field that some records lack, and the line that brings it back."""

    field: str
    reason: Absent
    records: int = Field(description="records that lack it")
    share: float = Field(description="of the records of this service and instrumentor, 0 to 1")
    instrumentor: str
    scope: str = Field(description="the instrumentation scope that should send it")
    rubrics_off: list[str] = Field(description="rubrics that do not apply without it")
    fix: str


class DiagnosisForm(BaseModel):
    """One service and instrumentor: what arrives and what is missing."""

    service: str
    instrumentor: str
    scope: str
    records: int
    present: dict[str, float | None] = Field(
        description="share of records that have a field; null where no record ran its step"
    )
    findings: list[GapForm] = Field(description="most records first")


class DoctorForm(BaseModel):
    """By service and instrumentor."""

    services: list[DiagnosisForm]
