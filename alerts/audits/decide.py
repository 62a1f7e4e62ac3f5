"""What an audit may say after so many pairs, and what it could say by when. Pure.

A drop is confirmed when its bound at 1 % false confirmations, shared by all rubrics and all
looks, lies beyond SLACK; it is ruled out when the 95 % interval lies above the smallest drop that
matters. Both bounds hold at every look (alerts/audits/confidence.py), so that looking often costs
nothing. The size of a drop has no such bound: one that is confirmed too small to page is measured
once more, on all its records, and not at each look until one shows enough by luck.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from alerts.audits.confidence import LEAST, Differences, bounds, differences
from ragvigil.model.audit import AuditResult, AuditState, Pair, Side
from ragvigil.model.notice import Cause

FALSE_CONFIRMATIONS = 0.01
FIRST_SHARE = 0.8
"""Of the false confirmations, what the rubrics that are judged first may use."""
SLACK = 0.005
"""A drop that is no larger is what levels do by themselves."""
INTERVAL = 0.025
"""Each side of the 95 % interval."""
IN_SIGHT = 2
"""Times the records that an audit may judge where a drop is in sight."""
ROUNDING = 1e-9
"""What the difference of two means may be off."""
ONE_REPLY = frozenset({"context_relevance", "context_precision", "answerable", "rerank_gain"})
"""Rubrics that are computed from the same grades: together they use what one may."""
GENERATION = frozenset({"groundedness", "completeness", "answer_relevance", "chunk_attribution"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an audit judges: `first`, then `then` on the same pairs; at most `records` pairs.

    It gives up after `hours`. A confirmed drop is small where it is under `page_drop`.
    """

    first: tuple[str, ...]
    then: tuple[str, ...] = ()
    records: int = 300
    smallest_drop: float = 0.04
    page_drop: float = 0.1
    hours: float = 6.0

    def alpha(self, rubric: str) -> float:
        """The false confirmations that one rubric may use."""
        of = self.then if rubric in self.then else self.first
        share = 1.0 if not self.then else FIRST_SHARE if of is self.first else 1 - FIRST_SHARE
        replies = {_reply(one) for one in of}
        alike = sum(_reply(one) == _reply(rubric) for one in of)
        return FALSE_CONFIRMATIONS * share / len(replies) / alike


def seen(pairs: Sequence[Pair], rubric: str) -> Differences:
    """After minus before, of the pairs that have both values."""
    return differences(after - before for before, after in _values(pairs, rubric))


def is_small(before: float | None, after: float | None, page_drop: float) -> bool:
    """Whether a confirmed drop is too small to page; one without numbers is not.

    >>> is_small(0.9, 0.81, 0.1), is_small(0.9, 0.8, 0.1)
    (True, False)
    """
    return before is not None and after is not None and before - after < page_drop - ROUNDING


def _reply(rubric: str) -> str:
    """What the judge is asked for it, by the first name in the alphabet of those it serves."""
    return min(ONE_REPLY) if rubric in ONE_REPLY else rubric


def update(before: AuditResult, pairs: Sequence[Pair], plan: Plan, now: int) -> AuditResult:
    """One rubric after a look at all pairs so far; one that is decided stays as it is.

    A small drop is measured again once it has all its records, and stays a drop.
    """
    if not _is_open(before, plan):
        return before
    if before.state is AuditState.DROPPED:
        return _measured_again(before, pairs, plan, now)
    found = seen(pairs, before.rubric)
    if not found.n:
        return before
    updated = _measured(before, pairs, found)
    _, surely = bounds(found, plan.alpha(before.rubric))
    if found.n < LEAST:
        return updated
    if updated.low is not None and updated.low > -plan.smallest_drop:
        return replace(updated, state=AuditState.STEADY, decided_unix_nano=now)
    if surely < -SLACK:
        return replace(updated, state=AuditState.DROPPED, decided_unix_nano=now)
    return updated


def _measured(before: AuditResult, pairs: Sequence[Pair], found: Differences) -> AuditResult:
    """The numbers of these pairs, of which `found` are the differences, at least one."""
    low, high = bounds(found, INTERVAL)
    mean = sum(first for first, _ in _values(pairs, before.rubric)) / found.n
    return replace(
        before,
        n=found.n,
        before=mean,
        after=mean + found.mean,
        change=found.mean,
        low=low,
        high=high,
    )


