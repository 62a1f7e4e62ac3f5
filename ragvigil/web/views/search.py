"""What a search found, as the API shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from ragvigil.web.views.records import RecordSummary
from ragvigil.web.views.verdict.scores import Number

By = Literal["words", "meaning"]


class NamedForm(BaseModel):
    """What has the id that was typed, or begins with it as nothing else does."""

    kind: Literal["traces", "records", "issues", "incidents", "golden"]
    id: str


class FoundRecordForm(RecordSummary):
    """An answer that was found."""

    likeness: Number = Field(
        default=None,
        description="cosine of its question's vector and that of the search; null by words",
    )


class VectorCountsForm(BaseModel):
    """Of the answers with a question that were looked at, how many have a vector of it."""

    answers: int
    with_vector: int


class SearchForm(BaseModel):
    """Answers that were found: by words the newest first, by meaning the nearest."""

    named: NamedForm | None = Field(
        description="the thing with this id, then nothing else is found"
    )
    by: By = Field(description="how it was looked for")
    why: str = Field(default="", description="why it was not looked for by meaning, as asked")
    vectors: VectorCountsForm | None = Field(
        default=None, description="how many answers can be found by meaning; null by words"
    )
    records: list[FoundRecordForm]
    since: datetime = Field(description="the earliest time that was looked at")
    until: datetime | None = Field(description="the time before which was looked, null for none")
    is_part: bool = Field(description="whether `since` is later than asked, as too many match")
    next: str | None = Field(description="`cursor` of the next page, null where this is the last")
