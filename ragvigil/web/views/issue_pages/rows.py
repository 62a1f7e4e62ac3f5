"""An issue as a row of the list, with all that its cells show. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ragvigil.model.figures import about, counted
from ragvigil.model.issue import IssueState
from ragvigil.model.text import one_line
from ragvigil.web.drawings.sparkline import Bars, bars
from ragvigil.web.views.issue_pages import problems, sentences
from ragvigil.web.views.issue_pages.sentences import Amount
from ragvigil.web.views.issues import IssueForm

ALARMING = (IssueState.NEW, IssueState.ESCALATING, IssueState.REGRESSED)
"""Their last day is drawn in alarm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueRow:
    """`name` is the one that people and tickets use, empty where the title says it already."""

    issue: IssueForm
    title: str
    name: str
    harmed: str
    amount: Amount
    share: str
    days: Bars
    bounds: str


def issue_row(issue: IssueForm, now: datetime) -> IssueRow:
    """The cells of an issue."""
    title = problems.title(issue)
    is_told = problems.is_named(issue) or issue.name.startswith(title)
    return IssueRow(
        issue=issue,
        title=title,
        name="" if is_told else one_line(issue.name, problems.MOST_NAME),
        harmed=about(issue.harmed_per_day),
        amount=sentences.amount(issue.count),
        share=sentences.traffic_share(issue),
        days=day_bars(issue),
        bounds=sentences.bounds(issue, now),
    )


def day_bars(issue: IssueForm) -> Bars:
    """Answers of each of the last 14 days."""
    total = sum(issue.days)
    says = (
        f"{counted(total, 'answer')} in 14 days, {issue.days[-1]} of them today, "
        f"at most {max(issue.days)} a day"
        if total
        else "no answer in 14 days"
    )
    is_alarm = issue.state in ALARMING and issue.days[-1] > 0
    return bars(issue.days, says=says, is_alarm=is_alarm)