def _measured_again(
    before: AuditResult, pairs: Sequence[Pair], plan: Plan, now: int
) -> AuditResult:
    """A small drop on its first `records` pairs, decided anew where it is not small after all.

    Rubrics of `then` are judged on the pairs of the others, however few those are.
    """
    rubric = before.rubric
    judged = [pair for pair in pairs if any(one.rubric == rubric for one in pair.after.verdicts)]
    most = min(plan.records, len(pairs)) if rubric in plan.then else plan.records
    if len(judged) < most:
        return before
    updated = _measured(before, judged[:most], seen(judged[:most], rubric))
    return updated if _is_small(updated, plan) else replace(updated, decided_unix_nano=now)


def _is_small(one: AuditResult, plan: Plan) -> bool:
    is_dropped = one.state is AuditState.DROPPED
    return is_dropped and is_small(one.before, one.after, plan.page_drop)


def _dropped(results: Sequence[AuditResult], plan: Plan) -> set[str]:
    """The rubrics that fell by enough to page."""
    return {
        one.rubric
        for one in results
        if one.state is AuditState.DROPPED and not _is_small(one, plan)
    }


def _is_open(one: AuditResult, plan: Plan) -> bool:
    """Whether more pairs may still tell something of it."""
    return one.state is AuditState.RUNNING or (_is_small(one, plan) and one.n < plan.records)


def allowed(results: Sequence[AuditResult], plan: Plan) -> int:
    """Pairs that the audit may judge by what it has seen."""
    in_sight = any(
        one.state is AuditState.RUNNING
        and one.change is not None
        and one.n >= plan.records / 2
        and one.change < -plan.smallest_drop
        for one in results
    )
    return plan.records * (IN_SIGHT if in_sight else 1)


def wanted(results: Sequence[AuditResult], plan: Plan, pairs: int) -> tuple[str, ...]:
    """The rubrics that are still to be judged; none when the audit is at its end.

    A drop of a rubric ends those after it: they follow from it. The `then` ones wait until all
    the first have ended, and are left out where one of those dropped. A small drop does neither.
    """
    closed = {one.rubric for one in results if not _is_open(one, plan)}
    first = tuple(takewhile(lambda rubric: rubric not in _dropped(results, plan), plan.first))
    is_left = pairs < allowed([one for one in results if one.rubric in plan.first], plan)
    running = tuple(rubric for rubric in first if rubric not in closed)
    if running and is_left:
        return running
    if first != plan.first:
        return ()
    return tuple(rubric for rubric in plan.then if rubric not in closed)


def overdue(results: Sequence[AuditResult], plan: Plan, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The `then` rubrics that the first `records` pairs still lack, once there are as many.

    A drop in sight gets the first rubrics more pairs; what comes then does not wait for those.
    """
    if len(pairs) < plan.records or _dropped(results, plan) & set(plan.first):
        return ()
    closed = {one.rubric for one in results if not _is_open(one, plan)}
    known = [{one.rubric for one in pair.after.verdicts} for pair in pairs[: plan.records]]
    return tuple(
        rubric
        for rubric in plan.then
        if rubric not in closed and any(rubric not in judged for judged in known)
    )


def caused_by(
    rubric: str, results: Sequence[AuditResult], causes: Sequence[Cause]
) -> tuple[Cause, ...]:
    """What a drop of this rubric can be pinned to, the change's own causes among it first.

    A drop of a generation rubric alone is one of generation only where relevance is steady.
    """
    states = {one.rubric: one.state for one in results}
    if rubric in GENERATION:
        if states.get("context_relevance") is AuditState.STEADY:
            return (Cause.GENERATION,)
        return tuple(causes)
    implied = (Cause.RETRIEVAL, Cause.CORPUS)
    return tuple(one for one in implied if one in causes) or implied[:1]


def _values(pairs: Sequence[Pair], rubric: str) -> Iterator[tuple[float, float]]:
    """Before and after, of the pairs that have both."""
    for pair in pairs:
        before, after = (_value(one, rubric) for one in (pair.before, pair.after))
        if before is not None and after is not None:
            yield before, after


def _value(side: Side, rubric: str) -> float | None:
    return next((one.value for one in side.verdicts if one.rubric == rubric), None)
