"""What stands around an issue: passing neighbours, incidents of its time, the price of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from pydantic import BaseModel, Field

from ragvigil.model.incident import Incident, IncidentState
from ragvigil.model.issue import Issue, Likeness
from ragvigil.web.views.values import time_or_none

HOUR_NANOS = 3600 * 10**9


class NeighbourForm(BaseModel):
    """A passing answer on the route of a representative, with the nearest question."""

    beside_trace_id: str = Field(description="of the representative")
    beside_record_id: str
    trace_id: str
    record_id: str
    time: datetime | None
    route: str
    question: str
    service_version: str
    prompt_version: str
    index_epoch: str
    llm_model: str
    by: Likeness = Field(description="the same question, the nearest by meaning, or by words")
    likeness: float = Field(
        description="0 to 1: the cosine of both questions, or the share of words that both have"
    )


class IncidentLinkForm(BaseModel):
    """An incident of the same layer and a route of the issue, at its time."""

    incident_id: str
    state: IncidentState
    since: datetime | None
    words: str = Field(description="what is worse")


class ExplainingForm(BaseModel):
    """What a root-cause report would cost now."""

    is_running: bool = Field(description="whether a report, of any issue, is being written")
    model: str = Field(description="empty where code alone would write it, for nothing")
    most_usd: float | None = Field(description="null where the model has no price")
    most_tokens: int | None = Field(description="null where dollars bound it")
    most_seconds: float


class PartForm(BaseModel):
    """An issue that was merged into another."""

    issue_id: str
    name: str


def incident_links(issue: Issue, incidents: Iterable[Incident]) -> Iterator[IncidentLinkForm]:
    """The incident whose answers it holds; else those of its layer, a route and time of it."""
    for incident in incidents:
        if issue.incident_id and issue.incident_id != incident.incident_id:
            continue
        is_here = (incident.service, incident.environment) == (issue.service, issue.environment)
        is_over = 0 < incident.resolved_unix_nano < issue.first_unix_nano - HOUR_NANOS
        words = [
            finding.words
            for finding in incident.findings
            if issue.incident_id
            or (finding.layer is issue.family and set(finding.routes) & set(issue.routes))
        ]
        if words and is_here and not is_over and incident.since_unix_nano <= issue.last_unix_nano:
            yield IncidentLinkForm(
                incident_id=incident.incident_id,
                state=incident.state,
                since=time_or_none(incident.since_unix_nano),
                words=words[0],
            )
