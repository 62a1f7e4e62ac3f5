"""Moves an issue between states as time passes and members come. Pure.

The daemon never removes a state that a person set, with three exceptions: an issue that was ignored
for a time or a count returns, a resolved issue that comes back in a later release is `regressed`,
and any other escalates when it grows faster than forecast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clustering.issues.forecast import Hour, is_above_forecast
from clustering.issues.verbs import NANOS, entered
from ragvigil.model.issue import TRIAGED, Failure, Issue, IssueEvent, IssueState, IssueVerb

HOUR = 3600.0
DAY = 24 * HOUR
NEW_SECONDS = 7 * DAY
"""How long an issue stays new, or regressed."""
STALE_SECONDS = 14 * DAY
ESCALATING_SECONDS = 7 * DAY
"""After a week a higher rate is no escalation any more: it is the usual rate."""
CALM_HOURS = 6
LEAST_RETURNED = 5
TIMES_BACKGROUND = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How an issue grows. `hours` are full hours, oldest first, up to now.

    `issues` is how many are tested each hour. `returned` counts its members since it was resolved
    for which `is_from_later_release` holds. `background` is how many failures of its family the
    background explains in that time.
    """

    hours: Sequence[Hour] = ()
    issues: int = 1
    returned: int = 0
    background: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSeen:
    """When a service was first seen with a release, and with an index version; unix nanoseconds."""

    service_versions: Mapping[str, int] = field(default_factory=dict)
    index_epochs: Mapping[str, int] = field(default_factory=dict)


def is_from_later_release(failure: Failure, issue: Issue, first_seen: FirstSeen) -> bool:
    """Whether a member of a resolved issue shows that the issue is back.

    Where it was resolved in a named release or index version, the failure must be of that version
    or of one first seen after it. Where it was resolved "now", of a version first seen since. A
    failure without versions counts by its time alone, else in a service without versions no issue
    would ever return.
    """
    if failure.time_unix_nano < issue.resolved_unix_nano:
        return False
    of_failure = [
        (first_seen.service_versions, failure.service_version),
        (first_seen.index_epochs, failure.index_epoch),
    ]
    if not any(name for _, name in of_failure):
        return True
    return any(
        name and first.get(name, failure.time_unix_nano) >= since
        for first, name in of_failure
        if (since := _since(issue, first)) is not None
    )


def _since(issue: Issue, first: Mapping[str, int]) -> int | None:
    """When the fix was first seen, by versions of one kind; None if it is not of this kind."""
    return first.get(issue.resolved_in) if issue.resolved_in else issue.resolved_unix_nano


def aged(
    issue: Issue, now: float, pace: Pace, *, stale_seconds: float = STALE_SECONDS
) -> tuple[Issue, tuple[IssueEvent, ...]]:
    """The issue at `now` (seconds since the epoch) and its events; at most one step a call."""
    step = None if issue.merged_into else _step(issue, now, pace, stale_seconds)
    if step is None:
        return issue, ()
    state, verb, text = step
    time_unix_nano = int(now * NANOS)
    event = IssueEvent(issue_id=issue.issue_id, time_unix_nano=time_unix_nano, verb=verb, text=text)
    return entered(issue, state, time_unix_nano), (event,)


Step = tuple[IssueState, IssueVerb, str]


def _step(issue: Issue, now: float, pace: Pace, stale_seconds: float) -> Step | None:
    match issue.state:
        case IssueState.RESOLVED:
            return _regressed(pace)
        case IssueState.ESCALATING:
            return _calmed(issue, now, pace)
    if step := _escalated(issue, now, pace):
        return step
    match issue.state:
        case IssueState.ACKNOWLEDGED:
            return None
        case IssueState.IGNORED:
            return _no_longer_ignored(issue, now)
        case IssueState.STALE:
            return _seen_again(issue)
    return _older(issue, now, stale_seconds)


def _regressed(pace: Pace) -> Step | None:
    if pace.returned < max(LEAST_RETURNED, TIMES_BACKGROUND * pace.background):
        return None
    text = f"{pace.returned} new members since it was resolved"
    return IssueState.REGRESSED, IssueVerb.REGRESSED, text


def _no_longer_ignored(issue: Issue, now: float) -> Step | None:
    if 0 < issue.ignored_until_unix_nano <= now * NANOS:
        return IssueState.ONGOING, IssueVerb.CALMED, "the time to ignore it is over"
    if 0 < issue.ignored_members <= issue.members:
        return IssueState.ONGOING, IssueVerb.CALMED, f"it has {issue.members} members"
    return None


def _escalated(issue: Issue, now: float, pace: Pace) -> Step | None:
    """Hours before its first member are not its past, or every new issue would escalate.

    What somebody acknowledged or ignored escalates by an hour that began after that.
    """
    began = (now // HOUR - 1) * HOUR
    if issue.state in TRIAGED and began < issue.state_unix_nano / NANOS:
        return None
    _, own = _cut(pace.hours, now - issue.first_unix_nano / NANOS)
    if not own or not is_above_forecast(own[:-1], own[-1], pace.issues):
        return None
    text = f"{own[-1].members} new members in an hour, more than forecast"
    return IssueState.ESCALATING, IssueVerb.ESCALATED, text


def _calmed(issue: Issue, now: float, pace: Pace) -> Step | None:
    """Forecasts from the hours before the escalation, else it would be its own forecast."""
    since = now - issue.state_unix_nano / NANOS
    if since >= ESCALATING_SECONDS:
        return _after(issue), IssueVerb.CALMED, "its rate has become usual"
    past, _ = _cut(pace.hours, since + HOUR)
    if since < CALM_HOURS * HOUR or any(
        is_above_forecast(past, hour) for hour in pace.hours[-CALM_HOURS:]
    ):
        return None
    return _after(issue), IssueVerb.CALMED, f"as forecast for {CALM_HOURS} hours"


def _after(issue: Issue) -> IssueState:
    """The state after an escalation: who had the issue has it again."""
    return IssueState.ACKNOWLEDGED if issue.assignee else IssueState.ONGOING


def _cut(hours: Sequence[Hour], seconds: float) -> tuple[Sequence[Hour], Sequence[Hour]]:
    """The hours before the last `seconds`, and the full hours in them."""
    place = max(0, len(hours) - int(seconds // HOUR))
    return hours[:place], hours[place:]


def _seen_again(issue: Issue) -> Step | None:
    if issue.last_unix_nano <= issue.state_unix_nano:
        return None
    return IssueState.ONGOING, IssueVerb.AGED, "seen again"


def _older(issue: Issue, now: float, stale_seconds: float) -> Step | None:
    is_recent = issue.state in (IssueState.NEW, IssueState.REGRESSED)
    entered_at = max(issue.opened_unix_nano, issue.state_unix_nano) / NANOS
    if issue.is_emptied:
        return IssueState.STALE, IssueVerb.AGED, "no answer is left in it"
    if is_recent and now - entered_at >= NEW_SECONDS:
        return IssueState.ONGOING, IssueVerb.AGED, f"{issue.state} for a week"
    if is_recent and issue.is_triaged:
        return IssueState.ONGOING, IssueVerb.AGED, "somebody has looked at it"
    quiet = now - max(issue.last_unix_nano, issue.state_unix_nano) / NANOS
    if is_recent or issue.is_triaged or quiet < stale_seconds:
        return None
    return IssueState.STALE, IssueVerb.AGED, f"nothing new for {quiet / DAY:.0f} days"
