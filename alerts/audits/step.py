"""One look of an audit: the next pairs, judged on both sides in the same minutes, and stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from alerts.audits.decide import Plan, allowed, overdue, update, wanted
from alerts.audits.pairs import NOT_ASKED, Ask, Before, after_of, judge, next_pairs
from alerts.audits.words import Pace, conclusion, progress
from ragvigil.llm.outcome import FailureKind
from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair
from ragvigil.store.watch import audits

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

LOOK_PAIRS = 16
"""Pairs of one look: with two rubrics 64 calls, some 20 seconds of a judge."""
HOUR = 3600.0
PASSING = frozenset(
    map(
        str,
        (
            FailureKind.TIMEOUT,
            FailureKind.RATE_LIMITED,
            FailureKind.UNAVAILABLE,
            FailureKind.BREAKER_OPEN,
        ),
    )
)
"""A pair that met one of these is judged again later."""
BUDGET = str(FailureKind.BUDGET)
SPENT = "at the budget: today's reserve of the judge is spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """An audit after a look, and all its pairs; `is_full` where more could be judged at once."""

    audit: Audit
    pairs: tuple[Pair, ...]
    is_full: bool = False


def look(
    store: Store,
    ask: Ask,
    audit: Audit,
    pairs: tuple[Pair, ...],
    before: Before,
    plan: Plan,
    now: float,
) -> Looked:
    """Judges what is next and stores it. Raises StoreError; the audit is then as it was."""
    asked = _asked(plan, pairs)
    why = _over(audit, pairs, asked, now)
    if why:
        return _stored(store, ended(audit, why, plan, now), pairs, (), now)
    rubrics = _due(audit, pairs, asked)
    chosen, waiting = _unjudged(pairs, rubrics), 0
    if not chosen:
        after = after_of(store, audit, now)
        waiting = len(after)
        room = min(LOOK_PAIRS, allowed(audit.results, asked) - len(pairs))
        chosen = next_pairs(after, pairs, before, room)
    said = judge(store, ask, chosen, rubrics) if chosen else None
    if said is None:
        return Looked(audit=audit, pairs=pairs)
    kept = tuple(one for one in said if not _labels(one) & (PASSING | {BUDGET}))
    every = _merged(pairs, kept)
    asked = _asked(plan, every)
    looked = _updated(audit, every, rubrics, asked, int(now * 1e9))
    pace = Pace(an_hour=_an_hour(audit, waiting or len(every), now), now=now)
    looked = replace(looked, progress=progress(looked, every, asked, pace))
    is_spent = any(BUDGET in _labels(one) for one in said)
    why = SPENT if is_spent else _over(looked, every, asked, now)
    done = _stored(store, ended(looked, why, plan, now) if why else looked, every, kept, now)
    return replace(done, is_full=len(chosen) >= LOOK_PAIRS and bool(kept))


def _asked(plan: Plan, pairs: Sequence[Pair]) -> Plan:
    """The plan without rubrics that the judge, as it is configured, never speaks of."""
    labels: dict[str, set[str]] = {}
    for pair in pairs:
        for one in pair.after.verdicts:
            labels.setdefault(one.rubric, set()).add(one.label)
    mute = {rubric for rubric, found in labels.items() if found == {NOT_ASKED}}
    return replace(
        plan,
        first=tuple(one for one in plan.first if one not in mute),
        then=tuple(one for one in plan.then if one not in mute),
    )


def _due(audit: Audit, pairs: Sequence[Pair], plan: Plan) -> tuple[str, ...]:
    return overdue(audit.results, plan, pairs) or wanted(audit.results, plan, len(pairs))


def _over(audit: Audit, pairs: Sequence[Pair], plan: Plan, now: float) -> str:
    """Why nothing is left to do; empty while something is."""
    if not plan.first:
        return "the judge is asked none of its rubrics: [judge] rubrics"
    rubrics = _due(audit, pairs, plan)
    is_new_wanted = bool(set(rubrics) & set(plan.first))
    if not rubrics or not (is_new_wanted or _unjudged(pairs, rubrics)):
        return f"at the budget: {len(pairs)} pairs judged"
    if now - audit.started_unix_nano / 1e9 >= plan.hours * HOUR:
        return f"after {plan.hours:g} hours, with {len(pairs)} pairs"
    return ""


def _merged(pairs: Sequence[Pair], fresh: Sequence[Pair]) -> tuple[Pair, ...]:
    known = {one.number: one for one in (*pairs, *fresh)}
    return tuple(known[number] for number in sorted(known))


def ended(audit: Audit, why: str, plan: Plan, now: float) -> Audit:
    """The audit at its end; what is not decided by now stays undecided, and `why` says why."""
    results = tuple(
        replace(one, state=AuditState.UNDECIDED) if one.state is AuditState.RUNNING else one
        for one in audit.results
    )
    states = {one.state for one in results}
    weights = (AuditState.DROPPED, AuditState.UNDECIDED, AuditState.STEADY)
    state = next((one for one in weights if one in states), AuditState.UNDECIDED)
    is_open = AuditState.UNDECIDED in states or not states
    over = replace(
        audit,
        results=results,
        state=state,
        ended_unix_nano=int(now * 1e9),
        why=why if is_open and state is not AuditState.DROPPED else "",
    )
    return replace(over, progress=conclusion(over, plan))


def _stored(
    store: Store, audit: Audit, pairs: tuple[Pair, ...], fresh: Sequence[Pair], now: float
) -> Looked:
    nanos = int(now * 1e9)
    batch = audits.batch(audit, fresh, nanos, replica=store.replica, epoch=store.epoch)
    store.write(batch)
    return Looked(audit=audit, pairs=pairs)


def _unjudged(pairs: Sequence[Pair], rubrics: Collection[str]) -> list[Pair]:
    """Known pairs that one of the rubrics has not judged yet, as many as a look takes."""
    return [pair for pair in pairs if set(rubrics) - {one.rubric for one in pair.after.verdicts}][
        :LOOK_PAIRS
    ]


def _labels(pair: Pair) -> set[str]:
    """Why verdicts of this pair have no value."""
    sides = (pair.before, pair.after)
    return {one.label for side in sides for one in side.verdicts if one.value is None}


def _updated(
    audit: Audit, pairs: tuple[Pair, ...], rubrics: Sequence[str], plan: Plan, now: int
) -> Audit:
    known = {one.rubric: one for one in audit.results}
    layers = {
        one.rubric: one.layer
        for pair in pairs
        for one in pair.after.verdicts
        if one.value is not None
    }
    for rubric in rubrics:
        if rubric in known or rubric in layers:
            one = known.get(rubric) or AuditResult(rubric=rubric, layer=layers[rubric])
            known[rubric] = update(one, pairs, plan, now)
    results = tuple(known.values())
    is_dropped = any(one.state is AuditState.DROPPED for one in results)
    return replace(
        audit,
        results=results,
        pairs=len(pairs),
        state=AuditState.DROPPED if is_dropped else AuditState.RUNNING,
    )


def _an_hour(audit: Audit, records: int, now: float) -> float:
    """After-records an hour since the change."""
    return records / max(60.0, now - audit.anchor_unix_nano / 1e9) * HOUR
