"""Which changes may explain findings: those shortly before the onset, the likeliest first.

A full switch has no control group, so a suspect coincides with what it precedes; whether it caused
that, nobody can tell from here.
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
from ragvigil.model.notice import CAUSES, ChangeKind, Notice

MINUTE = 60 * 10**9
EARLY = 10 * MINUTE
"""A change may be seen a little after the onset, which is an estimate."""
MOST_SUSPECTS = 40
LAST = 3
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.-])")
"""A number that stands alone: none in the name of a model."""
CITATIONS = "citations"
COSTLY = frozenset({"seconds_total", "cost_usd"})
"""Numbers of which less is better."""
MEASURES = frozenset(MovedSettings().measures) - {CITATIONS} - COSTLY
"""Numbers of which neither more nor less is better."""


def suspects(
    findings: Collection[Finding],
    changes: Iterable[Notice],
    settings: IncidentSettings,
    *,
    earlier: Collection[Notice] = (),
) -> tuple[Notice, ...]:
    """The changes that precede any of the findings on its routes, the likeliest first.

    A suspect of earlier stays one, after the others. What put one back stands at the end.
    """
    known = {one.notice_id: one for one in changes}
    ranks = {one.notice_id: (LAST, 0, one.notice_id) for one in earlier}
    for finding in findings:
        for name, change in known.items():
            if follows(finding, change, settings):
                rank = _rank(finding, change)
                ranks[name] = min(rank, ranks.get(name, rank))
    found = _with_swaps([known[name] for name in ranks if name in known], known.values())
    fixes = {one.notice_id for one in found if is_fix(one, found)}
    named = [one for one in found if one.notice_id not in fixes]
    named.sort(key=lambda one: ranks.get(one.notice_id, (LAST, 0, one.notice_id)))
    put_back = [one for one in found if one.notice_id in fixes]
    put_back.sort(key=lambda one: (one.since_unix_nano, one.notice_id))
    return (*named[:MOST_SUSPECTS], *put_back[:MOST_SUSPECTS])


def _with_swaps(found: Sequence[Notice], known: Iterable[Notice]) -> list[Notice]:
    """These changes, what put them back, what was put in place again, and so on."""
    chosen, rest = list(found), [one for one in known if one not in found]
    while True:
        more = [one for one in rest if any(_is_swap(one, other) for other in chosen)]
        if not more:
            return chosen
        chosen += more
        rest = [one for one in rest if one not in more]


class Changes:
    """The changes of the last hours; tells the likeliest before a finding, and remembers it."""

    def __init__(self, changes: Iterable[Notice], settings: IncidentSettings) -> None:
        self.all = tuple(changes)
        self._settings = settings
        self._anchors: dict[tuple[object, ...], Notice | None] = {}

    def anchor(self, finding: Finding) -> Notice | None:
        """The likeliest change before one finding, a fix included; None where nothing changed."""
        key = (finding.finding_id, finding.since_unix_nano, finding.routes, finding.causes)
        if key not in self._anchors:
            near = [one for one in self.all if follows(finding, one, self._settings)]
            self._anchors[key] = min(near, key=lambda one: _rank(finding, one), default=None)
        return self._anchors[key]


def follows(finding: Finding, change: Notice, settings: IncidentSettings) -> bool:
    """Whether the onset lies shortly after the change, on a route of it.

    A change without a route or an environment is one of all of them.
    """
    lag = finding.since_unix_nano - change.since_unix_nano
    return (
        change.service == finding.service
        and change.environment in ("", finding.environment)
        and (not change.route or not any(finding.routes) or change.route in finding.routes)
        and -EARLY <= lag <= settings.follows_minutes * MINUTE
    )


def is_one_change(first: Notice, second: Notice, settings: IncidentSettings) -> bool:
    """Whether two notices of a service are one rollout: together in time, whatever the route."""
    apart = abs(first.since_unix_nano - second.since_unix_nano)
    return first.notice_id == second.notice_id or apart <= settings.within_minutes * MINUTE


def is_fix(change: Notice, others: Iterable[Notice]) -> bool:
    """Whether `change` puts back what one of the others, earlier, had changed.

    What puts a fix back is no fix, it is the change again.
    """
    place = (change.kind, change.service, change.route)
    alike = [one for one in others if (one.kind, one.service, one.route) == place]
    fixes: set[str] = set()
    for one in sorted((*alike, change), key=lambda one: (one.since_unix_nano, one.notice_id)):
        if any(_is_swap(one, other) for other in alike if other.notice_id not in fixes):
            fixes.add(one.notice_id)
    return change.notice_id in fixes


def _is_swap(later: Notice, earlier: Notice) -> bool:
    place = (later.kind, later.service, later.route)
    return (
        place == (earlier.kind, earlier.service, earlier.route)
        and earlier.since_unix_nano < later.since_unix_nano
        and _swaps(later, earlier)
    )


def _swaps(fix: Notice, change: Notice) -> bool:
    if fix.kind is ChangeKind.DOCUMENTS:
        put_back = (fix.evidence.get("new_documents"), fix.evidence.get("gone_documents"))
        taken = (change.evidence.get("gone_documents"), change.evidence.get("new_documents"))
        return put_back == taken and any(put_back)
    return _is_alike(fix.before, change.after) and _is_alike(fix.after, change.before)


def _is_alike(first: str, second: str) -> bool:
    """The same words, and measured numbers that differ by a tenth at most.

    >>> _is_alike("chunks of 118 characters", "chunks of 120 characters")
    True
    >>> _is_alike("small", "large"), _is_alike("", "")
    (False, False)
    """
    if NUMBER.sub("#", first) != NUMBER.sub("#", second):
        return False
    pairs = zip(NUMBER.findall(first), NUMBER.findall(second), strict=True)
    return bool(first) and all(isclose(float(a), float(b), rel_tol=0.1) for a, b in pairs)


def goes_back(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether a move is the way back: the first move of its signal and route went the other way."""
    moves = [
        one
        for one in others
        if (one.kind, one.signal) == (finding.kind, finding.signal)
        and one.since_unix_nano < finding.since_unix_nano
        and share_a_route(one, finding)
    ]
    if finding.kind is not FindingKind.MOVED or not moves:
        return False
    first = min(moves, key=lambda one: (one.since_unix_nano, one.finding_id))
    return direction(first) * direction(finding) < 0


