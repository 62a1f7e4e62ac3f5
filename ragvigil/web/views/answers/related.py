"""What is beside an answer: its issue, incidents, and the same question at another version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import BaseModel, Field

from ragvigil.model.incident import Incident, IncidentState
from ragvigil.web.views.records import RecordForm

VERSIONS = {
    "prompt_version": "prompt",
    "llm_model": "model",
    "index_epoch": "index",
    "service_version": "release",
}
"""What a change may have changed, the most telling first, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAndNeighbours:
    """A record, and the nearest ones to the same question at the versions before and after."""

    record: RecordForm
    before: RecordForm | None = None
    after: RecordForm | None = None


class IssueLink(BaseModel):
    """The issue that an answer is in."""

    issue_id: str
    name: str
    heading: str = Field(description="what its answers do wrong, in words")
    state: str


class IncidentLink(BaseModel):
    """An incident that an answer belongs to."""

    incident_id: str
    heading: str
    state: IncidentState


class UsualForm(BaseModel):
    """How many answers of a route had each value in the day before."""

    rubric: str
    segment: str
    answers: list[int] = Field(description="by value, rounded to a twentieth: 0, 0.05 … 1")


class RelatedForm(BaseModel):
    """What is beside an answer; null and empty where nothing is known."""

    before: RecordForm | None = Field(
        description="the nearest answer to the same question before, at another version"
    )
    after: RecordForm | None = Field(description="the nearest such answer after")
    issue: IssueLink | None
    incidents: list[IncidentLink]
    usual: list[UsualForm] = Field(description="of the route, by rubric and segment")


def is_of(incident: Incident, answer: RecordForm) -> bool:
    """Whether an incident names the trace, or a failing answer came on its routes in its time."""
    if incident.environment not in ("", answer.environment):
        return False
    if any(answer.trace_id in finding.traces for finding in incident.findings):
        return True
    routes = {route for finding in incident.findings for route in finding.routes}
    begin = datetime.fromtimestamp(incident.since_unix_nano / 1e9, UTC)
    end = incident.resolved_unix_nano
    is_in_time = begin <= answer.time and (
        not end or answer.time <= datetime.fromtimestamp(end / 1e9, UTC)
    )
    is_on_route = answer.route in routes or not any(routes)
    return answer.verdict.state == "fails" and is_in_time and is_on_route


def change_words(before: RecordForm, after: RecordForm) -> str:
    """What differs between two answers, in words; the first of prompt, model, index, release."""
    for name, word in VERSIONS.items():
        old, new = (str(each.dimensions.get(name) or "") for each in (before, after))
        if old != new:
            return f"{word} {old or 'unknown'} → {new or 'unknown'}"
    return ""
