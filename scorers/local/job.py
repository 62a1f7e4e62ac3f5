"""Scores by local models on as many records as their share of the CPU allows.

Chosen by the same hash as the judge's sample and at a rate that is never under it, so that judged
records have these scores too (the control variates of the judged means). The rate adapts: it
halves when work is left over and grows while there is time. What is left over is counted; records
of replayed traffic and of moments in which the core itself is behind are left out.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from threading import Event, Thread

import structlog
from prometheus_client import Counter, Gauge

from ragvigil.inference.process import Inference
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Score, Stream
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.records.traces import stamp_of
from ragvigil.store.scores.judged import StoredRecord
from scorers.judge.job import Deliver
from scorers.judge.sampling import is_sampled
from scorers.local.relevance import relevance

log = structlog.get_logger()

RECORDS = Counter(
    "ragvigil_local_records", "Records for local models: scored, or left over.", ["result"]
)
RATE = Gauge("ragvigil_local_rate", "Share of the records that local models score, 0 to 1.")
RATE.set(1.0)
WAITING_RECORDS, BATCH_RECORDS = 256, 16
IDLE_SECONDS, ADAPT_SECONDS = 0.5, 10.0
LEAST_RATE = 1 / 64


def is_for_local_models(outcome: Outcome, rate: float, salt: str) -> bool:
    """Whether the records of an outcome belong to the share `rate` of live ones."""
    return not outcome.trace.backfill and is_sampled(outcome.trace.trace_id, rate, salt)


class LocalScoring:
    """Takes offers from the pipeline's thread, works in its own, writes scores of kind model.

    `judged` are the rubrics that a judge speaks for: scores of these are proxies. `least_rate` is
    the judge's; while `is_behind` is set the core has no time to spare.
    """

    def __init__(
        self,
        inference: Inference,
        writer: tuple[str, int],
        deliver: Deliver,
        *,
        judged: Collection[str],
        salt: str,
        least_rate: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inference, self._writer, self._deliver = inference, writer, deliver
        self._judged, self._salt = judged, salt
        self.is_behind = False
        self._least = max(LEAST_RATE, least_rate)
        self._clock = clock
        self.rate, self._left_over, self._adapted = 1.0, 0, clock()
        self._waiting: deque[tuple[StoredRecord, float]] = deque()
        self._stop = Event()
        self._thread: Thread | None = None

    def samples(self, outcome: Outcome) -> bool:
        """Whether the records of an outcome belong to the share that local models score."""
        return is_for_local_models(outcome, self.rate, self._salt)

    def takes(self, outcome: Outcome) -> bool:
        """Whether an offer of this outcome would be taken now, if there is room."""
        return not self.is_behind and self.samples(outcome)

    def offer(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the chosen ones among the records of stored outcomes, as far as there is room."""
        for outcome in outcomes:
            if not self.samples(outcome):
                continue
            for scored in outcome.records:
                if self.is_behind or len(self._waiting) >= WAITING_RECORDS:
                    self.leave_out(1)
                else:
                    stored = StoredRecord(
                        record=scored.record, stamp=stamp_of(outcome, self._writer)
                    )
                    self._waiting.append((stored, self.rate))

    def leave_out(self, records: int) -> None:
        """Counts records that it would have scored, had there been time."""
        self._left_over += records
        RECORDS.labels("left_over").inc(records)

    def start(self) -> None:
        """Begins to work."""
        self._thread = Thread(target=self._run, name="local-models", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and the process of the models."""
        self._stop.set()
        self._inference.close()
        if self._thread is not None:
            self._thread.join(5)

    def status(self) -> dict[str, object]:
        """What local models do, for `status`."""
        return {"rate": round(self.rate, 3), "waiting": len(self._waiting)}

    def step(self) -> bool:
        """Scores and writes a few records, if there is time; whether there was anything to do."""
        self._adapt()
        if self.is_behind or not self._waiting or not self._inference.has_time():
            return False
        batch = [self._waiting.popleft() for _ in range(min(BATCH_RECORDS, len(self._waiting)))]
        verdicts = []
        for stored, rate in batch:
            scores = relevance(stored.record, self._inference)
            signed = [self._signed(score, rate) for score in scores]
            if any(score.value is not None for score in signed):
                verdicts.append((stored, signed))
        if verdicts:
            self._deliver(verdicts)
        RECORDS.labels("scored").inc(len(verdicts))
        return True

    def _signed(self, score: Score, rate: float) -> Score:
        stream = Stream.PROXY if score.rubric in self._judged else Stream.BASE
        return replace(score, stream=stream, inclusion_probability=rate)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                busy = self.step()
            except StoreError as error:
                log.error("local scores could not be stored", reason=str(error))
                busy = False
            if not busy:
                self._stop.wait(IDLE_SECONDS)

    def _adapt(self) -> None:
        """The rate of the next seconds, by what was left over in the last."""
        if self._clock() - self._adapted < ADAPT_SECONDS:
            return
        self._adapted = self._clock()
        left_over, self._left_over = self._left_over, 0
        rate = self.rate / 2 if left_over else self.rate * 1.25
        self.rate = min(1.0, max(self._least, rate))
        RATE.set(self.rate)
