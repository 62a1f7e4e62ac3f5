"""What an audit may say after so many pairs, and what it could say by when. Pure.

A drop is confirmed when its bound at 1 % false confirmations, shared by all rubrics and all
looks, lies beyond SLACK; it is ruled out when the 95 % interval lies above the smallest drop that
matters. Both bounds hold at every look (alerts/confidence.py), so that looking often costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from alerts.confidence import LEAST, Differences, bounds, differences
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
ONE_REPLY = frozenset({"context_relevance", "context_precision", "answerable", "rerank_gain"})
"""Rubrics that are computed from the same grades: together they use what one may."""
GENERATION = frozenset({"groundedness", "completeness", "answer_relevance", "chunk_attribution"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an audit judges: `first`, then `then` on the same pairs; at most `records` pairs.

    It gives up after `hours`.
    """

    first: tuple[str, ...]
    then: tuple[str, ...] = ()
    records: int = 300
    smallest_drop: float = 0.04
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


def _reply(rubric: str) -> str:
    """What the judge is asked for it, by the first name in the alphabet of those it serves."""
    return min(ONE_REPLY) if rubric in ONE_REPLY else rubric


def update(before: AuditResult, pairs: Sequence[Pair], plan: Plan, now: int) -> AuditResult:
    """One rubric after a look at all pairs so far; one that is decided stays as it is."""
    if before.state is not AuditState.RUNNING:
        return before
    found = seen(pairs, before.rubric)
    if not found.n:
        return before
    low, high = bounds(found, INTERVAL)
    mean = sum(first for first, _ in _values(pairs, before.rubric)) / found.n
    updated = replace(
        before,
        n=found.n,
        before=mean,
        after=mean + found.mean,
        change=found.mean,
        low=low,
        high=high,
    )
    _, surely = bounds(found, plan.alpha(before.rubric))
    if found.n < LEAST:
        return updated
    if low > -plan.smallest_drop:
        return replace(updated, state=AuditState.STEADY, decided_unix_nano=now)
    if surely < -SLACK:
        return replace(updated, state=AuditState.DROPPED, decided_unix_nano=now)
    return updated


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
    the first have ended, and are left out where one of those dropped.
    """
    known = {one.rubric: one.state for one in results}
    states = [known.get(rubric, AuditState.RUNNING) for rubric in plan.first]
    if AuditState.DROPPED in states:
        states = states[: states.index(AuditState.DROPPED)]
    is_left = pairs < allowed([one for one in results if one.rubric in plan.first], plan)
    running = tuple(
        rubric
        for rubric, state in zip(plan.first, states, strict=False)
        if state is AuditState.RUNNING
    )
    if running and is_left:
        return running
    if len(states) < len(plan.first):
        return ()
    return tuple(
        one for one in plan.then if known.get(one, AuditState.RUNNING) is AuditState.RUNNING
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
