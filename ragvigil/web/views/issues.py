"""Issues as the API shows them, and what people post about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from ragvigil.model.issue import (
    FailureKind,
    Issue,
    IssuePair,
    IssueState,
    IssueVerb,
    MemberBy,
    PairVerdict,
    Quote,
    RootCause,
)
from ragvigil.model.score import Layer, Stream
from ragvigil.store.issues.failing_rows import KeptFailure
from ragvigil.web.views.issue_evidence import (
    ExplainingForm,
    IncidentLinkForm,
    NeighbourForm,
    PartForm,
)
from ragvigil.web.views.posts import Name, PersonalPost, Text, Time
from ragvigil.web.views.values import time_or_none, view


class CountForm(BaseModel):
    """How many records an issue has."""

    seen: int
    about: float = Field(
        description="an estimate of all there are; `seen` where every record was scored"
    )
    low: float = Field(description="of `about`, 95 %")
    high: float
    apart: int = Field(description="seen because they looked suspicious; they are not extrapolated")


class TrafficForm(BaseModel):
    """Answers on an issue's routes in the last 24 hours, from its first member on."""

    failing: float = Field(description="its members, estimated")
    answers: int
    share: float | None = Field(description="null where nothing was asked")


class IssueForm(BaseModel):
    """A named cause of failing records."""

    issue_id: str
    service: str
    environment: str
    family: Layer = Field(description="the layer in which its records fail first")
    rubric: str
    label: str
    name: str
    state: IssueState
    first: datetime | None = Field(description="when its first member failed")
    last: datetime | None
    opened: datetime | None
    state_since: datetime | None
    count: CountForm
    days: list[int] = Field(description="members of the last 14 days (UTC), today last")
    is_provisional: bool = Field(description="one rubric and label; not a cluster yet")
    is_name_frozen: bool
    routes: list[str]
    assignee: str
    resolved_in: str = Field(description="release or index version; empty is `now`")
    resolved: datetime | None
    ignored_until: datetime | None
    ignored_members: int = Field(
        description="ignored until it has this many members; 0 is no bound"
    )
    merged_into: str = Field(description="the issue that has its members now; empty for none")
    incident_id: str = Field(description="the incident whose answers it holds; empty for none")
    harmed_per_day: float = Field(
        description="answers that it harms per day, estimated by the last 24 hours, or by the time "
        "since its first member where that is shorter"
    )
    traffic: TrafficForm
    message: list[str] = Field(description="at most six lines")


class BackgroundForm(BaseModel):
    """How often records fail outside of every issue, 7 days."""

    family: Layer
    failing: int
    requests: int
    rate: float = Field(description="after adding 2 failing of 400, for small counts")


class IssuesForm(BaseModel):
    """Issues, those first that surely harm most answers; resolved and ignored ones last.

    The lower bound of the estimate decides: a few answers of a small sample are no sure harm.
    """

    issues: list[IssueForm]
    found: int = Field(description="how many match, shown or not")
    next: str | None = Field(description="`cursor` of the next page, null where this is the last")
    open: int = Field(description="how many of those that match are neither resolved nor ignored")
    harmed_per_day: float = Field(description="by the open ones, estimated")
    unseen: int = Field(description="how many match but for `since` and `until`")
    owners: list[str] = Field(description="who has an issue, whatever the filter")
    not_grouped: int = Field(description="failing records of 7 days that are in no issue")
    pending_minutes: int | None = Field(
        description="minutes of traffic not grouped yet; null before the first grouping"
    )
    background: list[BackgroundForm] = Field(description="of the same services and routes")


class TraitForm(BaseModel):
    """A route, version or model of an issue's members."""

    name: str
    value: str
    members: int
    of_members: int = Field(description="members of which it is known")
    elsewhere: int = Field(description="other answers of the service with it, at most a week")
    of_elsewhere: int
    first: datetime | None
    last: datetime | None


class OtherForm(BaseModel):
    """Another issue that a record belongs to, with a lower strength."""

    issue_id: str
    strength: float


class MemberForm(BaseModel):
    """A failing record of an issue."""

    trace_id: str
    record_id: str
    time: datetime | None
    route: str
    kind: FailureKind
    rubric: str
    label: str
    rubrics: list[str] = Field(description="all that failed, upstream first")
    reason: str
    question: str | None
    stream: Stream
    inclusion_probability: float
    service_version: str
    prompt_version: str
    index_epoch: str
    llm_model: str
    by: MemberBy
    strength: float = Field(description="0 to 1")
    others: list[OtherForm]


class MembersForm(BaseModel):
    """Members of an issue, the newest first."""

    members: list[MemberForm]
    next: str | None = Field(description="`cursor` of the next page, null where this is the last")


class RetestForm(BaseModel):
    """Members of different questions, the newest first, and passing answers beside them."""

    service: str
    environment: str
    members: list[MemberForm]
    neighbours: list[NeighbourForm]


