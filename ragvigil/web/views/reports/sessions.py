"""Sessions as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from ragvigil.web.views.reports.releases import FigureForm


class SessionRubricForm(BaseModel):
    """A rubric on all sessions: 1 is good."""

    rubric: Literal["session_resolved", "session_direct"]
    asks: str
    mean: FigureForm | None


class SessionFiguresForm(BaseModel):
    """The sessions of a service that are over."""

    service: str
    environment: str
    sessions: int
    turns: int
    by: Literal["meaning", "words"] = Field(
        description="how questions that are asked again in other words are found: by vectors of "
        "the local model, or by words, which finds fewer"
    )
    why: str = Field(description="why by words; empty by meaning")
    turns_to_resolution: float | None = Field(
        description="mean turns of a question until its answer helped"
    )
    retries: FigureForm | None = Field(description="share of later turns that repeat the question")
    reformulations: FigureForm | None = Field(
        description="share of later turns that ask the same in other words"
    )
    escalations: FigureForm | None = Field(description="share of sessions")
    rubrics: list[SessionRubricForm]


class SessionsForm(BaseModel):
    """Services whose answers have a session id."""

    since: datetime
    share: float = Field(description="of the sessions that were drawn: 1 up to 5,000")
    services: list[SessionFiguresForm]
