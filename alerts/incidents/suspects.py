"""Suspects: changes that may explain findings, because they came shortly before the onset.

A change of all traffic at once leaves no control group. So a suspect only coincides with a finding;
whether it caused the finding cannot be told from here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from math import isclose

from alerts.deltas.compute import worsening
from alerts.incidents.cause import ANY, possible
from alerts.incidents.settings import IncidentSettings
from alerts.signals.settings import MovedSettings
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import CAUSES, COUNTS, ChangeKind, Notice
from ragvigil.model.signal import UNSUPPORTED

MINUTE = 60 * 10**9
EARLY = 10 * MINUTE
"""A suspect may come this long after the onset, because the onset is an estimate."""
WIDER = 2
"""An interval at 99.9 % is so much wider than at 95 %: on both sides of an onset the log-likelihood
falls about linearly, by 3.7 nats and by 7.6 (-ln(1 - sqrt(level)), Siegmund 1988)."""
MOST_SUSPECTS = 40
"""An incident has at most this many suspects that are no fixes, and as many fixes."""
LAST = 3
"""The rank, behind those of `_rank`, of an earlier suspect that no finding follows any more."""
NUMBER = re.compile(r"(?<![\w.:/+-])(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)(?![\w.:/-])", re.ASCII)
"""A number that stands alone: no part of a name, a version, a date or a time."""
MEASURED = frozenset(
    {
        ChangeKind.RECHUNKED,
        ChangeKind.REEMBEDDED,
        ChangeKind.REINDEXED,
        ChangeKind.CHUNK_COUNT,
    }
)
"""Kinds whose words hold medians of the traffic, which never come back to the digit.

