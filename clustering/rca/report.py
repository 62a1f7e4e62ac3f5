"""The report by code, without a model: where an issue fails, since when, what is special there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from clustering.rca.contrasts import Contrast, contrasts
from clustering.rca.reader import Change, IssueReader
from ragvigil.model.incident import Incident
from ragvigil.model.issue import Failure, Issue
from ragvigil.model.text import one_line
from ragvigil.model.wording.suspects import SuspectedChange, suspected

NANOS = 10**9
HOUR = 3600 * NANOS
NEAR = 24 * HOUR
"""A change up to this long before the first member may explain the issue."""
EARLY = HOUR // 2
"""A change may be noticed up to this long after the first member."""
MOST_SUSPECTS, MOST_CHANGES, MOST_EXAMPLES, MOST_TERMS = 5, 3, 4, 8
OWN_WORDS = "Words of its own: "
LINE = 160
"""Characters of a line; longer texts from traces are cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HourCounts:
    """Members and requests in one hour."""

    start_unix_nano: int
    members: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The contents of the report; `nearby` are changes around the first member.

    `incident` is that whose answers the issue holds, None where it is of none.
    """

    suspects: tuple[Contrast, ...]
    compared: tuple[int, int]
    terms: tuple[str, ...]
    hours: tuple[HourCounts, ...]
    nearby: tuple[Change, ...]
    examples: tuple[Failure, ...]
    incident: Incident | None = None


def facts_of(issue: Issue, reading: IssueReader, terms: Sequence[str]) -> Facts:
    """Reads and compares what the report needs. Raises StoreError."""
    members, failing, passing = reading.members(), reading.failing(), reading.passing()
    return Facts(
        suspects=tuple(contrasts(failing, passing)),
        compared=(len(failing), len(passing)),
        terms=tuple(terms),
        hours=hours_of(reading, members),
        nearby=_nearby(issue, reading.changes()),
        examples=_examples(members),
        incident=reading.incident(),
    )


def hours_of(reading: IssueReader, members: Sequence[Failure]) -> tuple[HourCounts, ...]:
    """Members and requests by hour, oldest first; hours without either are left out."""
    ours = Counter(member.time_unix_nano // HOUR * HOUR for member in members)
    requests = {hour.start_unix_nano: hour.requests for hour in reading.hours()}
    return tuple(
        HourCounts(start_unix_nano=start, members=ours[start], requests=requests.get(start, 0))
        for start in sorted({*ours, *requests})
    )


def lines(issue: Issue, facts: Facts) -> list[str]:
    """The report: at most 17 lines for the person on call."""
    texts = [*_since(issue, facts), *_suspects(facts), *_changes(issue, facts), *_words(facts)]
    return [_cut(text) for text in (*texts, *_where_to_look(facts))]


def own_words(text: str) -> list[str]:
    """The phrases that a report found in this issue's reasons alone.

    >>> own_words("Layer: generation\\nWords of its own: gold circle, founders")
    ['gold circle', 'founders']
    """
    line = next((line for line in text.splitlines() if line.startswith(OWN_WORDS)), "")
    return line.removeprefix(OWN_WORDS).split(", ") if line else []


def time_text(unix_nano: int) -> str:
    """A time as people write it, to the minute.

    >>> time_text(1_772_366_400 * 10**9)
    '2026-03-01 12:00 UTC'
    """
    return f"{datetime.fromtimestamp(unix_nano // NANOS, UTC):%Y-%m-%d %H:%M} UTC"


def _since(issue: Issue, facts: Facts) -> Iterator[str]:
    what = f"{issue.rubric} {issue.label}".strip() or "errors or complaints"
    yield f"Layer: {issue.family} ({what}); {issue.members} members on {', '.join(issue.routes)}"
    yield f"First {time_text(issue.first_unix_nano)}, last {time_text(issue.last_unix_nano)}"
    if facts.hours:
        worst = max(facts.hours, key=lambda hour: (hour.members, hour.start_unix_nano))
        of = f" of {worst.requests} requests" if worst.requests else ""
        yield f"Worst hour: {worst.members}{of}, from {time_text(worst.start_unix_nano)}"


def _suspects(facts: Facts) -> Iterator[str]:
    failing, passing = facts.compared
    if not facts.suspects:
        text = f"No dimension tells its {failing} members from {passing} passing records."
        yield text if passing else "No passing record of its routes is known to compare with."
        return
    yield "More often in members than in passing records of the same routes:"
    for contrast in facts.suspects[:MOST_SUSPECTS]:
        ours = f"{contrast.failing} of {contrast.of_failing} members"
        passing_share = f"{contrast.passing} of {contrast.of_passing} passing"
        yield f"  {contrast.dimension} = {contrast.value}: {ours}, {passing_share}"


def likely_cause(facts: Facts) -> str:
    """What the issue's incident knows of its cause, in a sentence; empty where it knows none."""
    changes = suspected(facts.incident) if facts.incident else []
    return f"Most likely {_when(changes[0])}." if changes else ""


def _when(change: SuspectedChange) -> str:
    routes = f" on {', '.join(change.routes)}" if change.routes else ""
    return f"{change.words}, first seen {time_text(change.since_unix_nano)}{routes}"


def _changes(issue: Issue, facts: Facts) -> Iterator[str]:
    incident = facts.incident
    if incident and incident.findings:
        yield f"Incident since {time_text(incident.since_unix_nano)}: {incident.findings[0].words}"
    if incident and incident.suspects:
        for change in suspected(incident)[: MOST_CHANGES - 1]:
            yield f"Suspected change: {_when(change)}"
        return
    if not facts.nearby:
        yield "No change of the service is known shortly before its first member."
    most = MOST_CHANGES - 1 if incident else MOST_CHANGES
    for near in facts.nearby[:most]:
        minutes = round((issue.first_unix_nano - near.time_unix_nano) / (60 * NANOS))
        side = f"{minutes} min before" if minutes >= 0 else f"{-minutes} min after"
        yield f"Change {side} the first: {near.kind} {near.text}".rstrip()


def _words(facts: Facts) -> Iterator[str]:
    if facts.terms:
        yield f"{OWN_WORDS}{', '.join(facts.terms[:MOST_TERMS])}"


def _where_to_look(facts: Facts) -> Iterator[str]:
    for member in facts.examples:
        yield f"Look at {member.trace_id} ({member.route}): {member.reason}"


def _nearby(issue: Issue, changes: Sequence[Change]) -> tuple[Change, ...]:
    first = issue.first_unix_nano
    near = [change for change in changes if -EARLY <= first - change.time_unix_nano <= NEAR]
    return tuple(sorted(near, key=lambda change: abs(first - change.time_unix_nano)))


def _examples(members: Sequence[Failure]) -> tuple[Failure, ...]:
    """The newest member of each route and version, then further new ones."""
    each = {(member.route, member.service_version): member for member in reversed(members)}
    chosen = sorted(each.values(), key=lambda member: -member.time_unix_nano)
    more = [member for member in members if member not in chosen]
    return tuple([*chosen, *more][:MOST_EXAMPLES])


def _cut(text: str) -> str:
    shown = one_line(text)
    indent = text[: len(text) - len(text.lstrip())]
    return indent + (shown if len(shown) <= LINE else f"{shown[:LINE]}…")