def is_good(finding: Finding) -> bool:
    """Whether a move is for the better: that alone is nobody's incident."""
    return finding.kind is FindingKind.MOVED and direction(finding) * _worse_side(finding) < 0


def is_good_or_neutral(finding: Finding) -> bool:
    """Whether a move is not for the worse: a rubric that rose, or a number without a good side."""
    return finding.kind is FindingKind.MOVED and direction(finding) * _worse_side(finding) <= 0


def _worse_side(finding: Finding) -> int:
    """-1 where less is worse, 1 where more is, 0 where neither."""
    if finding.signal == CITATIONS:
        return -1
    if finding.signal in COSTLY:
        return 1
    levels = [one for one in (finding.value, finding.reference) if one is not None]
    is_score = all(0 <= one <= 1 for one in levels) and finding.signal not in MEASURES
    return worsening(finding.signal) if is_score else 0


def direction(finding: Finding) -> int:
    """1 where the value stands over the reference, -1 under it, 0 where that is unknown."""
    if finding.value is None or finding.reference is None:
        return 0
    return (finding.value > finding.reference) - (finding.value < finding.reference)


def share_a_route(first: Finding, second: Finding) -> bool:
    """Whether both speak of one route; a finding without routes speaks of all."""
    if not any(first.routes) or not any(second.routes):
        return True
    return not set(first.routes).isdisjoint(second.routes)


def _rank(finding: Finding, change: Notice) -> tuple[int, int, str]:
    causes = CAUSES[change.kind]
    told = possible(finding)
    fits = bool(told & set(causes)) and told != ANY
    fit = 0 if fits else 1 if not causes or told == ANY else 2
    return (fit, abs(finding.since_unix_nano - change.since_unix_nano), change.notice_id)
