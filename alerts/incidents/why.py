"""Says what is wrong and why, or what is watched and how well, in ten lines. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from alerts.incidents.message import Message, lines
from ragvigil.model.audit import Audit
from ragvigil.model.delta import Delta, Moved
from ragvigil.model.incident import Incident
from ragvigil.model.issue import Issue
from ragvigil.model.notice import Notice

MOST_LINES = 10
NAMED = 4
MOST_ISSUES = 3
MOST_FALLS = 2
LEAST_FALL = 0.1
"""The whole 95 % interval lies beyond: of hundreds of means, one moves by 2 points by chance."""
QUIET_SECONDS = 3600
WINDOWS = ("6h", "24h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The present state of a service or route.

    `incidents` are open, the weightiest first, each with its message; `changes` and `audits` are
    the newest first. `issues` are new, or grow, or came back, and answers failed of them within a
    day; the most urgent first. `judge` is what the judge says of itself, a line each. `last_record`
    is in seconds since the epoch, None if a day had none; `waiting` counts spans in the spool,
    `behind` says how long they take, where they are many. `visible_drops` are the smallest drops
    that would page if they lasted a day, by rubric.
    """

    now: float
    incidents: Sequence[tuple[Incident, Message]] = ()
    issues: Sequence[Issue] = ()
    changes: Sequence[Notice] = ()
    audits: Sequence[Audit] = ()
    deltas: Sequence[Delta] = ()
    last_record: int | None = None
    records: int = 0
    routes: int = 0
    visible_drops: Mapping[str, float] = field(default_factory=dict)
    waiting: int = 0
    behind: str = ""
    judge: Sequence[str] = ()


def why(situation: Situation) -> tuple[str, ...]:
    """Writes at most ten lines, the weightiest first."""
    if situation.incidents:
        found_lines = [
            *_not_watching(situation),
            *situation.judge,
            *lines(situation.incidents[0][1]),
            *_others(situation),
        ]
    else:
        found_lines = [
            *_not_watching(situation),
            *situation.judge,
            *(_unexplained(situation) or ["nothing is known to be wrong"]),
            *_changed(situation),
            *_audits(situation),
            *_limits(situation),
            *_watching(situation),
        ]
    return tuple(found_lines[:MOST_LINES])


def _others(situation: Situation) -> list[str]:
    return [
        f"also open: {incident.severity} {incident.incident_id}, {text.worse} (since {text.since})"
        for incident, text in situation.incidents[1:]
    ]


def _unexplained(situation: Situation) -> list[str]:
    """What is worse and has no incident: issues of failing answers, and means that fell."""
    issues, fallen = situation.issues, _fallen(situation.deltas)
    if not issues and not fallen:
        return []
    more = len(issues) - MOST_ISSUES
    return [
        "no incident is open, but not all is well:",
        *(_issue(issue) for issue in issues[:MOST_ISSUES]),
        *([f"and {more} more issues: `ragvigil issues list`"] if more > 0 else []),
        *(_fall(delta) for delta in fallen[:MOST_FALLS]),
    ]


def _issue(issue: Issue) -> str:
    first = datetime.fromtimestamp(issue.first_unix_nano / 1e9, UTC)
    answers = f"{issue.members} failing answer{'' if issue.members == 1 else 's'}"
    story = f"`ragvigil issues show {issue.issue_id}`"
    return f"{issue.state} issue: {issue.name}, {answers} since {first:%a %d %b %H:%M} UTC: {story}"


def _fallen(deltas: Sequence[Delta]) -> list[Delta]:
    """Means that fell by LEAST_FALL for sure within six hours, the widest fall first."""
    fallen = [
        delta
        for delta in deltas
        if delta.window == "6h"
        and delta.moved is Moved.FELL
        and (delta.high or 0.0) <= -LEAST_FALL
        and ":" not in delta.series.rubric
    ]
    return sorted(fallen, key=lambda delta: delta.delta or 0.0)


def _fall(delta: Delta) -> str:
    where = f" on {delta.series.route}" if delta.series.route else ""
    points = f"{-100 * (delta.delta or 0.0):.0f} points"
    basis = f" ({delta.basis})" if delta.basis else ""
    return f"{delta.series.rubric}{where} is worse by {points}{basis}: `ragvigil deltas`"


def _not_watching(situation: Situation) -> list[str]:
    """Warnings that put the other lines in doubt; empty while data comes in."""
    warnings = []
    if situation.last_record is None:
        warnings.append(
            "not watching: no answers came in 24 h; `ragvigil doctor` says what is missing"
        )
    elif situation.now - situation.last_record > QUIET_SECONDS:
        warnings.append(
            f"not watching: the last answer came {_ago(situation.now - situation.last_record)} ago"
        )
    if situation.behind:
        warnings.append(f"{situation.behind}; the lines below are old")
    return warnings


def _watching(situation: Situation) -> list[str]:
    if situation.last_record is None:
        return []
    ago = _ago(situation.now - situation.last_record)
    answers = f"{situation.records} answer{'' if situation.records == 1 else 's'}"
    routes = f"{situation.routes} route{'' if situation.routes == 1 else 's'}"
    return [
        f"watching: {answers} on {routes} in 24 h, the last {ago} ago; "
        f"{situation.waiting} spans wait in the spool"
    ]


def _changed(situation: Situation) -> list[str]:
    if not situation.changes:
        return ["no change was noticed in 48 h"]
    return [f"noticed: {_change(change)}" for change in situation.changes[:2]]


def _change(change: Notice) -> str:
    at = datetime.fromtimestamp(change.since_unix_nano / 1e9, UTC)
    values = " → ".join(value for value in (change.before, change.after) if value)
    share = f", {change.share:.0%} of requests" if change.share < 1 else ""
    where = change.route or "all routes"
    return (
        f"{change.kind} on {where} {at:%a %H:%M} UTC{share}{': ' if values else ''}{values[:120]}"
    )


def _audits(situation: Situation) -> list[str]:
    return [
        f"audit of {audit.reason or 'a change'}: {audit.progress or f'{audit.pairs} pairs judged'}"
        for audit in situation.audits
        if audit.is_running
    ][:2]


def _limits(situation: Situation) -> list[str]:
    """The smallest drop that would show, by window: on the best route of each rubric."""
    found_lines = []
    for window in WINDOWS:
        best = _best({}, [delta for delta in situation.deltas if delta.window == window])
        if best:
            found_lines.append(f"drops that would show in {window[:-1]} h, {_points(best)}")
    if situation.visible_drops:
        lasting = _points(situation.visible_drops)
        found_lines.append(f"drops that would page if they lasted a day, {lasting}")
    return found_lines or ["not enough scores yet to say which drop would show"]


def _points(limits: Mapping[str, float]) -> str:
    named = sorted(limits.items(), key=lambda pair: (pair[1], pair[0]))[:NAMED]
    points = ", ".join(f"{rubric} {100 * limit:.0f}" for rubric, limit in named)
    return f"in points: {points} or more"


def _best(best: dict[str, float], deltas: Sequence[Delta]) -> Mapping[str, float]:
    for delta in deltas:
        limit = delta.detection_limit
        if limit is not None and limit < 1 and ":" not in delta.series.rubric:
            best[delta.series.rubric] = min(limit, best.get(delta.series.rubric, 1.0))
    return best


def _ago(seconds: float) -> str:
    minutes = max(0, round(seconds / 60))
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
