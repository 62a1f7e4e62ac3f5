"""One step of an audit: judges the next pairs, both sides in the same minutes, and stores them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from alerts.audits.confidence import LEAST
from alerts.audits.decide import Plan, allowed_pairs, next_rubrics, overdue, update
from alerts.audits.pairs import NOT_ASKED, Ask, Before, after_of, judge, next_pairs
from alerts.audits.words import Pace, conclusion, lack_of_records, lack_of_time, progress
from ragvigil.llm.outcome import OUTAGES, FailureKind
from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair, Verdict
from ragvigil.store.watch import audits

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

STEP_PAIRS = 16
"""Pairs of one step: with two rubrics 64 calls, some 20 seconds of a judge."""
HOUR = 3600.0
TRANSIENT = frozenset(map(str, OUTAGES))
"""Failures that pass: a pair that met one is not stored, and judged again in a later step."""
OPTIONAL = frozenset({"prompt_relevance", "rerank_gain", "factual_accuracy"})
"""Rubrics that some services have nothing for."""
BUDGET = str(FailureKind.BUDGET)
SPENT = "it lacked budget: today's reserve of the judge is spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """An audit after a step, and all its pairs; `is_full` if the next step need not wait."""

    audit: Audit
    pairs: tuple[Pair, ...]
    is_full: bool = False


def run_step(
    store: Store,
    ask: Ask,
    audit: Audit,
    pairs: tuple[Pair, ...],
    before: Before,
    plan: Plan,
    now: float,
) -> StepResult:
    """Judges the next pairs and stores them with the audit's new state.

    Raises StoreError; the audit is then unchanged.
    """
    active = _active_plan(plan, pairs)
    why = _end_reason(store, audit, pairs, active, now)
    if why:
        return _store_step(store, ended(audit, why, plan, now), pairs, (), now)
    rubrics = _due(audit, pairs, active)
    # Pairs that a rubric still lacks go first, then new ones.
    chosen, waiting = _unjudged(pairs, rubrics), 0
    if not chosen:
        after = after_of(store, audit, now)
        waiting = len(after)
        room = min(STEP_PAIRS, allowed_pairs(audit.results, active) - len(pairs))
        chosen = next_pairs(after, pairs, before, room)
    judged = judge(store, ask, chosen, rubrics) if chosen else None
    if judged is None:
        return StepResult(audit=audit, pairs=pairs)
    # A pair that met a passing failure or the budget is not kept: a refusal is no score.
    settled = tuple(pair for pair in judged if not _labels(pair) & (TRANSIENT | {BUDGET}))
    every = _merge(pairs, settled)
    active = _active_plan(plan, every)
    updated = _updated(audit, every, rubrics, active, int(now * 1e9))
    pace = Pace(an_hour=_an_hour(audit, waiting or len(every), now), now=now)
    updated = replace(updated, progress=progress(updated, every, active, pace))
    is_spent = any(BUDGET in _labels(pair) for pair in judged)
    why = SPENT if is_spent else _end_reason(store, updated, every, active, now)
    done = _store_step(
        store, ended(updated, why, plan, now) if why else updated, every, settled, now
    )
    return replace(done, is_full=len(chosen) >= STEP_PAIRS and bool(settled))


def _active_plan(plan: Plan, pairs: Sequence[Pair]) -> Plan:
    """Leaves out the rubrics that the judge does not judge here.

    It is not configured to, or they apply to none of the first LEAST records: there is no reranker,
    or no reference.
    """
    by_rubric: dict[str, list[Verdict]] = {}
    for pair in pairs:
        for verdict in pair.after.verdicts:
            by_rubric.setdefault(verdict.rubric, []).append(verdict)
    mute = {rubric for rubric, verdicts in by_rubric.items() if _is_mute(rubric, verdicts)}
    return replace(
        plan,
        first=tuple(rubric for rubric in plan.first if rubric not in mute),
        then=tuple(rubric for rubric in plan.then if rubric not in mute),
    )


def _is_mute(rubric: str, verdicts: Sequence[Verdict]) -> bool:
    if {verdict.label for verdict in verdicts} == {NOT_ASKED}:
        return True
    is_empty = all(verdict.value is None for verdict in verdicts)
    return rubric in OPTIONAL and len(verdicts) >= LEAST and is_empty


def _due(audit: Audit, pairs: Sequence[Pair], plan: Plan) -> tuple[str, ...]:
    return overdue(audit.results, plan, pairs) or next_rubrics(audit.results, plan, len(pairs))


def _end_reason(store: Store, audit: Audit, pairs: Sequence[Pair], plan: Plan, now: float) -> str:
    """Returns why the audit ends; empty while it goes on."""
    if not plan.first:
        return "it lacked rubrics: the judge is configured for none of its own ([judge] rubrics)"
    rubrics = _due(audit, pairs, plan)
    # `first` rubrics may get new pairs; `then` rubrics only complete those that exist.
    is_new_wanted = bool(set(rubrics) & set(plan.first))
    if not rubrics or not (is_new_wanted or _unjudged(pairs, rubrics)):
        return lack_of_records(audit, pairs, plan)
    if now - audit.started_unix_nano / 1e9 >= plan.hours * HOUR:
        return lack_of_time(len(after_of(store, audit, now)), len(pairs), plan)
    return ""


def _merge(pairs: Sequence[Pair], fresh: Sequence[Pair]) -> tuple[Pair, ...]:
    by_number = {pair.number: pair for pair in (*pairs, *fresh)}
    return tuple(by_number[number] for number in sorted(by_number))


def ended(audit: Audit, why: str, plan: Plan, now: float) -> Audit:
    """Ends the audit; rubrics without a decision are undecided, and `why` is the reason."""
    results = tuple(
        replace(result, state=AuditState.UNDECIDED)
        if result.state is AuditState.RUNNING
        else result
        for result in audit.results
    )
    states = {result.state for result in results}
    # The gravest state of any rubric is that of the audit.
    weights = (AuditState.DROPPED, AuditState.UNDECIDED, AuditState.STEADY)
    state = next((state for state in weights if state in states), AuditState.UNDECIDED)
    is_open = AuditState.UNDECIDED in states or not states
    over = replace(
        audit,
        results=results,
        state=state,
        ended_unix_nano=int(now * 1e9),
        why=why if is_open and state is not AuditState.DROPPED else "",
    )
    return replace(over, progress=conclusion(over, plan))


def _store_step(
    store: Store, audit: Audit, pairs: tuple[Pair, ...], fresh: Sequence[Pair], now: float
) -> StepResult:
    nanos = int(now * 1e9)
    batch = audits.batch(audit, fresh, nanos, replica=store.replica, epoch=store.epoch)
    store.write(batch)
    return StepResult(audit=audit, pairs=pairs)


def _unjudged(pairs: Sequence[Pair], rubrics: Collection[str]) -> list[Pair]:
    """Returns pairs that one of the rubrics has not judged yet, at most STEP_PAIRS."""
    return [
        pair for pair in pairs if set(rubrics) - {verdict.rubric for verdict in pair.after.verdicts}
    ][:STEP_PAIRS]


def _labels(pair: Pair) -> set[str]:
    """The labels of a pair's verdicts without a value: why each has none."""
    sides = (pair.before, pair.after)
    return {verdict.label for side in sides for verdict in side.verdicts if verdict.value is None}


def _updated(
    audit: Audit, pairs: tuple[Pair, ...], rubrics: Sequence[str], plan: Plan, now: int
) -> Audit:
    by_rubric = {result.rubric: result for result in audit.results}
    layers = {
        verdict.rubric: verdict.layer
        for pair in pairs
        for verdict in pair.after.verdicts
        if verdict.value is not None
    }
    for rubric in rubrics:
        if rubric in by_rubric or rubric in layers:
            before = by_rubric.get(rubric) or AuditResult(rubric=rubric, layer=layers[rubric])
            by_rubric[rubric] = update(before, pairs, plan, now)
    results = tuple(by_rubric.values())
    is_dropped = any(result.state is AuditState.DROPPED for result in results)
    return replace(
        audit,
        results=results,
        pairs=len(pairs),
        state=AuditState.DROPPED if is_dropped else AuditState.RUNNING,
    )


def _an_hour(audit: Audit, records: int, now: float) -> float:
    """Records an hour since the change."""
    return records / max(60.0, now - audit.anchor_unix_nano / 1e9) * HOUR
