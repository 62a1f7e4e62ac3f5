"""Judges the canary again, on schedule and when the instrument changes, and shows what moved."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import structlog
from prometheus_client import Gauge

from ragvigil.llm.outcome import Purpose
from ragvigil.model.score import Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records.record_rows import RubricFacts, segment
from ragvigil.store.scores import canary
from ragvigil.store.scores.canary import CanaryScore, CanarySet
from scorers.calibration.canary_rows import choose, shifts
from scorers.judge.job import JudgeJob
from scorers.rubric import load_rubrics

log = structlog.get_logger()

MOVED = Gauge(
    "ragvigil_judge_moved",
    "1 where the last run over the frozen canary differs from the first, 0 where it does not.",
    ["rubric"],
)
HOUR = 3600.0


class CanaryJob:
    """One duty: chooses a canary once enough is judged, then runs it when it is due."""

    def __init__(
        self,
        store: Store,
        judging: JudgeJob,
        facts: Mapping[str, RubricFacts],
        *,
        model: str,
        every_hours: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._judging, self._facts = store, judging, facts
        self._model, self._every, self._clock = model, every_hours * HOUR, clock

    def run(self) -> bool:
        """Whether the canary was judged."""
        judged = self._judging.judged
        if not judged or not self._every:
            return False
        bars = {
            name: fact.fails_below
            for name, fact in self._facts.items()
            if name in judged and fact.fails_below is not None
        }
        chosen = canary.current(self._store) or choose(self._store, self._clock(), bars)
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
        """Long enough since the last run, or a run of another model or rubric version."""
        runs = canary.runs(self._store, chosen.set_id, last=1)
        if not runs:
            return True
        last = runs[-1]
        since = self._clock() - last[0].time_unix_nano / 1e9
        return since >= self._every or {one.segment for one in last} != self._segments()

    def _segments(self) -> set[str]:
        rubrics = load_rubrics()
        return {
            segment(
                self._facts[name],
                Score(rubric=name, scorer=self._model, version=rubrics[name].version),
            )
            for name in self._judging.judged
        }

    def _judge(self, chosen: CanarySet) -> bool:
        began = int(self._clock() * 1e9)
        records = [one.record for one in chosen.members]
        said = self._judging.judge_now(records, Purpose.CANARY)
        if said is None:
            return False
        rows: list[CanaryScore] = []
        for record, scores in zip(records, said, strict=True):
            rows += canary.scored(str(began), began, record, scores, self._facts)
        batch = canary.scores_batch(
            chosen.set_id, rows, began, replica=self._store.replica, epoch=self._store.epoch
        )
        self._store.write(batch)
        return True
