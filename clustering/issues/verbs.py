"""Applies people's verbs to an issue, except merging. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ragvigil.model.issue import Issue, IssueEvent, IssueState, IssueVerb

NANOS = 10**9
SETTLED = frozenset(
    {IssueState.ACKNOWLEDGED, IssueState.RESOLVED, IssueState.IGNORED, IssueState.STALE}
)
"""States from which an issue can be reopened."""


class VerbDoesNotFit(ValueError):
    """An issue in this state does not take this verb; `str(error)` says why."""


class UnknownIssue(LookupError):
    """There is no issue of this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A verb with its arguments; times are in seconds since the epoch.

    `until` and `count` (further members) limit IGNORE, which without both is for ever. `release` is
    that of RESOLVE, empty for "now". `name` is the assignee of ASSIGN, empty for nobody, or the new
    name of RENAME.
    """

    verb: IssueVerb
    now: float
    actor: str = ""
    text: str = ""
    until: float = 0.0
    count: int = 0
    release: str = ""
    name: str = ""


def act(issue: Issue, done: Act) -> tuple[Issue, IssueEvent]:
    """The issue afterwards, and the event to write. Raises VerbDoesNotFit."""
    change = _CHANGES.get(done.verb)
    if change is None:
        raise VerbDoesNotFit(f"{done.verb} is not done to one issue: {', '.join(_CHANGES)} are")
    if issue.merged_into:
        raise VerbDoesNotFit(
            f"issue {issue.issue_id} was merged: say {done.verb} to {issue.merged_into}"
        )
    changed, what = change(issue, done)
    event = IssueEvent(
        issue_id=issue.issue_id,
        time_unix_nano=int(done.now * NANOS),
        verb=done.verb,
        actor=done.actor,
        text=": ".join(filter(None, (what, done.text))),
    )
    return changed, event


def entered(issue: Issue, state: IssueState, time_unix_nano: int) -> Issue:
    """The issue in another state; the limits of the state before are cleared."""
    return replace(
        issue,
        state=state,
        state_unix_nano=time_unix_nano,
        resolved_in="",
        resolved_unix_nano=0,
        ignored_until_unix_nano=0,
        ignored_members=0,
    )


def _acknowledge(issue: Issue, done: Act) -> tuple[Issue, str]:
    _must_be_open(issue, done)
    acknowledged = _in_state(issue, IssueState.ACKNOWLEDGED, done)
    return replace(acknowledged, assignee=done.actor or issue.assignee), ""


def _resolve(issue: Issue, done: Act) -> tuple[Issue, str]:
    _must_be_open(issue, done)
    resolved = replace(
        _in_state(issue, IssueState.RESOLVED, done),
        assignee=issue.assignee or done.actor,
        resolved_in=done.release,
        resolved_unix_nano=int(done.now * NANOS),
    )
    return resolved, f"in {done.release}" if done.release else ""


def _ignore(issue: Issue, done: Act) -> tuple[Issue, str]:
    _must_be_open(issue, done)
    if done.until and done.until <= done.now:
        raise VerbDoesNotFit("ignoring for a time needs one to come: until")
    if done.count < 0:
        raise VerbDoesNotFit(f"ignoring for {done.count} members: a count is 1 or more")
    ignored = replace(
        _in_state(issue, IssueState.IGNORED, done),
        ignored_until_unix_nano=int(done.until * NANOS),
        ignored_members=issue.members + done.count if done.count else 0,
    )
    limits = [f"until {datetime.fromtimestamp(done.until, UTC):%Y-%m-%d %H:%M} UTC"] * bool(
        done.until
    )
    limits += [f"for {done.count} members"] * bool(done.count)
    return ignored, " or ".join(limits) or "for ever"


def _reopen(issue: Issue, done: Act) -> tuple[Issue, str]:
    if issue.state not in SETTLED:
        raise VerbDoesNotFit(f"issue {issue.issue_id} is {issue.state}: it is open already")
    return _in_state(issue, IssueState.ONGOING, done), ""


def _assign(issue: Issue, done: Act) -> tuple[Issue, str]:
    return replace(issue, assignee=done.name), f"to {done.name}" if done.name else "to nobody"


def _rename(issue: Issue, done: Act) -> tuple[Issue, str]:
    name = " ".join(done.name.split())
    if not name:
        raise VerbDoesNotFit("renaming needs a name")
    return replace(issue, name=name, is_name_frozen=True), f"{issue.name} -> {name}"


def _in_state(issue: Issue, state: IssueState, done: Act) -> Issue:
    return entered(issue, state, int(done.now * NANOS))


def _must_be_open(issue: Issue, done: Act) -> None:
    if issue.state is IssueState.RESOLVED:
        raise VerbDoesNotFit(
            f"issue {issue.issue_id} is resolved: reopen it before you {done.verb} it"
        )


_CHANGES: Mapping[IssueVerb, Callable[[Issue, Act], tuple[Issue, str]]] = {
    IssueVerb.ACKNOWLEDGE: _acknowledge,
    IssueVerb.RESOLVE: _resolve,
    IssueVerb.IGNORE: _ignore,
    IssueVerb.REOPEN: _reopen,
    IssueVerb.ASSIGN: _assign,
    IssueVerb.RENAME: _rename,
}
