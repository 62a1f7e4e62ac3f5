"""What the page Now says, as values. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from ragvigil.model.issue import Issue, IssueLine, IssueState
from ragvigil.model.score import Layer
from ragvigil.web.views.audits import AuditForm
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.incidents import IncidentForm
from ragvigil.web.views.triage.layers import CellForm, RouteRowForm
from ragvigil.web.views.triage.next_step import StepForm
from ragvigil.web.views.values import view

URGENT = (IssueState.REGRESSED, IssueState.ESCALATING, IssueState.NEW)
LASTING = (IssueState.ONGOING, IssueState.ACKNOWLEDGED)


class IssueLinkForm(BaseModel):
    """An issue in a line."""

    issue_id: str
    name: str
    family: Layer
    state: IssueState
    rubric: str
    label: str = Field(description="of the failing scores")
    routes: list[str]
    first: datetime | None
    last: datetime | None
    members: int = Field(description="failing answers in it")
    incident_id: str = Field(description="the incident whose answers it holds; empty for none")


class OpenIncidentForm(BaseModel):
    """An incident that is not resolved, in sentences."""

    incident: IncidentForm
    heading: str
    lead: str
    state: str = Field(description="page or ticket, and what became of it")
    owner: str
    route: str = Field(description="of its main finding; empty for several or all")
    rubric: str = Field(description="whose mean shows it best, else of its main finding")
    cell: CellForm | None = Field(description="that rubric's mean of 6 h; null without any")
    worse: str
    worse_support: str
    layer_support: str
    change: ChangeForm | None = Field(description="the likeliest cause among what changed")
    change_support: str
    issue: IssueLinkForm | None
    next: StepForm


class NowAuditForm(AuditForm):
    """A running audit, with the change that it is about."""

    letter: str = Field(description="of its change; empty where that has none")


class NowForm(BaseModel):
    """Is something wrong?"""

    sentence: str = Field(description="the answer")
    lead: str
    is_alarm: bool = Field(description="whether an incident is open that is not snoozed")
    incidents: list[OpenIncidentForm] = Field(description="pages first, then the newest")
    table: str = Field(description="how the routes stand, in a sentence")
    routes: list[RouteRowForm] = Field(description="what got worse first, then the busiest")
    has_corpus_measure: bool = Field(description="whether anything tells if documents are true")
    changes: list[ChangeForm] = Field(
        description="of 24 h, or the last one before, and those behind incidents; newest first"
    )
    audits: list[NowAuditForm] = Field(description="running, the newest first")
    last_audit: NowAuditForm | None = Field(description="the newest that has ended, of 7 days")
    new_issues: list[IssueLinkForm] = Field(description="new, escalating or back; newest first")
    small_issues: int = Field(description="further new ones, of too few answers to be news")
    other_issues: int = Field(description="open issues besides")
    answers: int = Field(description="of 24 h")
    last_answer: datetime | None
    last_resolved: IncidentForm | None = Field(description="of 7 days")

    @property
    def is_worse(self) -> bool:
        """Whether a layer of a route is worse, be it expected or not."""
        return any(row.state.is_alarm for row in self.routes)


def issue_link(issue: Issue | IssueLine) -> IssueLinkForm:
    """An issue in a line."""
    return view(IssueLinkForm, issue, state=issue.state)


def now_audit(audit: AuditForm, changes: Sequence[ChangeForm]) -> NowAuditForm:
    """An audit with the letter of the change that it is about."""
    letters = [change.letter for change in changes if set(change.ids) & set(audit.sources)]
    return NowAuditForm(**dict(audit), letter=letters[0] if letters else "")
