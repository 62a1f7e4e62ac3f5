"""Decides what an audit has shown after some pairs, and what it judges next. Pure.

A drop is confirmed when its bound at 1 % false confirmations, shared by all rubrics and all
looks, lies beyond SLACK; it is ruled out when the 95 % interval lies above the smallest drop that
matters. Both bounds hold at every look (alerts/audits/confidence.py), so that looking often costs
nothing. The size of a drop has no such bound: a drop that is confirmed but too small to page is
measured once more, on all its records. Measured at each look, a drop of 8 points would sooner or
later show 10 by luck (docs/adr/0014-a-confirmed-drop-pages-from-ten-points.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from alerts.audits.confidence import LEAST, Differences, bounds, differences
from ragvigil.model.audit import AuditResult, AuditState, Pair, Side
from ragvigil.model.notice import Cause

FALSE_CONFIRMATIONS = 0.01
FIRST_SHARE = 0.8
"""Share of the false confirmations that the rubrics judged first may use."""
SLACK = 0.005
"""Levels wander by this much without a change; a smaller drop is never confirmed."""
INTERVAL = 0.025
"""Error of each side of the 95 % interval."""
IN_SIGHT = 2
"""Factor on the records that an audit may judge where a drop is in sight."""
ROUNDING = 1e-9
"""Rounding error of the difference of two means: 0.9 - 0.8 must count as 0.1."""
RETRIEVED, PROMPT, GROUNDED = "context_relevance", "prompt_relevance", "groundedness"
ONE_REPLY = frozenset({RETRIEVED, PROMPT, "context_precision", "answerable", "rerank_gain"})
"""Rubrics computed from the same judge reply: they share one rubric's false confirmations."""
BESIDE = frozenset({"rerank_gain"})
"""Rubrics that are read beside others, and ask for no pair of their own: few records have them."""
GENERATION = frozenset(
    {GROUNDED, "context_adherence", "completeness", "answer_relevance", "chunk_attribution"}
)
BY_CHUNKS = frozenset({"completeness", "answer_relevance", "chunk_attribution"})
"""What falls, too, where chunks hold less or older text, or are cut anew, each of them about the
question as before."""
OF_CHUNKS = (Cause.RETRIEVAL, Cause.CORPUS)


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
        """The probability of a false confirmation that one rubric may use."""
        of = self.then if rubric in self.then else self.first
        # Without `then` the first may use all of the error.
        share = 1.0 if not self.then else FIRST_SHARE if of is self.first else 1 - FIRST_SHARE
        replies = {_reply(name) for name in of}
        alike = sum(_reply(name) == _reply(rubric) for name in of)
        return FALSE_CONFIRMATIONS * share / len(replies) / alike


def sample_of(pairs: Sequence[Pair], rubric: str) -> Differences:
    """The differences, after minus before, of the pairs that have both values."""
    return differences(after - before for before, after in _values(pairs, rubric))


def is_small(before: float | None, after: float | None, page_drop: float) -> bool:
    """Whether a confirmed drop is too small to page; a drop without numbers is not.

    >>> is_small(0.9, 0.81, 0.1), is_small(0.9, 0.8, 0.1)
    (True, False)
    """
    return before is not None and after is not None and before - after < page_drop - ROUNDING


def _reply(rubric: str) -> str:
    """Names the judge reply that a rubric is computed from."""
    return min(ONE_REPLY) if rubric in ONE_REPLY else rubric


def update(before: AuditResult, pairs: Sequence[Pair], plan: Plan, now: int) -> AuditResult:
    """Updates the result of one rubric from all pairs; a decided result stays as it is.

    A small drop is measured again once it has all its records, and stays a drop.
    """
    if not _is_open(before, plan):
        return before
    if before.state is AuditState.DROPPED:
        return _measure_again(before, pairs, plan, now)
    changes = sample_of(pairs, before.rubric)
    if not changes.n:
        return before
    updated = _measure(before, pairs, changes)
    # The upper bound at this rubric's share of the false confirmations.
    _, surely = bounds(changes, plan.alpha(before.rubric))
    if changes.n < LEAST:
        return updated
    # Steady goes first: a sure drop that is smaller than the smallest that matters is none.
    if updated.low is not None and updated.low > -plan.smallest_drop:
        return replace(updated, state=AuditState.STEADY, decided_unix_nano=now)
    if surely < -SLACK:
        return replace(updated, state=AuditState.DROPPED, decided_unix_nano=now)
    return updated


def _measure(before: AuditResult, pairs: Sequence[Pair], changes: Differences) -> AuditResult:
    """Sets the numbers of a result from its pairs; `changes` are the differences of these."""
    low, high = bounds(changes, INTERVAL)
    mean = sum(first for first, _ in _values(pairs, before.rubric)) / changes.n
    return replace(
        before,
        n=changes.n,
        before=mean,
        after=mean + changes.mean,
        change=changes.mean,
        low=low,
        high=high,
    )


