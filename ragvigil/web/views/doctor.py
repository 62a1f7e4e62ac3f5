"""What the spans lack, as the API shows it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ragvigil.model.record import Absent


class GapForm(BaseModel):
    """A field that some records lack, and the line that brings it back."""

    model_config = ConfigDict(from_attributes=True)

    field: str
    reason: Absent
    records: int = Field(description="records that lack it")
    share: float = Field(description="of the records of this service and instrumentor, 0 to 1")
    instrumentor: str
    scope: str = Field(description="the instrumentation scope that should send it")
    rubrics_off: list[str] = Field(
        description="rubrics that do not apply without it; where empty, no score is lost"
    )
    fix: str


class DiagnosisForm(BaseModel):
    """One service and instrumentor: what arrives and what is missing."""

    model_config = ConfigDict(from_attributes=True)

    service: str
    instrumentor: str
    scope: str
    records: int
    present: dict[str, float | None] = Field(
        description="share of records that have a field; null where no record ran its step"
    )
    findings: list[GapForm] = Field(description="most records first")


class SpanSourceForm(BaseModel):
    """A service that sent spans: what they are, and what they lack where none is an answer."""

    model_config = ConfigDict(from_attributes=True)

    service: str
    spans: int
    scopes: dict[str, int] = Field(description="spans by instrumentation scope")
    kinds: list[str] = Field(
        description="kinds of its spans in sample traces (llm, retriever, server), commonest first"
    )
    answers: int
    part_of: list[str] = Field(description="services of which its spans are part of the answers")
    missing: str = Field(description="what its spans lack for an answer; empty where nothing")
    fix: str = Field(description="the line that adds what is missing")


class DoctorForm(BaseModel):
    """The last day: what arrives of the answers, and every service that sent spans."""

    services: list[DiagnosisForm] = Field(description="by service and instrumentor, with answers")
    sources: list[SpanSourceForm] = Field(
        description="every service that sent spans; of spans that are not kept nothing is known"
    )
    spans_kept: str = Field(
        default="all", description="the setting `store.spans`: all, rag or none"
    )
