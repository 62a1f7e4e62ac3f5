"""Prometheus metrics of issues: how many, their members, and those that are worth a ticket.

No label is a trace or user id. A value stays until the next call replaces it.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import TypeAlias

from prometheus_client import Counter, Gauge

from clustering.issues.message import MOST_CHARACTERS, Message
from ragvigil.model.issue import Failure, Issue, IssueState
from ragvigil.model.text import visible

MOST_OPEN = 50
LEAST_MEMBERS = 20
"""From here on an issue's name is frozen, so a ticket keeps it."""
LEAST_A_DAY = 8
"""This many members in one day (UTC) would be a cluster by themselves."""
URGENT = (IssueState.REGRESSED, IssueState.ESCALATING, IssueState.NEW)
Key: TypeAlias = tuple[str, ...]
Place: TypeAlias = Callable[[str, str, str], Key]
"""Service, environment and route as labels: beyond a bound they share one value."""

ISSUES = Gauge("ragvigil_issues", "Issues by state.", ["service", "environment", "state"])
MEMBERS = Counter(
    "ragvigil_issue_members_total",
    "Failing records that joined an issue since the process started.",
    ["service", "environment", "route", "family"],
)
OPEN = Gauge(
    "ragvigil_issue_open",
    "1 for every issue that is worth a ticket: regressed, escalating, or new and not tiny.",
    ["issue", "service", "environment", "state", "layer"],
)
MESSAGE = Gauge(
    "ragvigil_issue_message",
    "1 for the same issues; the labels are the parts of the message.",
    ["issue", *(part.name for part in fields(Message))],
)
HIDDEN = Gauge("ragvigil_issues_hidden", f"Such issues beyond the {MOST_OPEN} that are exposed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposedIssue:
    """An issue with its message; `days` are its members on each day (UTC).

    `is_of_first_day` says that it was opened within a day of its service's first answer.
    """

    issue: Issue
    days: Sequence[int]
    message: Message
    is_of_first_day: bool = False


def count_members(failures: Iterable[Failure], place: Place) -> None:
    """Counts records that joined an issue."""
    for failure in failures:
        labels = (*place(failure.service, failure.environment, failure.route), failure.family.value)
        MEMBERS.labels(*map(_label, labels)).inc()


def show(issues: Iterable[Issue], place: Place) -> None:
    """Replaces the numbers of issues by state; the caller leaves merged issues out."""
    counts: Counts[Key] = Counts()
    for issue in issues:
        service, environment, _ = place(issue.service, issue.environment, "")
        for state in IssueState:
            counts[service, environment, state.value] += state is issue.state
    _replace(ISSUES, {key: float(count) for key, count in counts.items()})


def show_open(issues: Iterable[ExposedIssue]) -> None:
    """Replaces the exposed issues: those worth a ticket, the most urgent MOST_OPEN."""
    worth = sorted(filter(is_worth_a_ticket, issues), key=_urgency)
    exposed = worth[:MOST_OPEN]
    _replace(OPEN, {_open_key(shown.issue): 1.0 for shown in exposed})
    _replace(MESSAGE, {(shown.issue.issue_id, *astuple(shown.message)): 1.0 for shown in exposed})
    HIDDEN.set(len(worth) - len(exposed))


def is_worth_a_ticket(shown: ExposedIssue) -> bool:
    """Regressed, escalating and new issues are; a new provisional one with 20 members or 8 a day.

    Any three records with one rubric and label may open a provisional issue: too little for a
    ticket. Of an incident's answers the incident has told already. An issue of a service's first
    day may be what fails there anyhow: nothing is known to compare it with.
    """
    if shown.issue.state is not IssueState.NEW:
        return shown.issue.state in URGENT
    if shown.issue.incident_id or shown.is_of_first_day:
        return False
    is_large = shown.issue.members >= LEAST_MEMBERS or max(shown.days, default=0) >= LEAST_A_DAY
    return is_large or not shown.issue.is_provisional


def _urgency(shown: ExposedIssue) -> tuple[int, int, str]:
    """By state, then the oldest first, so that the exposed set does not change by itself."""
    return (URGENT.index(shown.issue.state), shown.issue.opened_unix_nano, shown.issue.issue_id)


def _open_key(issue: Issue) -> Key:
    return (issue.issue_id, issue.service, issue.environment, issue.state.value, issue.family.value)


def _replace(gauge: Gauge, values: Mapping[Key, float]) -> None:
    """Sets the new values before it removes old ones: a scrape between them misses nothing."""
    values = {tuple(map(_label, key)): value for key, value in values.items()}
    for key, value in values.items():
        gauge.labels(*key).set(value)
    shown = {
        tuple(sample.labels.values()) for metric in gauge.collect() for sample in metric.samples
    }
    for key in shown - set(values):
        gauge.remove(*key)


def _label(text: str) -> str:
    """A label value; names that differ only by what is no glyph stay apart."""
    flat = visible(text)
    return flat if len(flat) <= MOST_CHARACTERS else f"{flat[: MOST_CHARACTERS - 1]}…"
