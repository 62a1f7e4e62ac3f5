"""Decides whether findings have one cause: one change, or one time with causes and routes. Pure.

Nearness in time alone is no cause: two faults a few minutes apart, on other routes or in other
layers, are two incidents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce

from alerts.incidents.cause import ANY, FOUND, possible
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import (
    MINUTE,
    Changes,
    beside,
    direction,
    is_partial,
    lateness,
    share_a_route,
)
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import AS_BEFORE, CAUSES, Cause, ChangeKind, Notice
from ragvigil.model.score import Layer

LATE = 10.0
"""An onset is off by LATE / d² requests, where d is the change in standard deviations."""
SHORTEST, LONGEST = 5, 60
"""Bounds, in minutes, of the window in which a finding's requests were counted."""
MOST_SLACK = 20 * MINUTE
"""Most that an onset may be off by."""
COPIED = "answer_language"
"""What an answer takes over from its context."""
TORN = "citation_validity"
"""What is held against the texts of chunks: cut anew, another chunk holds what an answer cites."""
CUT = frozenset({ChangeKind.RECHUNKED, ChangeKind.REINDEXED})
"""Changes of the texts of chunks by which citations are torn."""
MEASURED = (
    frozenset({"context_order", str(ChangeKind.OTHER_ORDER)}),
    frozenset({"context_chunks", str(ChangeKind.TOP_K), str(ChangeKind.CHUNK_COUNT)}),
    frozenset({"chunk_characters", str(ChangeKind.RECHUNKED)}),
)
"""Numbers, each with the changes that it measures: they say the same of a route."""
AT_ONCE = 2 * MINUTE
"""What is copied begins with what it is copied from, and what is torn with the tear."""
EXACT = frozenset({FindingKind.AUDIT, FindingKind.CHANGED})
"""Kinds whose onset is the time of a change."""


def is_same_signal(first: Finding, second: Finding) -> bool:
    """Whether both say that one signal moved in one direction on a common route."""
    alike = (first.signal, direction(first)) == (second.signal, direction(second))
    return alike and share_a_route(first, second)


