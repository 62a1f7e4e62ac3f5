"""Change notices as the API shows them."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from ragvigil.model.notice import CAUSES, Cause, ChangeKind, Notice
from ragvigil.web.views.values import view


class NoticeForm(BaseModel):
    """One change on one route."""

    id: str
    kind: ChangeKind
    service: str
    environment: str
    route: str
    since: datetime = Field(description="time of the first request that shows it")
    noticed: datetime = Field(description="time of the request at which it was certain")
    requests: int = Field(description="requests of the route between them")
    share: float = Field(description="of the newest requests: under 1 while a change rolls out")
    before: str
    after: str
    causes: list[Cause] = Field(description="what such a change can explain; empty is anything")
    evidence: dict[str, object]


class NoticesForm(BaseModel):
    """Changes, the newest first."""

    notices: list[NoticeForm]


def notice_form(notice: Notice) -> NoticeForm:
    """A notice as the API shows it, with what such a change can explain."""
    return view(NoticeForm, notice, id=notice.notice_id, causes=CAUSES[notice.kind])
