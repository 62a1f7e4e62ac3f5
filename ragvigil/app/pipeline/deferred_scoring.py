"""What scores records after they are stored: the judge on a sample, local models as time allows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from alerts.deltas.metrics import ScoreMetrics
from ragvigil.app.settings import Settings
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
from scorers.judge.job import Deliver, JudgeJob
from scorers.local.job import LocalScoring

HEARD_SECONDS = 600.0
"""What users said so long before the start is heard again: a record is queued once all the same."""
PACE_DAYS, DAY = 7, 86_400


class DeferredScoring:
    """Offers stored outcomes to both; `dirty_minutes` gets the minutes whose roll-ups change.

    `tell` hears of scores that are stored.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        inference: Inference,
        facts: Mapping[str, RubricFacts],
        scores: ScoreMetrics,
        dirty_minutes: set[int],
        clock: Clock = time.time,
        tell: Deliver = lambda _: None,
    ) -> None:
        self._store, self._facts, self._scores = store, facts, scores
        self._dirty_minutes = dirty_minutes
        self._clock, self._tell = clock, tell
        self._heard = clock() - HEARD_SECONDS
        judge = settings.judge
        self._judging = JudgeJob(
            judge,
            store,
            settings.data_dir / "judge",
            {name: one.fails_below for name, one in facts.items() if one.fails_below is not None},
            settings.scorers.golden,
            self._deliver,
            clock=clock,
        )
        self.canary = CanaryJob(
            store,
            self._judging,
            facts,
            model=judge.model,
            every_hours=judge.canary_hours,
            clock=clock,
        )
        self.local = self._local_scoring(settings, inference)

    def _local_scoring(self, settings: Settings, inference: Inference) -> LocalScoring:
        judge = settings.judge
        return LocalScoring(
            inference,
            (self._store.replica, self._store.epoch),
            self._deliver,
            judged=self.judged,
            salt=judge.salt,
            least_rate=max(judge.sample_rate, *judge.routes.values(), 0.0) if judge.model else 0.0,
        )

    @property
    def judged(self) -> frozenset[str]:
        """The rubrics that a judge speaks for."""
        return self._judging.judged

    @property
    def judging(self) -> JudgeJob:
        """The judge, for whoever asks it beside the sample."""
        return self._judging

    def wants(self, trace_id: str) -> bool:
        """Whether a record of this trace may be chosen for the judge."""
        return self._judging.wants(trace_id)

    def takes(self, outcome: Outcome) -> bool:
        """Whether an offer of this outcome may be taken: the others need not be kept for it."""
        return self.wants(outcome.trace.trace_id) or self.local.takes(outcome)

    def offer(self, outcomes: Sequence[Outcome], left_out: int = 0) -> None:
        """Takes outcomes that are stored; when it returns, the judge's are safe.

        `left_out` counts records that were not kept, though local models had sampled them.
        """
        self._judging.offer(outcomes)
        self.local.offer(outcomes)
        self.local.leave_out(left_out)

    def give_way(self, is_behind: bool) -> None:
        """Whether the core has no time to spare for local models."""
        self.local.is_behind = is_behind

    def hear(self) -> None:
        """Judges some of the records that users have complained about since the last time."""
        now = self._clock()
        self._judging.suspect(self._heard)
        self._heard = now

    def pace(self) -> None:
        """Spends the judge's day as the traffic of the last week came, hour by hour."""
        if self.judged:
            since = int(self._clock() - PACE_DAYS * DAY)
            self._judging.pace(traffic.by_hour(traffic.since(self._store, since)))

    def start(self) -> None:
        """Begins to score."""
        self._judging.start()
        self.local.start()

    def stop(self) -> None:
        """Ends within seconds."""
        self._judging.stop()
        self.local.stop()

    def _deliver(self, verdicts: Sequence[tuple[StoredRecord, Sequence[Score]]]) -> None:
        written = judged.write(self._store, verdicts, self._facts)
        self._dirty_minutes |= written.minutes
        for stored, scores in verdicts:
            self._scores.add_later(stored.record, scores)
        self._tell(verdicts)

    def status(self) -> dict[str, dict[str, object]]:
        """What both do, a mapping a section."""
        return {"judge": self._judging.status(), "local": self.local.status()}