class IssueEventForm(BaseModel):
    """One step in the life of an issue."""

    time: datetime | None
    verb: IssueVerb
    actor: str = Field(description="empty for the daemon")
    text: str


class PairForm(BaseModel):
    """Two issues that look alike, the older one first."""

    kept: str
    kept_name: str
    merged: str
    merged_name: str
    verdict: PairVerdict = Field(description="apart: they are never proposed again")
    likeness: float = Field(description="cosine of their centroids")
    shared: float = Field(description="share of both members that fell into one cluster")
    time: datetime | None
    actor: str


class PairsForm(BaseModel):
    """Pairs of issues, the most alike first."""

    pairs: list[PairForm]


class GradeForm(BaseModel):
    """Severity, frequency, confidence or effort of the fix, 1 to 5."""

    name: str
    grade: int
    reason: str


class RootCauseForm(BaseModel):
    """A report on why an issue happens."""

    issue_id: str
    time: datetime | None
    by: str = Field(description="`code`, or the model that read the traces")
    cause: str = Field(description="empty where it could not be determined")
    ended: str
    layer: Layer | None
    fix: str
    quotes: list[Quote]
    grades: list[GradeForm]
    text: str
    turns: int
    cost_usd: float | None


class FacetForm(BaseModel):
    """A rubric that members of an issue fail; a member may fail several."""

    rubric: str
    members: int


class IssueStoryForm(IssueForm):
    """An issue with all that is known of it."""

    background: BackgroundForm = Field(description="of its family on its routes")
    traits: list[TraitForm] = Field(description="of each kind the commonest first")
    facets: list[FacetForm] = Field(
        description="the rubrics that its members fail, the commonest first"
    )
    representatives: list[MemberForm] = Field(
        description="those with a passing neighbour first, of these the most typical"
    )
    neighbours: list[NeighbourForm] = Field(
        description="of each representative the nearest question that passes, where there is one"
    )
    terms: list[str] = Field(
        description="phrases of its reasons that others do not have, as the report found them"
    )
    incidents: list[IncidentLinkForm]
    parts: list[PartForm] = Field(description="issues that were merged into it")
    explaining: ExplainingForm
    pairs: list[PairForm] = Field(description="proposed merges with others")
    root_cause: RootCauseForm | None
    events: list[IssueEventForm] = Field(description="the oldest first")


class ExplainPost(PersonalPost):
    """Asks for the root cause; there is nothing to say."""


class IssueActPost(PersonalPost):
    """What a person does about an issue, and why."""

    text: Text = Field(default="", description="why, in words")
    until: Time | None = Field(default=None, description="ignore: until then")
    count: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0, description="ignore: until this many more members came"
    )
    for_ever: bool = Field(default=False, description="ignore: for ever")
    release: Name = Field(
        default="", description="resolve: in this release or index version; empty is now"
    )
    name: Name = Field(default="", description="rename: the name; assign: who; empty is nobody")
    other: Name = Field(default="", description="merge: the issue it is merged with")


def issue_form(
    issue: Issue,
    *,
    count: CountForm,
    days: Sequence[int],
    message: Sequence[str],
    harmed_per_day: float,
    traffic: TrafficForm,
) -> IssueForm:
    """An issue with its counts and its message, at most six lines."""
    return view(
        IssueForm,
        issue,
        state=issue.state,  # the name of its time without the unit is the same
        state_since=time_or_none(issue.state_unix_nano),
        count=count,
        days=days,
        message=message,
        harmed_per_day=harmed_per_day,
        traffic=traffic,
    )


def members_form(members: Sequence[KeptFailure], *, has_more: bool) -> MembersForm:
    """A page of members; `next` leads on from the last."""
    last = members[-1].failure if has_more else None
    place = f"{last.time_unix_nano}-{last.trace_id}-{last.record_id}" if last else None
    return MembersForm(members=[member_form(member) for member in members], next=place)


def member_form(member: KeptFailure) -> MemberForm:
    """A failing record with its membership, if it has one."""
    membership = member.membership
    if membership is None:
        return view(MemberForm, member.failure)
    others = [
        OtherForm(issue_id=issue_id, strength=strength) for issue_id, strength in membership.others
    ]
    return view(
        MemberForm,
        member.failure,
        by=membership.by,
        strength=membership.strength,
        others=others,
    )


def pair_form(pair: IssuePair, names: Mapping[str, str]) -> PairForm:
    """A pair as the API shows it; `names` by issue id."""
    return view(
        PairForm,
        pair,
        kept_name=names.get(pair.kept, ""),
        merged_name=names.get(pair.merged, ""),
    )


def cause_form(report: RootCause) -> RootCauseForm:
    """A root-cause report as the API shows it, without its transcript."""
    grades = [
        GradeForm(name=name, grade=grade, reason=reason) for name, grade, reason in report.grades
    ]
    return view(RootCauseForm, report, grades=grades)
