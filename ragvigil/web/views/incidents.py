"""Incidents as the API shows them, and what people post about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from ragvigil.model.finding import FindingKind
from ragvigil.model.incident import Incident, IncidentEvent, IncidentState, Severity, Verb
from ragvigil.model.notice import Cause, ChangeKind
from ragvigil.model.score import Layer
from ragvigil.store.watch.incidents import PageCounts
from ragvigil.web.views.layer_health import LayerHealthForm
from ragvigil.web.views.posts import Name, PersonalPost, Text, Time
from ragvigil.web.views.values import view


class FindingForm(BaseModel):
    """One signal that is, or was, worse."""

    finding_id: str
    kind: FindingKind
    routes: list[str]
    signal: str
    layer: Layer
    causes: list[Cause]
    value: float | None
    reference: float | None = Field(description="the ceiling of a broken rate, else before")
    low: float | None = Field(description="of the change, 95 %")
    high: float | None
    n: int
    since: datetime | None
    seen: datetime | None
    cleared: datetime | None = Field(description="null while it lasts")
    traces: list[str]
    words: str
    is_untrusted: bool = Field(
        default=False,
        description="it pages nobody: its judge is retired, or it is a local model beside a judge",
    )

    def is_on(self, route: str) -> bool:
        """Whether it is on this route: it names it, or none, as those of a whole service."""
        return route in self.routes or not any(self.routes)


class SuspectForm(BaseModel):
    """A change that precedes an incident, or that put such a change back."""

    notice_id: str
    kind: ChangeKind
    route: str = Field(description="empty for all routes")
    since: datetime | None
    share: float = Field(description="of the newest requests that show it")
    before: str
    after: str


class EventForm(BaseModel):
    """One step in the life of an incident."""

    time: datetime | None
    verb: Verb
    actor: str = Field(description="empty for the daemon")
    text: str


class LikelyLayerForm(BaseModel):
    """A layer that it may be."""

    model_config = ConfigDict(from_attributes=True)

    cause: Cause
    share: float = Field(description="how likely it is, 0 to 1")
    part: str = Field(description="the part of the layer, like `reranker`; empty where open")


class LayerVerdictForm(BaseModel):
    """Which layer it is, and what that rests on."""

    model_config = ConfigDict(from_attributes=True)

    cause: Cause | None = Field(default=None, description="null while undetermined")
    part: str = Field(
        default="", description="the part of the layer, like `reranker`; empty where open"
    )
    likely: list[LikelyLayerForm] = Field(default=[], description="the likeliest first")
    supports: list[str] = Field(default=[], description="evidence for the likeliest layer")
    contradicts: list[str] = Field(default=[], description="evidence against it")
    missing: list[str] = Field(default=[], description="what was not measured")
    settles: str = Field(
        default="", description="what would settle it; empty once a layer is named"
    )
    goes_with: list[str] = Field(
        default=[], description="values of dimensions that the drop goes with, in words"
    )
    is_blind: bool = Field(
        default=False, description="the spans lack what they had; no layer is at fault"
    )


class IncidentForm(BaseModel):
    """Everything that one cause made worse."""

    incident_id: str
    service: str
    environment: str
    state: IncidentState
    severity: Severity
    cause: Cause | None = Field(description="null while undetermined")
    verdict: LayerVerdictForm = Field(
        default=LayerVerdictForm(), description="which layer it is, and what that rests on"
    )
    opened: datetime | None
    since: datetime | None = Field(description="the earliest onset")
    paged: datetime | None
    resolved: datetime | None
    snoozed_until: datetime | None
    assignee: str
    is_false_page: bool
    is_expected: bool
    message: list[str] = Field(description="at most six lines")
    findings: list[FindingForm]
    suspects: list[SuspectForm] = Field(description="the most likely first")


class IncidentStoryForm(IncidentForm):
    """An incident with everything that was done."""

    events: list[EventForm]


class PagesForm(BaseModel):
    """How many pages were right."""

    pages: int
    judged: int = Field(description="pages that a person marked right or false")
    false_pages: int
    precision: float | None = Field(description="1 - false pages / judged; null before any")


class IncidentsForm(BaseModel):
    """Incidents, newest first."""

    incidents: list[IncidentForm]
    pages: PagesForm


class WhyForm(BaseModel):
    """What is wrong and why, for a person."""

    lines: list[str] = Field(description="at most ten")
    layer_health: list[LayerHealthForm] = Field(
        default_factory=list, description="each layer over a day, with its parts; it never pages"
    )


class ActPost(PersonalPost):
    """What a person does about an incident, and why."""

    text: Text = Field(default="", description="why, in words")
    until: Time | None = Field(default=None, description="when a snooze ends")
    name: Name = Field(default="", description="assign: who has it now; empty is nobody")


def incident_form(incident: Incident, message: Sequence[str]) -> IncidentForm:
    """An incident with its message, at most six lines."""
    return view(
        IncidentForm,
        incident,
        message=message,
        findings=[view(FindingForm, finding) for finding in incident.findings],
        suspects=[view(SuspectForm, notice) for notice in incident.suspects],
    )


def incident_story(incident: IncidentForm, events: Sequence[IncidentEvent]) -> IncidentStoryForm:
    """An incident with everything that was done, the oldest step first."""
    return IncidentStoryForm(**dict(incident), events=[view(EventForm, event) for event in events])


def pages_form(counts: PageCounts) -> PagesForm:
    """How many pages were right, from their counts."""
    return view(PagesForm, counts, precision=counts.precision)
