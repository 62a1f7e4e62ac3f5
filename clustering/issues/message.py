"""An issue in at most six lines, and as values of labels. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor, log10

from clustering.issues.counts import Count
from ragvigil.model.issue import Issue, IssueState
from ragvigil.model.text import one_line

MOST_CHARACTERS = 200
NAMED_ROUTES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The parts of a message: each at most 200 characters on one line."""

    name: str
    seen: str
    since: str
    routes: str
    layer: str
    link: str


def message(
    issue: Issue, count: Count, external_url: str = "", retired: Collection[str] = ()
) -> Message:
    """The message of an issue; without `external_url` the link is a command to run.

    `retired` are the rubrics whose judge is retired: an issue of these says so beside its layer.
    """
    command = f"ragvigil issues show {issue.issue_id}"
    url = f"{external_url.rstrip('/')}/issues/{issue.issue_id}"
    what = ": ".join(filter(None, (issue.rubric, issue.label.replace("_", " "))))
    what += "; its judge is retired" if issue.rubric in retired else ""
    return Message(
        name=one_line(issue.name, MOST_CHARACTERS),
        seen=count_text(count),
        since=_since(issue),
        routes=one_line(_routes(issue), MOST_CHARACTERS),
        layer=one_line(f"{issue.family} ({what})" if what else issue.family, MOST_CHARACTERS),
        link=url if external_url else command,
    )


def lines(parts: Message) -> tuple[str, ...]:
    """At most six lines of text."""
    return (
        parts.name,
        parts.seen,
        f"Since {parts.since} on {parts.routes}",
        f"Layer: {parts.layer}",
        parts.link,
    )


def count_text(count: Count) -> str:
    """How many, to two digits from 100 on, so that a label does not change with each member.

    >>> count_text(Count(seen=22, about=22, low=22, high=22))
    '22 seen'
    >>> count_text(Count(seen=1234, about=17628.6, low=16660, high=18640))
    'over 1200 seen, about 18000 [17000, 19000]'
    """
    known = _rounded(floor, count.seen)
    text = f"{'over ' if known < count.seen else ''}{known} seen"
    if count.is_exact:
        return text
    about, low, high = (_rounded(round, value) for value in (count.about, count.low, count.high))
    return f"{text}, about {about} [{low}, {high}]"


def _rounded(to: Callable[[float], int], value: float) -> int:
    unit = 10 ** max(0, int(log10(value)) - 1) if value >= 1 else 1
    return to(value / unit) * unit


def _since(issue: Issue) -> str:
    """When it first appeared; of a regressed or escalating issue also when it became so."""
    first = _time(issue.first_unix_nano)
    if issue.state in (IssueState.REGRESSED, IssueState.ESCALATING):
        return f"{_time(issue.state_unix_nano)} (first seen {first})"
    return first


def _time(unix_nano: int) -> str:
    return f"{datetime.fromtimestamp(unix_nano / 1e9, UTC):%a %d %b %H:%M} UTC"


def _routes(issue: Issue) -> str:
    routes = [one_line(route, 40) for route in issue.routes if route]
    more = f" and {len(routes) - NAMED_ROUTES} more" if len(routes) > NAMED_ROUTES else ""
    named = ", ".join(routes[:NAMED_ROUTES]) + more or "a route without a name"
    service = " ".join(one_line(name, 40) for name in (issue.service, issue.environment) if name)
    return f"{named} ({service or 'a service without a name'})"
