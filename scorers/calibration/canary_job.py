"""Chooses the canary, judges it again on schedule or when the judge changes, and compares runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import structlog
from prometheus_client import Gauge

from ragvigil.llm.outcome import Purpose
from ragvigil.model.score import Kind, Score
from ragvigil.store.engine.batch import token_of
from ragvigil.store.engine.store import Store
from ragvigil.store.records.record_rows import RubricFacts, segment
from ragvigil.store.scores import canary, judged, verdicts
from ragvigil.store.scores.canary import CanaryRecord, CanaryScore, CanarySet
from scorers.calibration.canary import JudgedRecord, Key, Shift, compare, pick
from scorers.judge.job import JudgeJob
from scorers.rubric import load_rubrics

log = structlog.get_logger()

MOVED = Gauge(
    "ragvigil_judge_moved",
    "1 where the last run over the frozen canary differs from the first, 0 where it does not.",
    ["rubric"],
)
HOUR = 3600.0
CHOSEN_FROM_SECONDS = 14 * 86_400
LEAST_MEMBERS = 30
"""A smaller canary could not show that a judge moved; the job waits for more judged records."""
CHOSEN_FROM = 5_000
"""Newest verdicts, of one record and rubric each, that a canary is chosen from."""


class CanaryJob:
    """A periodic job: chooses a canary once enough is judged, then judges it when it is due."""

    def __init__(
        self,
        store: Store,
        judge: JudgeJob,
        facts: Mapping[str, RubricFacts],
        *,
        model: str,
        every_hours: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._judge_job, self._facts = store, judge, facts
        self._model, self._every, self._clock = model, every_hours * HOUR, clock

    def run(self) -> bool:
        """Judges the canary if it is due and shows what moved; returns whether it was judged."""
        judged_rubrics = self._judge_job.judged
        if not judged_rubrics or not self._every:
            return False
        bars = {
            name: fact.fails_below
            for name, fact in list(self._facts.items())  # rubrics are accepted meanwhile
            if name in judged_rubrics and fact.fails_below is not None
        }
        chosen = canary.current(self._store) or choose_canary(self._store, self._clock(), bars)
        if chosen is None or not self._is_due(chosen):
            return False
        is_run = self._judge(chosen)
        for shift in shifts(self._store, chosen.set_id, bars):
            if shift.moved is not None:
                MOVED.labels(shift.rubric).set(shift.moved)
            if shift.moved:
                log.warning("the judge moved", rubric=shift.rubric, why=shift.why)
        return is_run

    def _is_due(self, chosen: CanarySet) -> bool:
        """Whether the last run is old enough, or was by another model or rubric version."""
        runs = canary.runs(self._store, chosen.set_id, last=1)
        if not runs:
            return True
        last = runs[-1]
        since = self._clock() - last[0].time_unix_nano / 1e9
        return since >= self._every or {score.segment for score in last} != self._segments()

    def _segments(self) -> set[str]:
        rubrics = load_rubrics()
        return {
            segment(
                self._facts[name],
                Score(rubric=name, scorer=self._model, version=rubrics[name].version),
            )
            for name in self._judge_job.judged
        }

    def _judge(self, chosen: CanarySet) -> bool:
        began = int(self._clock() * 1e9)
        records = [member.record for member in chosen.members]
        scores_by_record = self._judge_job.judge_now(records, Purpose.CANARY)
        if scores_by_record is None:
            return False
        rows: list[CanaryScore] = []
        for record, scores in zip(records, scores_by_record, strict=True):
            rows += canary.scores_of_run(str(began), began, record, scores, self._facts)
        batch = canary.scores_batch(
            chosen.set_id, rows, began, replica=self._store.replica, epoch=self._store.epoch
        )
        self._store.write(batch)
        return True


def choose_canary(store: Store, now: float, bars: Mapping[str, float]) -> CanarySet | None:
    """Chooses a canary from recently judged records and stores it; None while these are too few.

    `now` is in seconds since the epoch; `bars` holds the value under which a record fails each
    judged rubric.
    """
    recent = verdicts.recent(store, int(now) - CHOSEN_FROM_SECONDS, limit=CHOSEN_FROM)
    values: dict[Key, dict[str, float]] = {}
    routes: dict[Key, str] = {}
    for verdict in recent:
        if verdict.kind is Kind.JUDGE and verdict.value is not None:
            key = (verdict.trace_id, verdict.record_id)
            values.setdefault(key, {})[verdict.rubric] = verdict.value
            routes[key] = verdict.route
    picked = pick(
        (JudgedRecord(key=key, route=routes[key], values=values) for key, values in values.items()),
        bars,
    )
    records = judged.read(store, [member.key for member in picked])
    # In the order of keys: the same records make the same set id.
    members = tuple(
        CanaryRecord(record=records[member.key].record, kind=member.group.value)
        for member in sorted(picked, key=lambda member: member.key)
        if member.key in records
    )
    if len(members) < LEAST_MEMBERS:
        return None
    names = (f"{member.record.trace_id} {member.record.record_id}" for member in members)
    chosen = CanarySet(
        set_id=token_of(*names)[:16], chosen_unix_nano=int(now * 1e9), members=members
    )
    store.write(canary.members_batch(chosen, replica=store.replica, epoch=store.epoch))
    return chosen


def shifts(store: Store, set_id: str, bars: Mapping[str, float]) -> list[Shift]:
    """Compares the last run of a set with the first, rubric by rubric; empty before two runs."""
    runs = canary.runs(store, set_id, last=1)
    if len(runs) < 2:
        return []
    first, last = _values(runs[0]), _values(runs[-1])
    rubrics = sorted(first.keys() & last.keys())
    return [
        compare(rubric, first[rubric], last[rubric], bars.get(rubric), rubrics=len(rubrics))
        for rubric in rubrics
    ]


def _values(run: list[CanaryScore]) -> dict[str, dict[Key, float]]:
    """The values of a run by rubric and record; leaves out scores without a value."""
    values: dict[str, dict[Key, float]] = {}
    for score in run:
        if score.value is not None:
            values.setdefault(score.rubric, {})[score.trace_id, score.record_id] = score.value
    return values
