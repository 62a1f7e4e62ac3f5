"""The life of an incident as steps in time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from pydantic import BaseModel, Field

from ragvigil.model.audit import AuditState
from ragvigil.model.figures import counted
from ragvigil.model.incident import Verb
from ragvigil.web.views.audits import AuditForm
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.incidents import IncidentStoryForm

TITLES = {
    Verb.OPENED: "Opened",
    Verb.JOINED: "More of it",
    Verb.ESCALATED: "Became a page",
    Verb.CLEARED: "Over",
    Verb.ACKNOWLEDGE: "Taken",
    Verb.SNOOZE: "Snoozed",
    Verb.EXPECTED: "Called expected",
    Verb.FALSE_PAGE: "Called a false page",
    Verb.RESOLVE: "Resolved",
    Verb.ASSIGN: "Handed over",
    Verb.NOTE: "Note",
}
ENDS = {
    AuditState.DROPPED: ("Audit confirms", "confirmed"),
    AuditState.STEADY: ("Audit rules a drop out", "ruled out"),
    AuditState.UNDECIDED: ("Audit ends undecided", "undecided"),
}
SHORT = {
    Verb.OPENED: "opened",
    Verb.ESCALATED: "paged",
    Verb.CLEARED: "over",
    Verb.ACKNOWLEDGE: "taken",
    Verb.SNOOZE: "snoozed",
    Verb.RESOLVE: "resolved",
}
"""What stands beside the mark in the chart."""
MOST_STEPS = 6


class StepInTimeForm(BaseModel):
    """Something that happened."""

    time: datetime
    title: str
    text: str
    short: str = Field(description="one word for the chart; empty for none")
    letter: str = Field(description="of a change; empty for other steps")
    is_onset: bool


def timeline(
    incident: IncidentStoryForm, change: ChangeForm | None, audits: Iterable[AuditForm]
) -> list[StepInTimeForm]:
    """Change, onset, notice, and what was done since, the oldest first."""
    steps = [*_before(incident, change), *_since(incident), *_audited(audits)]
    # A change stands before what began in its minute.
    return sorted(
        steps, key=lambda step: (step.time.replace(second=0, microsecond=0), not step.letter)
    )


def shown(steps: list[StepInTimeForm]) -> list[StepInTimeForm]:
    """The steps for the line under the chart: notes and what joined are left out, then the middle.

    The first steps tell the cause, the last ones where it stands.
    """
    main = [step for step in steps if step.short or step.letter or step.is_onset]
    if len(main) <= MOST_STEPS:
        return main
    return [*main[: MOST_STEPS // 2], *main[-MOST_STEPS // 2 :]]


def _before(incident: IncidentStoryForm, change: ChangeForm | None) -> Iterator[StepInTimeForm]:
    if change is not None:
        declared = "declared" if change.is_declared else "no release declared"
        yield _step(change.time, change.words, declared, letter=change.letter)
        if change.noticed is not None:
            after = f"after {counted(change.requests, 'request')}"
            yield _step(change.noticed, "Change noticed", after, short="noticed")
    if incident.since is not None:
        yield _step(incident.since, "It began", "", short="began", is_onset=True)


def _since(incident: IncidentStoryForm) -> Iterator[StepInTimeForm]:
    for event in incident.events:
        if event.time is None:
            continue
        is_paged = event.verb is Verb.OPENED and event.time == incident.paged
        title = "Paged" if is_paged else TITLES[event.verb]
        by = f" by {event.actor}" if event.actor else ""
        short = "paged" if is_paged else SHORT.get(event.verb, "")
        yield _step(event.time, f"{title}{by}", event.text, short=short)


def _audited(audits: Iterable[AuditForm]) -> Iterator[StepInTimeForm]:
    for audit in audits:
        if audit.ended is not None:
            title, short = ENDS.get(audit.state, ("Audit ended", "audited"))
            pairs = f"{counted(audit.pairs, 'pair')} of answers"
            yield _step(audit.ended, title, pairs, short=short)


def _step(
    time: datetime,
    title: str,
    text: str,
    *,
    short: str = "",
    letter: str = "",
    is_onset: bool = False,
) -> StepInTimeForm:
    return StepInTimeForm(
        time=time, title=title, text=text, short=short, letter=letter, is_onset=is_onset
    )
