"""How issues compare with what is known of their members: a figure for each fault, and purity.

A record counts as failing by its fault where it fails a rubric that the healthy answer to the same
question passes; else it is as good or bad as ever. Counted is what the hour brought: a fault that
makes worse what failed before comes into the issue of that, which is its own where most that came
in the hour is of the fault. Its minutes are then 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from bench.rig.issue_traffic import HEALTHY, Truth

LEAST_MEMBERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails:
    """When a record failed (seconds) and by which rubrics."""

    at: float
    rubrics: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An issue of the API: its name, opening time (Unix seconds) and members' trace ids."""

    name: str
    opened: float
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfFault:
    """One fault in one hour; `found` of its `failing` records are in its `issues`.

    `minutes` are from the first failing record to the opening of the issue with most of them.
    """

    fault: str
    sent: int
    failing: int
    issues: int
    found: int
    minutes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """An hour of three faults: `pure` of `grouped` records of faults are in issues of their own."""

    faults: tuple[OfFault, ...]
    grouped: int
    pure: int
    background: int
    background_grouped: int
    as_ever: int
    as_ever_grouped: int
    issues: tuple[str, ...]


def by_fault(truths: Mapping[str, Truth], failing: Mapping[str, Fails]) -> set[str]:
    """The failing records whose question's healthy answer passes what they fail."""
    healthy: dict[int, Set[str]] = {}
    for trace_id, truth in truths.items():
        if truth.fault == HEALTHY:
            found = failing[trace_id].rubrics if trace_id in failing else frozenset()
            healthy[truth.question] = healthy.get(truth.question, frozenset()) | found
    return {
        trace_id
        for trace_id, found in failing.items()
        if truths[trace_id].fault != HEALTHY
        and found.rubrics - healthy.get(truths[trace_id].question, frozenset())
    }


def compare(
    three: Sequence[str],
    truths: Mapping[str, Truth],
    failing: Mapping[str, Fails],
    issues: Sequence[Named],
    hour: Set[str],
) -> Compared:
    """`truths` of every answer of the hour and before it, and what failed, by trace id.

    `hour` are the trace ids of the hour.
    """
    own = by_fault(truths, failing)
    background = {trace_id for trace_id in own if truths[trace_id].is_background}
    causes = {trace_id: truths[trace_id].fault for trace_id in own - background}
    as_ever = (failing.keys() & hour) - own
    issues = [_within(issue, hour) for issue in issues]
    of_issues = [
        Counter(causes[member] for member in issue.members if member in causes) for issue in issues
    ]
    grouped = {trace_id for issue in issues for trace_id in issue.members}
    return Compared(
        faults=tuple(
            _of_fault(
                fault,
                sent=sum(truth.fault == fault for truth in truths.values()),
                times=[failing[name].at for name, cause in causes.items() if cause == fault],
                issues=list(zip(issues, of_issues, strict=True)),
            )
            for fault in three
        ),
        grouped=sum(counts.total() for counts in of_issues),
        pure=sum(max(counts.values(), default=0) for counts in of_issues),
        background=len(background),
        background_grouped=len(background & grouped),
        as_ever=len(as_ever),
        as_ever_grouped=len(as_ever & grouped),
        issues=tuple(
            f"{issue.name}: {len(issue.members)}, {dict(found)}, background "
            f"{len(background.intersection(issue.members))}"
            for issue, found in zip(issues, of_issues, strict=True)
        ),
    )


def _within(issue: Named, hour: Set[str]) -> Named:
    return replace(issue, members=tuple(member for member in issue.members if member in hour))


def _of_fault(
    fault: str,
    *,
    sent: int,
    times: Sequence[float],
    issues: Sequence[tuple[Named, Counter[str]]],
) -> OfFault:
    own = [(issue, found[fault]) for issue, found in issues if _most(issue, found) == fault]
    opened = max(((count, issue.opened) for issue, count in own), default=(0, None))[1]
    return OfFault(
        fault=fault,
        sent=sent,
        failing=len(times),
        issues=len(own),
        found=sum(count for _, count in own),
        minutes=None if opened is None else max(0.0, round((opened - min(times)) / 60, 1)),
    )


def _most(issue: Named, causes: Counter[str]) -> str:
    """The fault of most members, who are as many as those that fail as ever; empty for none."""
    others = len(issue.members) - causes.total()
    found = [cause for cause, count in causes.most_common(1) if count >= max(LEAST_MEMBERS, others)]
    return found[0] if found else ""
