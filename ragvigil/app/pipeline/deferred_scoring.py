"""Scores records after they are stored: the judge a sample, local models as time allows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from alerts.deltas.metrics import ScoreMetrics
from ragvigil.app.pipeline.catch_up import Lag
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.app.pipeline.summary import Rates
from ragvigil.app.settings import Settings
from ragvigil.extras import has_local_models
from ragvigil.inference.process import Inference
from ragvigil.model.clock import Clock
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records import traffic
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.scores import judged
from ragvigil.store.scores.judged import StoredRecord
from scorers.calibration.canary_job import CanaryJob
from scorers.calibration.label_bar_job import LabelBarJob
from scorers.golden import read_golden
from scorers.guards.job import PatternScoring
from scorers.judge.job import Deliver, JudgeJob
from scorers.local.job import LocalScoring

FEEDBACK_SECONDS = 600.0
"""Complaints of this long before the start are read again: none is missed between two lives of
the core, and a record is queued once all the same."""
PACE_DAYS, DAY = 7, 86_400
LATE_SECONDS = 7.0
"""The lag from which the judge waits: that of a busy core that keeps up is shorter."""


class DeferredScoring:
    """Offers stored outcomes to the judge and to local models, and writes their scores.

    `dirty_minutes` gets the minutes whose roll-ups change; `on_scored` gets the scores once they
    are stored. `offer` and `give_way` are called in the pipeline's thread, `_deliver` in those of
    the judge, of local models and of patterns, the rest in those of jobs.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        inference: Inference,
        facts: Mapping[str, RubricFacts],
        scores: ScoreMetrics,
        dirty_minutes: DirtyMinutes,
        clock: Clock = time.time,
        on_scored: Deliver = lambda _: None,
    ) -> None:
        self._store, self._facts, self._scores = store, facts, scores
        self._dirty_minutes = dirty_minutes
        self._clock, self._on_scored = clock, on_scored
        self._feedback_read = clock() - FEEDBACK_SECONDS
        self._judging = self._judge_job(settings)
        self.canary = CanaryJob(
            store,
            self._judging,
            facts,
            model=settings.judge.model,
            every_hours=settings.judge.canary_hours,
            clock=clock,
        )
        self.labelling = LabelBarJob(store, settings.scorers, clock)
        self.labelling.refresh()
        self.local = self._local_scoring(settings, inference)
        self.patterns = PatternScoring(store, self._deliver, clock)

    def _judge_job(self, settings: Settings) -> JudgeJob:
        bars = {name: fact.fails_below for name, fact in self._facts.items()}
        return JudgeJob(
            settings.judge,
            self._store,
            settings.data_dir / "judge",
            {name: below for name, below in bars.items() if below is not None},
            settings.scorers.golden,
            self._deliver,
            clock=self._clock,
        )

    def _local_scoring(self, settings: Settings, inference: Inference) -> LocalScoring:
        judge, golden = settings.judge, settings.scorers.golden
        return LocalScoring(
            inference,
            (self._store.replica, self._store.epoch),
            self._deliver,
            bars=lambda: self.labelling.bars,
            judged=self.judged,
            salt=judge.salt,
            golden=read_golden(golden).values() if golden else (),
            entailer=inference if settings.inference.enabled else None,
            has_models=settings.inference.enabled and has_local_models(),
            least_rate=max(judge.sample_rate, *judge.routes.values(), 0.0) if judge.model else 0.0,
        )

    @property
    def judged(self) -> frozenset[str]:
        """The rubrics that the judge scores."""
        return self._judging.judged

    @property
    def judging(self) -> JudgeJob:
        """The judge, for jobs that ask it outside its sample."""
        return self._judging

    @property
    def rates(self) -> Rates:
        """At which rates what is scored elsewhere is to be kept."""
        return Rates(self.local.offer_rate, self._judging.highest_boost)

    def wants(self, trace_id: str) -> bool:
        """Whether a record of this trace may be chosen for the judge."""
        return self._judging.wants(trace_id)

    def takes(self, outcome: Outcome) -> bool:
        """Whether an offer of this outcome may be taken; if not, it need not be kept."""
        return self.wants(outcome.trace.trace_id) or self.local.takes(outcome)

    def offer(self, outcomes: Sequence[Outcome], left_out: int = 0) -> None:
        """Offers stored outcomes; when it returns, those of the judge are safe on disk.

        `left_out` counts records that were not kept, though local models had sampled them.
        """
        self._judging.offer(outcomes)
        self.local.offer(outcomes)
        self.local.leave_out(left_out)

    def give_way(self, lag: Lag | None, *, is_behind: bool) -> None:
        """Pauses local models while the core is behind, and the judge at a larger lag."""
        self.local.is_behind = is_behind
        self._judging.is_late = lag is not None and lag.is_over(LATE_SECONDS)

    def judge_complaints(self) -> None:
        """Offers the judge some of the records that users complained about since the last run."""
        now = self._clock()
        self._judging.suspect(self._feedback_read)
        self._feedback_read = now

    def pace(self) -> None:
        """Spreads the judge's daily budget over the hours as last week's traffic was spread."""
        if self.judged:
            since = int(self._clock() - PACE_DAYS * DAY)
            self._judging.pace(traffic.by_hour(traffic.since(self._store, since)))

    def start(self) -> None:
        """Starts the threads of the judge and of local models."""
        self._judging.start()
        self.local.start()

    def stop(self) -> None:
        """Ends both within seconds."""
        self._judging.stop()
        self.local.stop()

    def _deliver(self, verdicts: Sequence[tuple[StoredRecord, Sequence[Score]]]) -> None:
        written = judged.write(self._store, verdicts, self._facts)
        self._dirty_minutes.add(written.minutes)
        for stored, scores in verdicts:
            self._scores.add_later(stored.record, scores)
        self._on_scored(verdicts)

    def status(self) -> dict[str, dict[str, object]]:
        """The sections `judge` and `local` of the status."""
        return {"judge": self._judging.status(), "local": self.local.status()}