All other kinds hold what the service states: version 2.5 is not version 2.4.
"""
FOUND_OTHERWISE = MEASURED | {
    ChangeKind.DOCUMENTS,
    ChangeKind.OTHER_CHUNKS,
    ChangeKind.OTHER_ORDER,
    ChangeKind.RERANKED,
}
"""Kinds that no service states: they are seen in what its questions find."""
COUNTED = frozenset({ChangeKind.TOP_K, ChangeKind.CHUNK_COUNT})
"""Kinds that are one change: what a service states of the number of chunks, and what is counted."""
LOSS = frozenset({ChangeKind.DOCUMENTS, ChangeKind.OTHER_CHUNKS})
"""Documents that are gone show as other chunks on a route whose questions seldom come back."""
MOST_LATE = 15 * MINUTE
"""Most that the beginning may be off of a change that only a share of the requests shows."""
CITATIONS = "citations"
BETTER_LOW = frozenset({"seconds_total", "cost_usd", UNSUPPORTED})
"""Numbers that are better when they are lower."""
MEASURES = frozenset(MovedSettings().measures) - {CITATIONS} - BETTER_LOW
"""Numbers of which neither direction is better."""


def suspects(
    findings: Collection[Finding],
    changes: Iterable[Notice],
    settings: IncidentSettings,
    *,
    earlier: Collection[Notice] = (),
) -> tuple[Notice, ...]:
    """Returns the changes that any of the findings follows, the likeliest first.

    `earlier` suspects that no finding follows any more stay, behind the others, while `changes`
    still has them. Fixes, which put a change back, come last.
    """
    by_id = {change.notice_id: change for change in changes}
    ranks = {change.notice_id: (LAST, 0, change.notice_id) for change in earlier}
    for finding in findings:
        for notice_id, change in by_id.items():
            if follows(finding, change, settings):
                rank = _rank(finding, change)
                ranks[notice_id] = min(rank, ranks.get(notice_id, rank))
    chain = _with_undoings(
        [by_id[notice_id] for notice_id in ranks if notice_id in by_id], by_id.values()
    )
    fix_ids = {change.notice_id for change in chain if is_fix(change, chain)}
    others = [change for change in chain if change.notice_id not in fix_ids]
    others.sort(key=lambda change: ranks.get(change.notice_id, (LAST, 0, change.notice_id)))
    fixes = [change for change in chain if change.notice_id in fix_ids]
    fixes.sort(key=lambda change: (change.since_unix_nano, change.notice_id))
    return (*others[:MOST_SUSPECTS], *fixes[:MOST_SUSPECTS])


def _with_undoings(first: Sequence[Notice], changes: Iterable[Notice]) -> list[Notice]:
    """Adds the changes that put these back, those that undo the putting back, and so on."""
    chosen, rest = list(first), [change for change in changes if change not in first]
    while True:
        more = [change for change in rest if any(undoes(change, other) for other in chosen)]
        if not more:
            return chosen
        chosen += more
        rest = [change for change in rest if change not in more]


class Changes:
    """The changes of the last hours; caches what lies before each finding."""

    def __init__(self, changes: Iterable[Notice], settings: IncidentSettings) -> None:
        self.all = tuple(changes)
        self._settings = settings
        self._before: dict[tuple[object, ...], tuple[Notice, ...]] = {}
        self._rollouts: dict[str, frozenset[str]] = {}

    def before(self, finding: Finding) -> tuple[Notice, ...]:
        """The changes that a finding follows, fixes included; the likeliest first."""
        key = (finding.finding_id, finding.since_unix_nano, finding.routes, finding.causes)
        if key not in self._before:
            near = [change for change in self.all if follows(finding, change, self._settings)]
            self._before[key] = tuple(sorted(near, key=lambda change: _rank(finding, change)))
        return self._before[key]

    def anchor(self, finding: Finding) -> Notice | None:
        """The likeliest change before one finding, fixes included; None if nothing changed."""
        return next(iter(self.before(finding)), None)

    def rollout(self, change: Notice) -> frozenset[str]:
        """The ids of a change and of all that were made with it."""
        if change.notice_id not in self._rollouts:
            self._rollouts[change.notice_id] = frozenset(
                other.notice_id
                for other in (change, *self.all)
                if is_one_change(change, other, self._settings)
            )
        return self._rollouts[change.notice_id]


def follows(finding: Finding, change: Notice, settings: IncidentSettings) -> bool:
    """Whether a finding's onset lies shortly after a change, on the change's route.

    A change without a route or an environment concerns all of them, as does a finding without
    routes. The onset may also lie up to EARLY before the change. Either way it is as near as its
    interval: on a route with few requests that is an hour wide.
    """
    lag = finding.since_unix_nano - change.since_unix_nano
    most = EARLY if lag < 0 else settings.follows_minutes * MINUTE
    return (
        change.service == finding.service
        and change.environment in ("", finding.environment)
        and (not change.route or not any(finding.routes) or change.route in finding.routes)
        and min(abs(lag), beside(finding, change.since_unix_nano)) <= most
    )


def beside(finding: Finding, time: int) -> int:
    """Nanoseconds from a time to where a finding may have begun at 99.9 %, 0 inside that.

    One fault shows in dozens of numbers, of which some begin outside of their interval at 95 %.
    """
    since = finding.since_unix_nano
    before = since - (finding.earliest_unix_nano or since)
    after = (finding.latest_unix_nano or since) - since
    return max(0, since - WIDER * before - time, time - since - WIDER * after)


def is_one_change(first: Notice, second: Notice, settings: IncidentSettings) -> bool:
    """Whether two notices of a service and environment are one change.

    That is the same change as it reaches further routes, or several kinds of change at the same
    time on the same route, of which one may be the cause of the other (a release of anything). What
    only a share of the requests shows is named by few of them: on each route perhaps otherwise.
    """
    if first.notice_id == second.notice_id:
        return True
    environments = {first.environment, second.environment} - {""}
    if first.service != second.service or len(environments) > 1:
        return False
    apart = abs(first.since_unix_nano - second.since_unix_nano)
    if _is_same_step(first, second):
        return apart <= settings.follows_minutes * MINUTE
    share_route = not first.route or not second.route or first.route == second.route
    causes = [set(CAUSES[change.kind]) for change in (first, second)]
    may_be_one = not all(causes) or bool(causes[0] & causes[1])
    near = settings.within_minutes * MINUTE
    late = max(lateness(first), lateness(second))
    partial = is_partial(first) + is_partial(second)
    is_loss = partial > 0 and _is_loss(first, second)
    # The same kind of measured change at the same time: its medians differ from route to route.
    is_measured = first.kind is second.kind and first.kind in MEASURED
    if is_loss or is_measured or (partial == 2 and may_be_one):
        return apart - late <= near
    return share_route and may_be_one and apart <= near


def _is_loss(first: Notice, second: Notice) -> bool:
    """Whether one may show the loss of documents that the other one names.

    Where documents are known to be gone, they are no reason for other chunks later.
    """
    earlier, later = sorted((first, second), key=lambda change: change.since_unix_nano)
    is_explained = earlier.route == later.route and earlier.kind is ChangeKind.DOCUMENTS
    return {first.kind, second.kind} == LOSS and not is_explained


def is_partial(change: Notice) -> bool:
    """Whether only a share of the requests shows a change that no service states.

    That is no roll-out: other chunks for a part of the questions stay that part.
    """
    return change.share < 1 and change.kind in FOUND_OTHERWISE


def lateness(change: Notice) -> int:
    """Nanoseconds by which the beginning of a change may be off."""
    found_late = change.noticed_unix_nano - change.since_unix_nano
    return min(found_late, MOST_LATE) if is_partial(change) else 0


def _is_same_step(first: Notice, second: Notice) -> bool:
    """Whether both say the same of two routes: the same kind, from the same value to the same."""
    if first.kind is not second.kind or first.environment != second.environment:
        return False
    if first.kind is ChangeKind.DOCUMENTS:
        return any(
            not set(_ids(first, name)).isdisjoint(_ids(second, name))
            for name in ("new_documents", "edited_documents", "gone_documents")
        )
    return is_alike(first.kind, first.after, second.after) and (
        first.before == second.before or is_alike(first.kind, first.before, second.before)
    )


def _ids(change: Notice, name: str) -> Sequence[str]:
    ids = change.evidence.get(name)
    return ids if isinstance(ids, list | tuple) else ()


def is_fix(change: Notice, others: Iterable[Notice]) -> bool:
    """Whether `change` undoes an earlier one of the others.

    A change that undoes a fix is no fix: it makes the first change again.
    """
    alike = [other for other in others if _is_of_one_kind(change, other)]
    fixes: set[str] = set()
    for candidate in sorted(
        (*alike, change), key=lambda candidate: (candidate.since_unix_nano, candidate.notice_id)
    ):
        if any(undoes(candidate, other) for other in alike if other.notice_id not in fixes):
            fixes.add(candidate.notice_id)
    return change.notice_id in fixes


def undoes(later: Notice, earlier: Notice) -> bool:
    """Whether a change puts an earlier one back."""
    return (
        _is_of_one_kind(later, earlier)
        and earlier.since_unix_nano < later.since_unix_nano
        and _restores(later, earlier)
    )


def _is_of_one_kind(first: Notice, second: Notice) -> bool:
    """Whether two changes of one route are of one kind, as stated and counted chunks are."""
    is_one_kind = first.kind is second.kind or {first.kind, second.kind} == COUNTED
    places = [(change.service, change.environment, change.route) for change in (first, second)]
    return is_one_kind and places[0] == places[1]


def _restores(fix: Notice, change: Notice) -> bool:
    if fix.kind is not change.kind:
        return _mirrors(fix, change)
    if fix.kind is ChangeKind.DOCUMENTS:
        put_back = (fix.evidence.get("new_documents"), fix.evidence.get("gone_documents"))
        # A fix of documents removes what was new and brings back what was gone.
        undone = (change.evidence.get("gone_documents"), change.evidence.get("new_documents"))
        # Edited ones that are as before are neither: that notice names the change that it ends.
        is_end = bool(fix.before) and fix.before == change.after
        return is_end or (put_back == undone and any(put_back))
    return is_alike(fix.kind, fix.before, change.after) and is_alike(
        fix.kind, fix.after, change.before
    )


def _mirrors(fix: Notice, change: Notice) -> bool:
    """Whether the numbers of chunks went back, each to a tenth, that both notices have."""
    pairs = [(_counts(fix, name), _counts(change, name)) for name in COUNTS]
    known = [(back, there) for back, there in pairs if back and there]
    return bool(known) and all(
        isclose(came, went, rel_tol=0.1)
        for back, there in known
        for came, went in zip(back, reversed(there), strict=True)
    )


def _counts(change: Notice, name: str) -> tuple[float, ...]:
    """The number before and since, empty where it is not known or is the same."""
    pair = change.evidence.get(name)
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return ()
    numbers = tuple(float(number) for number in pair if isinstance(number, int | float))
    return numbers if len(numbers) == 2 else ()


def is_alike(kind: ChangeKind, first: str, second: str) -> bool:
    """Whether two values are the same; of measured numbers, to a tenth. No value is like none.

    >>> is_alike(ChangeKind.RECHUNKED, "chunks of 118 characters", "chunks of 120 characters")
    True
    >>> is_alike(ChangeKind.PROMPT, "2.4", "2.5"), is_alike(ChangeKind.PROMPT, "", "")
    (False, False)
    """
    if kind not in MEASURED or first == second:
        return bool(first) and first == second
    # Words and numbers alternate, beginning with words.
    parts, others = NUMBER.split(first), NUMBER.split(second)
    return parts[::2] == others[::2] and all(
        isclose(float(number), float(other), rel_tol=0.1)
        for number, other in zip(parts[1::2], others[1::2], strict=True)
    )


def goes_back(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether a move is a recovery: it undoes the first move of its signal and route.

    A move past the level of before, to the other side, is no recovery.
    """
    moves = [
        other
        for other in others
        if (other.kind, other.signal) == (finding.kind, finding.signal)
        and other.since_unix_nano < finding.since_unix_nano
        and share_a_route(other, finding)
    ]
    if finding.kind is not FindingKind.MOVED or not moves:
        return False
    first = min(moves, key=lambda move: (move.since_unix_nano, move.finding_id))
    return direction(first) * direction(finding) < 0 and _is_restored(finding, first)


