"""Labels as the API shows them."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from ragvigil.store.scores.labels import Label
from ragvigil.web.views.values import view

Number = float | None


class LabelForm(BaseModel):
    """A person's verdict on an answer by one rubric."""

    id: str
    rubric: str
    trace_id: str
    record_id: str = Field(description="empty for the trace's only record")
    value: Number
    label: str
    labeller: str
    source: str
    comment: str
    time: datetime


class LabelsForm(BaseModel):
    """Labels that match, newest first."""

    labels: list[LabelForm]


def label_form(label: Label) -> LabelForm:
    """A label as the API shows it."""
    return view(LabelForm, label, id=label.label_id)
