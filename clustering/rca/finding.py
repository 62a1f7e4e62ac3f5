"""The form of a finding, which the agent fills in to end its run."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragvigil.model.score import Layer
from ragvigil.model.text import one_line

Plain = Annotated[str, AfterValidator(one_line)]


class QuoteForm(BaseModel):
    """Words copied from a span."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(
        max_length=1000,
        description="words copied from a value of the span, exactly: a phrase, or a whole value",
    )
    trace_id: str
    span_id: str


class Grade(BaseModel):
    """A number from 1 to 5 and why."""

    model_config = ConfigDict(extra="forbid")

    grade: int = Field(ge=1, le=5)
    reason: Plain = Field(max_length=300)


class Finding(BaseModel):
    """Submits the result, which ends the search."""

    model_config = ConfigDict(extra="forbid")

    is_determinable: bool = Field(description="false where what is stored cannot tell the cause")
    cause: Plain = Field(
        default="", max_length=800, description="why these records fail; empty if not determinable"
    )
    missing: Plain = Field(
        default="", max_length=500, description="if not determinable: what one would have to know"
    )
    layer: Layer | None = Field(default=None, description="where it fails first")
    fix: Plain = Field(default="", max_length=500, description="what to do at once")
    quotes: list[QuoteForm] = Field(
        default=[], max_length=12, description="evidence; each is checked against its span"
    )
    severity: Grade | None = Field(default=None, description="5: users are harmed")
    frequency: Grade | None = Field(default=None, description="5: most requests")
    confidence: Grade | None = Field(default=None, description="5: the evidence proves the cause")
    effort: Grade | None = Field(default=None, description="effort of the fix; 5: a redesign")

    @property
    def grades(self) -> tuple[tuple[str, int, str], ...]:
        """Name, grade and reason of those that were given."""
        named = {name: getattr(self, name) for name in GRADES}
        return tuple((name, grade.grade, grade.reason) for name, grade in named.items() if grade)


GRADES = ("severity", "frequency", "confidence", "effort")