def is_of_same_audit(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether a drop is of the audit that found one of the others: it answers for one change."""
    own = _audit_of(finding)
    return bool(own) and any(_audit_of(other) == own for other in others)


def _audit_of(finding: Finding) -> str:
    """What the ids of all drops of one audit begin with; empty for other findings."""
    is_drop = finding.kind is FindingKind.AUDIT
    return finding.finding_id.removesuffix(finding.signal) if is_drop else ""


def changes_beside(finding: Finding, others: Iterable[Finding]) -> list[Finding]:
    """The changes among the others on the route of a finding that is a change itself.

    They alone tell whether it is of theirs: the onset of a number that followed them is an
    estimate, and may well lie nearer to the later change.
    """
    if finding.kind is not FindingKind.CHANGED:
        return []
    return [
        other for other in others if other.kind is finding.kind and share_a_route(other, finding)
    ]


class SharedCause:
    """Compares findings of one service by their changes, onsets, causes and routes."""

    def __init__(self, changes: Changes, settings: IncidentSettings) -> None:
        self._changes, self._settings = changes, settings
        self._near = settings.within_minutes * MINUTE
        self._origins: dict[tuple[object, ...], Notice | None] = {}

    def onset_gap(self, finding: Finding, others: Collection[Finding]) -> int:
        """Nanoseconds from an onset to the nearest of one cause, less by how far it may be off.

        Of the others, the one whose onset is surest tells how far theirs may be off.
        """
        slack = max(self._slack(finding), min(map(self._slack, others)))
        onsets = [other.since_unix_nano for other in others]
        apart = min(abs(finding.since_unix_nano - onset) for onset in onsets) - slack
        return max(0, min(apart, *(beside(finding, onset) for onset in onsets)))

    def by_change(self, finding: Finding, others: Iterable[Finding]) -> bool:
        """Whether the finding and one of the others began with one change."""
        change = self.origin(finding)
        if change is None:
            return False
        rollout = self._changes.rollout(change)
        return any(
            theirs is not None and not rollout.isdisjoint(self._changes.rollout(theirs))
            for theirs in map(self.origin, others)
        )

    def by_time(self, finding: Finding, others: Collection[Finding]) -> int | None:
        """The gap to the nearest of the others that may have the same cause; None without one.

        Their onsets lie within `within_minutes` and their routes overlap. A cause is possible for
        both and, if the others have causes in common, one of these.
        """
        causes = self._causes(finding)
        all_causes = [self._causes(other) for other in others]
        common = reduce(frozenset.__and__, all_causes, ANY)
        if common and not causes & common:
            return None
        near = [
            other
            for other, theirs in zip(others, all_causes, strict=True)
            if causes & theirs and share_a_route(finding, other)
        ]
        gap = self._within(finding, near)
        is_copied = _is_copied(finding) and not any(possible(finding) & possible(o) for o in near)
        return None if is_copied and (gap or 0) > AT_ONCE else gap

    def by_signal(self, finding: Finding, others: Iterable[Finding]) -> int | None:
        """The gap to the nearest of the others that says the same of another route; None if none.

        A fault on several routes may show on each of them alone: at the same time, in the same
        signal and direction, and of like size. A change that is named on one route takes in no
        other number of another route: that may well be a second fault.
        """
        alike = [
            other
            for other in others
            if _said(finding) == _said(other) and _is_of_like_size(finding, other)
        ]
        return self._within(finding, alike)

    def _within(self, finding: Finding, others: Collection[Finding]) -> int | None:
        gap = self.onset_gap(finding, others) if others else None
        return gap if gap is not None and gap <= self._near else None

    def origin(self, finding: Finding) -> Notice | None:
        """The change with which a finding began; None where none fits in time and cause."""
        key = (finding.finding_id, finding.since_unix_nano, finding.routes, finding.causes)
        if key not in self._origins:
            likeliest_first = self._changes.before(finding)
            self._origins[key] = next(
                (change for change in likeliest_first if self.may_begin(finding, change)), None
            )
        return self._origins[key]

    def is_another_change(self, finding: Finding) -> bool:
        """Whether it is a change, and none that leads back to what was before the last one."""
        change = self.origin(finding)
        is_return = change is not None and bool(change.evidence.get(AS_BEFORE))
        return finding.kind is FindingKind.CHANGED and not is_return

    def origins(self, findings: Iterable[Finding]) -> frozenset[str]:
        """The ids of the changes with which findings began."""
        return frozenset(
            change.notice_id for change in map(self.origin, findings) if change is not None
        )

    def may_begin(self, finding: Finding, change: Notice) -> bool:
        """Whether a change can have led to a finding, by the causes and times of both."""
        causes = CAUSES[change.kind]
        is_torn = _is_torn_by(finding, change)
        if causes and not is_torn and not _reach(finding) & set(causes):
            return False
        apart = abs(finding.since_unix_nano - change.since_unix_nano) - self._slack(finding)
        apart = min(apart, beside(finding, change.since_unix_nano))
        # A change that rolls out shows late: first only a small share of the requests has it.
        is_rolling_out = change.share < 1 and not is_partial(change)
        near = AT_ONCE if is_torn else self._near
        return is_rolling_out or apart - lateness(change) <= near

    def _causes(self, finding: Finding) -> frozenset[Cause]:
        """The causes that can have led to a finding: those of its change, if it has one."""
        change, reach = self.origin(finding), _reach(finding)
        if change is not None and _is_torn_by(finding, change):
            return frozenset(CAUSES[change.kind])
        return (reach & set(CAUSES[change.kind]) if change else frozenset()) or reach

    def _slack(self, finding: Finding) -> int:
        """Nanoseconds by which the onset of a finding may be off."""
        if finding.kind is FindingKind.DRIFT:
            return self._settings.follows_minutes * MINUTE
        z = _z(finding)
        if finding.kind in EXACT or z is None:
            return 0
        since = (finding.seen_unix_nano - finding.since_unix_nano) // MINUTE
        window = min(max(since, SHORTEST), LONGEST) * MINUTE
        # d² is z² / n, and n requests take one window. What has shown more than half of what it
        # shows before a change did not begin with it.
        return int(min(MOST_SLACK, window / 2, LATE * window / max(z * z, 1e-9)))


def _said(finding: Finding) -> object:
    """What a finding says of its routes."""
    measured = next((names for names in MEASURED if finding.signal in names), None)
    return measured or (finding.kind, finding.signal, direction(finding))


def _is_copied(finding: Finding) -> bool:
    return finding.signal.partition(":")[0] == COPIED


def _is_torn_by(finding: Finding, change: Notice) -> bool:
    return finding.signal.partition(":")[0] == TORN and change.kind in CUT


def _is_of_like_size(first: Finding, second: Finding) -> bool:
    """Whether neither change is more than twice the other."""
    sizes = sorted(
        abs(finding.value - finding.reference)
        for finding in (first, second)
        if finding.value is not None and finding.reference is not None
    )
    return len(sizes) < 2 or sizes[1] <= 2 * sizes[0]


def _z(finding: Finding) -> float | None:
    """The change of a finding in standard errors, by its 95 % interval; None without one."""
    if finding.low is None or finding.high is None or finding.high <= finding.low:
        return None
    return 1.96 * abs(finding.high + finding.low) / (finding.high - finding.low)


def _reach(finding: Finding) -> frozenset[Cause]:
    """The possible causes, those included from which the finding may follow as further damage.

    Worse context makes worse answers, so numbers of answers may move with the retrieval, and an
    answer copied from it has its language. What no context does to an answer (it is cut off, it has
    no text, it cites what is not there) is broken, not moved.
    """
    causes = possible(finding)
    is_further = finding.kind in (FindingKind.MOVED, FindingKind.DRIFT)
    is_further |= _is_copied(finding)
    is_of_answers = finding.layer is not Layer.RETRIEVAL and Cause.GENERATION in causes
    return causes | FOUND if is_further and is_of_answers else causes