def _measure_again(before: AuditResult, pairs: Sequence[Pair], plan: Plan, now: int) -> AuditResult:
    """Measures a small drop on its first `records` pairs; if it is not small, decides it now.

    Rubrics of `then` are judged on the pairs of the first ones, however few those are.
    """
    rubric = before.rubric
    judged = [
        pair for pair in pairs if any(verdict.rubric == rubric for verdict in pair.after.verdicts)
    ]
    most = min(plan.records, len(pairs)) if rubric in plan.then else plan.records
    if len(judged) < most:
        return before
    updated = _measure(before, judged[:most], sample_of(judged[:most], rubric))
    return updated if _is_small(updated, plan) else replace(updated, decided_unix_nano=now)


def _is_small(result: AuditResult, plan: Plan) -> bool:
    is_dropped = result.state is AuditState.DROPPED
    return is_dropped and is_small(result.before, result.after, plan.page_drop)


def _dropped_rubrics(results: Sequence[AuditResult], plan: Plan) -> set[str]:
    """The rubrics that fell by enough to page."""
    return {
        result.rubric
        for result in results
        if result.state is AuditState.DROPPED and not _is_small(result, plan)
    }


def _is_open(result: AuditResult, plan: Plan) -> bool:
    """Whether more pairs may change this result."""
    return result.state is AuditState.RUNNING or (
        _is_small(result, plan) and result.n < plan.records
    )


def allowed_pairs(results: Sequence[AuditResult], plan: Plan) -> int:
    """The number of pairs that the audit may judge: more where a drop is in sight."""
    in_sight = any(
        result.state is AuditState.RUNNING
        and result.change is not None
        and result.n >= plan.records / 2
        and result.change < -plan.smallest_drop
        for result in results
    )
    return plan.records * (IN_SIGHT if in_sight else 1)


def next_rubrics(results: Sequence[AuditResult], plan: Plan, pairs: int) -> tuple[str, ...]:
    """Returns the rubrics still to be judged; none when the audit is at its end.

    A drop of a rubric ends those after it, which follow from it. The `then` rubrics wait until all
    the first have ended, and are left out if one of those dropped. A small drop does neither, and
    rubrics of BESIDE alone ask for nothing.
    """
    closed = {result.rubric for result in results if not _is_open(result, plan)}
    dropped = _dropped_rubrics(results, plan)
    first = _until_drop(plan.first, dropped)
    judged_first = [result for result in results if result.rubric in plan.first]
    is_left = pairs < allowed_pairs(judged_first, plan)
    running = tuple(rubric for rubric in first if rubric not in closed)
    if set(running) - BESIDE and is_left:
        return running
    if first != plan.first:
        return ()
    return tuple(rubric for rubric in _until_drop(plan.then, dropped) if rubric not in closed)


def _until_drop(rubrics: Sequence[str], dropped: Collection[str]) -> tuple[str, ...]:
    """The rubrics before the first that dropped: what comes after it follows from it."""
    return tuple(takewhile(lambda rubric: rubric not in dropped, rubrics))


def overdue(results: Sequence[AuditResult], plan: Plan, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Returns the `then` rubrics that the first `records` pairs still lack, once those are judged.

    A drop in sight gets the first rubrics more pairs; the `then` rubrics do not wait for these.
    """
    dropped = _dropped_rubrics(results, plan)
    if len(pairs) < plan.records or dropped & set(plan.first):
        return ()
    closed = {result.rubric for result in results if not _is_open(result, plan)}
    judged_rubrics = [
        {verdict.rubric for verdict in pair.after.verdicts} for pair in pairs[: plan.records]
    ]
    return tuple(
        rubric
        for rubric in _until_drop(plan.then, dropped)
        if rubric not in closed and any(rubric not in judged for judged in judged_rubrics)
    )


def caused_by(
    rubric: str, results: Sequence[AuditResult], causes: Sequence[Cause]
) -> tuple[Cause, ...]:
    """Returns the possible causes of a drop of this rubric; `causes` are those of the change.

    A drop of a generation rubric has the cause generation only where the chunks of the prompt are
    steady: worse context makes worse answers too. Answers that lack something, or cite what is not
    there, may do so by chunks that are as relevant as before, and hold less or are torn. Where the
    prompt alone lost relevance, its chunks were lost on the way. Whether chunks are worse by
    retrieval or corpus no rubric tells.
    """
    steady = {result.rubric for result in results if result.state is AuditState.STEADY}
    is_prompt_judged = any(result.rubric == PROMPT and result.n for result in results)
    if rubric in GENERATION:
        chunks = PROMPT if is_prompt_judged else RETRIEVED
        own = (Cause.GENERATION,) if chunks in steady else ()
        return own if own and rubric not in BY_CHUNKS else tuple(dict.fromkeys((*own, *causes)))
    if rubric == "factual_accuracy":
        return (Cause.CORPUS,) if GROUNDED in steady else tuple(causes)
    is_lost = rubric in BESIDE or (rubric == PROMPT and RETRIEVED in steady)
    return (Cause.RETRIEVAL,) if is_lost else OF_CHUNKS


def _values(pairs: Sequence[Pair], rubric: str) -> Iterator[tuple[float, float]]:
    """Yields the values before and after of the pairs that have both."""
    for pair in pairs:
        before, after = (_value(side, rubric) for side in (pair.before, pair.after))
        if before is not None and after is not None:
            yield before, after


def _value(side: Side, rubric: str) -> float | None:
    return next((verdict.value for verdict in side.verdicts if verdict.rubric == rubric), None)
