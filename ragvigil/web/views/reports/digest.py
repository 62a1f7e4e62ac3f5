"""The digest of a week: what a person should read, decide and renew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from statistics import median

from pydantic import BaseModel, Field

from ragvigil.model.golden import CaseState, GoldenCase
from ragvigil.store.reports.failures_to_read import FailureToRead
from ragvigil.web.views.judges import JudgeForm
from ragvigil.web.views.topics import TopicMapForm
from ragvigil.web.views.values import time_or_none, view

DAY = 86_400
MOST_PROPOSALS = 10
SIGNED = (CaseState.SIGNED, CaseState.PASSING)


class FailureForm(BaseModel):
    """A failing answer to read."""

    service: str
    environment: str
    route: str
    trace_id: str
    record_id: str
    time: datetime
    rubric: str
    label: str
    question: str
    reason: str
    issue_id: str
    issue: str = Field(description="its name; empty where it is in none")
    failing: int = Field(description="answers that failed of the same cause")


class UncoveredForm(BaseModel):
    """A large topic without a golden case."""

    service: str
    environment: str
    topic_id: str
    name: str
    share: float | None = Field(description="of the questions")
    failing: float | None = Field(description="share of its questions that fail")
    example: str


class ProposalForm(BaseModel):
    """A golden case that waits for a person."""

    case_id: str
    service: str
    question: str
    proposed: datetime | None
    proposed_by: str


class GoldenAgeForm(BaseModel):
    """How old the set is."""

    cases: int = Field(description="signed")
    newest: datetime | None = Field(description="when the last one was signed")
    oldest: datetime | None
    median_days: float | None


class TrustForm(BaseModel):
    """Whether a judge may be believed."""

    rubric: str
    judge: str
    state: str
    reason: str
    kappa: float | None
    low: float | None
    high: float | None
    labels: int
    missing: int


class DigestForm(BaseModel):
    """What a person should read, decide and renew; `failures` has one of each cause first."""

    since: datetime
    until: datetime
    failures: list[FailureForm]
    uncovered: list[UncoveredForm]
    waiting: int = Field(description="proposals in all")
    proposals: list[ProposalForm] = Field(description="the oldest ten")
    golden: GoldenAgeForm
    judges: list[TrustForm]


def digest(
    since: datetime,
    until: datetime,
    *,
    failures: Iterable[FailureToRead],
    maps: Iterable[TopicMapForm],
    cases: Sequence[GoldenCase],
    judges: Iterable[JudgeForm],
) -> DigestForm:
    """Puts the parts together; `cases` are all of a place or of all places."""
    waiting = sorted(
        (case for case in cases if case.state is CaseState.PROPOSED),
        key=lambda case: case.proposed_unix_nano,
    )
    return DigestForm(
        since=since,
        until=until,
        failures=[view(FailureForm, failure) for failure in failures],
        uncovered=uncovered(maps),
        waiting=len(waiting),
        proposals=[_proposal(case) for case in waiting[:MOST_PROPOSALS]],
        golden=golden_age(
            [time_or_none(case.approved_unix_nano) for case in cases if case.state in SIGNED], until
        ),
        judges=[TrustForm.model_validate(judge.model_dump()) for judge in judges],
    )


def uncovered(maps: Iterable[TopicMapForm]) -> list[UncoveredForm]:
    """The large topics without a golden case."""
    return [
        UncoveredForm(
            service=topic_map.service,
            environment=topic_map.environment,
            topic_id=topic.topic_id,
            name=topic.name,
            share=topic.asked.share,
            failing=topic.failing.share,
            example=next(iter(topic.examples), ""),
        )
        for topic_map in maps
        for topic in topic_map.topics
        if topic.is_gap
    ]


def _proposal(case: GoldenCase) -> ProposalForm:
    return view(ProposalForm, case)


def golden_age(signed: Sequence[datetime | None], now: datetime) -> GoldenAgeForm:
    """How old signed cases are, by the time of each signature; None where that is not known."""
    times = sorted(filter(None, signed))
    days = [(now - time).total_seconds() / DAY for time in times]
    return GoldenAgeForm(
        cases=len(signed),
        newest=times[-1] if times else None,
        oldest=times[0] if times else None,
        median_days=round(median(days), 1) if days else None,
    )