def _is_restored(finding: Finding, first: Finding) -> bool:
    """Whether a level lies nearer to that before the first move than the first move led."""
    if finding.value is None or first.value is None or first.reference is None:
        return True
    return abs(finding.value - first.reference) < abs(first.value - first.reference)


def is_good(finding: Finding) -> bool:
    """Whether a move is for the better, which opens no incident."""
    return finding.kind is FindingKind.MOVED and direction(finding) * _worse_side(finding) < 0


def is_good_or_neutral(finding: Finding) -> bool:
    """Whether a move is not for the worse: it is good, or its number has no good direction."""
    return finding.kind is FindingKind.MOVED and direction(finding) * _worse_side(finding) <= 0


def _worse_side(finding: Finding) -> int:
    """-1 if less is worse, 1 if more is worse, 0 if neither is."""
    if finding.signal == CITATIONS:
        return -1
    if finding.signal in BETTER_LOW:
        return 1
    levels = [level for level in (finding.value, finding.reference) if level is not None]
    # A rubric's mean lies within 0..1; of other numbers no better direction is known.
    is_score = all(0 <= level <= 1 for level in levels) and finding.signal not in MEASURES
    return worsening(finding.signal) if is_score else 0


def direction(finding: Finding) -> int:
    """1 if the value is over the reference, -1 if under it, 0 if that is unknown."""
    if finding.value is None or finding.reference is None:
        return 0
    return (finding.value > finding.reference) - (finding.value < finding.reference)


def share_a_route(first: Finding, second: Finding) -> bool:
    """Whether both concern a common route; a finding without routes concerns all."""
    if not any(first.routes) or not any(second.routes):
        return True
    return not set(first.routes).isdisjoint(second.routes)


def _rank(finding: Finding, change: Notice) -> tuple[int, int, str]:
    causes = CAUSES[change.kind]
    causes_of_finding = possible(finding)
    fits = bool(causes_of_finding & set(causes)) and causes_of_finding != ANY
    # 0, the likeliest: the causes agree; 1: one side is unspecific; 2: they contradict each other.
    fit = 0 if fits else 1 if not causes or causes_of_finding == ANY else 2
    return (fit, abs(finding.since_unix_nano - change.since_unix_nano), change.notice_id)
