"""The canary between store and calibration: chosen, frozen, and its runs compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragvigil.model.score import Kind
from ragvigil.store.engine.batch import token_of
from ragvigil.store.scores import canary, judged, verdicts
from ragvigil.store.scores.canary import CanaryRecord, CanaryScore, CanarySet
from scorers.calibration.canary import Judged, Key, Shift, compare, pick

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

CHOSEN_FROM_SECONDS = 14 * 86_400
LEAST_MEMBERS = 30
"""A smaller canary could not tell a judge that moved; it waits for more judged records."""
CHOSEN_FROM = 5_000
"""Pairs of record and rubric, the newest, that a canary is chosen from."""


def choose(store: Store, now: float, bars: Mapping[str, float]) -> CanarySet | None:
    """A new set from the records judged lately, stored; None while these are too few.

    `bars` holds the value under which a record fails each judged rubric.
    """
    said = verdicts.recent(store, int(now) - CHOSEN_FROM_SECONDS, limit=CHOSEN_FROM)
    found: dict[Key, dict[str, float]] = {}
    routes: dict[Key, str] = {}
    for one in said:
        if one.kind is Kind.JUDGE and one.value is not None:
            key = (one.trace_id, one.record_id)
            found.setdefault(key, {})[one.rubric] = one.value
            routes[key] = one.route
    picked = pick(
        (Judged(key=key, route=routes[key], values=values) for key, values in found.items()), bars
    )
    records = judged.read(store, [one.key for one in picked])
    members = tuple(
        CanaryRecord(record=records[one.key].record, kind=one.group.value)
        for one in sorted(picked, key=lambda one: one.key)
        if one.key in records
    )
    if len(members) < LEAST_MEMBERS:
        return None
    names = (f"{one.record.trace_id} {one.record.record_id}" for one in members)
    chosen = CanarySet(
        set_id=token_of(*names)[:16], chosen_unix_nano=int(now * 1e9), members=members
    )
    store.write(canary.members_batch(chosen, replica=store.replica, epoch=store.epoch))
    return chosen


def shifts(store: Store, set_id: str, bars: Mapping[str, float]) -> list[Shift]:
    """What the last run of a set says against the first, rubric by rubric; empty before two."""
    found = canary.runs(store, set_id, last=1)
    if len(found) < 2:
        return []
    first, last = _values(found[0]), _values(found[-1])
    both = sorted(first.keys() & last.keys())
    return [
        compare(rubric, first[rubric], last[rubric], bars.get(rubric), rubrics=len(both))
        for rubric in both
    ]


def _values(run: list[CanaryScore]) -> dict[str, dict[Key, float]]:
    """By rubric and record; what has no value was not said."""
    found: dict[str, dict[Key, float]] = {}
    for one in run:
        if one.value is not None:
            found.setdefault(one.rubric, {})[one.trace_id, one.record_id] = one.value
    return found
