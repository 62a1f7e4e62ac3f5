"""Scores by local models as many records as their share of the CPU allows.

Records are sampled by the same hash as for the judge, at a rate that is never lower, so that judged
records have these scores too: they are the control variates of the judged means. The rate halves
when records were left over and grows while there is time. Records left over are counted. Skips
replayed traffic, and everything while the core itself is behind.

The entailment model takes more time than all others: it reads a share of the same records, at a
rate of its own that halves before theirs does, and grows when theirs is 1.

In a fleet with scorers these read the answers of all from the store, and an edge scores none; see
`Source`.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from threading import Event, Thread
from typing import TYPE_CHECKING

import structlog
from prometheus_client import Counter, Gauge

from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.weights import ModelFile
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Score, Stream
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.records.traces import stamp_of
from ragvigil.store.scores.judged import StoredRecord
from scorers.golden import Case
from scorers.judge.job import Deliver
from scorers.judge.sampling import is_sampled
from scorers.label_bars import LabelBars
from scorers.local.entailment import SCORER, Entailer, entailment
from scorers.local.golden_questions import GoldenQuestions
from scorers.local.relevance import relevance
from scorers.local.utilization import utilization

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

log = structlog.get_logger()

RECORDS = Counter(
    "ragvigil_local_records",
    "Records for local models: scored; or left over for want of time, too old when their turn "
    "came, or without models: none are installed here, and no scorer lives.",
    ["result"],
)
RATE = Gauge("ragvigil_local_rate", "Share of the records that local models score, 0 to 1.")
ENTAILMENT_RATE = Gauge(
    "ragvigil_local_entailment_rate",
    "Share of the records that the local entailment model reads, 0 to 1.",
)
WAITING_RECORDS, BATCH_RECORDS = 256, 16
IDLE_SECONDS, ADAPT_SECONDS = 0.5, 10.0
PASSING = frozenset(
    {Reason.CRASHED, Reason.TIMED_OUT, Reason.TOO_LARGE, Reason.RESTING, Reason.BUSY}
)
"""Why a record waits for the models' next process: a text that ends them again and again is given
up by `Inference`."""
LEAST_RATE = 1 / 64  # never 0: without records the rate could not recover
FIRST_ENTAILMENT_RATE = 0.25
"""It doubles in some 30 s: too low a start costs less than records without any local score."""


class Source(StrEnum):
    """Where the records that local models score come from."""

    PIPELINE = "pipeline"
    """This daemon's own, as it stores them."""
    STORE = "store"
    """A scorer's share of all, read from the store."""
    ELSEWHERE = "elsewhere"
    """A scorer has them: here none is scored."""
    NOBODY = "nobody"
    """No models here, and no scorer lives: what would be scored is counted."""


class LeftOut(StrEnum):
    """Why a record of the sample gets no local scores."""

    LEFT_OVER = "left_over"
    TOO_OLD = "too_old"
    WITHOUT_MODELS = "without_models"


def is_for_local_models(outcome: Outcome, rate: float, salt: str) -> bool:
    """Whether the records of an outcome belong to the share `rate` of live ones."""
    return not outcome.trace.backfill and is_sampled(outcome.trace.trace_id, rate, salt)


class _Models:
    """The models for one record; `are_lost` once a call had no answer for a reason that passes."""

    def __init__(self, inference: Inference) -> None:
        self._inference, self.are_lost = inference, False

    @property
    def embedding_name(self) -> str:
        return self._inference.embedding_name

    @property
    def embedding_version(self) -> str:
        return self._inference.embedding_version

    def embed(self, texts: Sequence[str]) -> Numbers | Unavailable:
        return self._noted(self._inference.embed(texts))

    def entail(self, file: ModelFile, pairs: Sequence[tuple[str, str]]) -> Numbers | Unavailable:
        return self._noted(self._inference.entail(file, pairs))

    def _noted(self, answer: Numbers | Unavailable) -> Numbers | Unavailable:
        self.are_lost |= isinstance(answer, Unavailable) and answer.reason in PASSING
        return answer


class LocalScoring:
    """Receives records from the pipeline's thread and scores them in a thread of its own.

    Scores of the rubrics in `judged` are proxies of the judge's. `least_rate` is the judge's
    sampling rate. Questions near-identical to one of `golden` have the scores of golden cases. The
    core sets `is_behind` while it has no time to spare. Without `entailer` no sentence is read.
    Labels are by `bars`. Without `has_models` the rate is 0: no record waits in memory. A fleet
    sets `source`.
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
        golden: Iterable[Case] = (),
        entailer: Entailer | None = None,
        has_models: bool = True,
        bars: Callable[[], LabelBars] = LabelBars,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inference, self._writer, self._deliver = inference, writer, deliver
        self._judged, self._salt, self._golden = judged, salt, GoldenQuestions(golden)
        self.is_behind, self.has_models = False, has_models
        self.source = self._last_source = Source.PIPELINE
        self._least = max(LEAST_RATE, least_rate)
        self._bars, self._clock = bars, clock
        self.rate, self._left_over, self._adapted = float(has_models), 0, clock()
        RATE.set(self.rate)
        self._entailer = entailer
        self.entailment_rate = max(FIRST_ENTAILMENT_RATE, self._least) if entailer else 0.0
        ENTAILMENT_RATE.set(self.entailment_rate)
        # Appended to by the pipeline's thread, popped by ours: both are atomic.
        self._waiting: deque[tuple[StoredRecord, float]] = deque()
        self._stop = Event()
        self._thread: Thread | None = None

    @property
    def offer_rate(self) -> float:
        """Share of this daemon's own records that are for local models here, 0 to 1."""
        if self.source is Source.PIPELINE:
            return self.rate
        return float(self.source is Source.NOBODY)  # all are counted

    @property
    def names(self) -> tuple[str, ...]:
        """The scorers whose names stand in the rows."""
        return self._inference.embedding_name, SCORER

    @property
    def room(self) -> int:
        """How many records more find room."""
        return max(0, WAITING_RECORDS - len(self._waiting))

    def samples(self, outcome: Outcome) -> bool:
        """Whether the records of an outcome belong to the sample at the present rate."""
        return is_for_local_models(outcome, self.offer_rate, self._salt)

    def takes(self, outcome: Outcome) -> bool:
        """Whether `offer` would take the records of this outcome now, if there is room."""
        has_time = self.source is Source.PIPELINE and not self.is_behind
        return has_time and self.samples(outcome)

    def offer(self, outcomes: Sequence[Outcome]) -> None:
        """Queues the sampled records of stored outcomes; counts those that find no room."""
        for outcome in outcomes:
            if not self.samples(outcome):
                continue
            for scored in outcome.records:
                if self.takes(outcome) and self.room:
                    stored = StoredRecord(
                        record=scored.record, stamp=stamp_of(outcome, self._writer)
                    )
                    self._waiting.append((stored, self.rate))
                else:
                    self.leave_out(1)

    def offer_stored(self, records: Iterable[StoredRecord]) -> None:
        """Queues the sampled ones of records that were read from the store, as `offer` does."""
        for stored in records:
            if not is_sampled(stored.record.trace_id, self.rate, self._salt):
                continue
            if self.room:
                self._waiting.append((stored, self.rate))
            else:
                self.leave_out(1)

    def leave_out(self, records: int, why: LeftOut = LeftOut.LEFT_OVER) -> None:
        """Counts records that were sampled but are not scored, by default for want of time."""
        if self.source is Source.ELSEWHERE:
            return  # a scorer reads them from the store
        why = LeftOut.WITHOUT_MODELS if self.source is Source.NOBODY else why
        self._left_over += records
        RECORDS.labels(why).inc(records)

    def start(self) -> None:
        """Starts the thread."""
        self._thread = Thread(target=self._run, name="local-models", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops the thread and the inference process; waits up to 5 seconds."""
        self._stop.set()
        self._inference.close()
        if self._thread is not None:
            self._thread.join(5)

    def status(self) -> dict[str, object]:
        """The rates and the queue length, for `status`."""
        rate = round(self.rate, 3) if self._runs_here else 0.0
        status: dict[str, object] = {"rate": rate, "waiting": len(self._waiting)}
        if self._entailer is not None and self._runs_here:
            status["entailment_rate"] = round(self.entailment_rate, 3)
        return status

    def step(self) -> bool:
        """Scores and writes up to BATCH_RECORDS records; False if there was none, or no time."""
        self._turn_to_source()
        self._adapt()
        has_work = self._runs_here and not self.is_behind and self._waiting
        if not has_work or not self._inference.has_time():
            return False
        batch = [self._waiting.popleft() for _ in range(min(BATCH_RECORDS, len(self._waiting)))]
        verdicts, again = [], []
        for stored, rate in batch:
            models = _Models(self._inference)
            signed = self._scores(stored, rate, models)
            if any(score.value is not None for score in signed):
                verdicts.append((stored, signed))
            elif models.are_lost:
                again.append((stored, rate))
        self._waiting.extendleft(reversed(again))
        if verdicts:
            self._deliver(verdicts)
        RECORDS.labels("scored").inc(len(verdicts))
        return not again

    def _scores(self, stored: StoredRecord, rate: float, models: _Models) -> list[Score]:
        scores = (
            *relevance(stored.record, models),
            utilization(stored.record, models),
            *self._golden.scores(stored.record, models),
        )
        return [
            *(self._signed(score, rate) for score in scores),
            *(self._signed(score, own) for score, own in self._entailed(stored, models)),
        ]

    @property
    def _runs_here(self) -> bool:
        return self.source in (Source.PIPELINE, Source.STORE)

    def _turn_to_source(self) -> None:
        """Leaves to a scorer what waits here, and ends the model process, once it has them."""
        if self.source is self._last_source:
            return
        self._last_source = self.source
        RATE.set(self.rate if self._runs_here else 0.0)
        ENTAILMENT_RATE.set(self.entailment_rate if self._runs_here else 0.0)
        if not self._runs_here:
            self._waiting.clear()
            self._inference.rest()

    def _entailed(self, stored: StoredRecord, models: _Models) -> Iterable[tuple[Score, float]]:
        """The scores by the entailment model and their rate; none of records that it does not read.

        The sample is by the same hash as the others', at a rate that is never higher.
        """
        rate = min(self.entailment_rate, self.rate)
        if self._entailer is None or not is_sampled(stored.record.trace_id, rate, self._salt):
            return ()
        bars, at = self._bars(), stored.stamp.time
        scores = entailment(stored.record, models)
        return [(bars.labelled(score, stored.record, at), rate) for score in scores]

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
            except Exception:  # the border of a thread: a batch that fails must not end it
                log.exception("records got no local scores")
                busy = False
            if not busy:
                self._stop.wait(IDLE_SECONDS)

    def _adapt(self) -> None:
        """Sets the rate for the next ADAPT_SECONDS by whether records were left over."""
        has_rate = self.has_models and self._runs_here
        if not has_rate or self._clock() - self._adapted < ADAPT_SECONDS:
            return
        self._adapted = self._clock()
        left_over, self._left_over = self._left_over, 0
        if self._entailer is not None and self._adapted_entailment(is_late=bool(left_over)):
            return
        rate = self.rate / 2 if left_over else self.rate * 1.25
        self.rate = min(1.0, max(self._least, rate))
        RATE.set(self.rate)

    def _adapted_entailment(self, *, is_late: bool) -> bool:
        """Changes the rate of the entailment model; False if that of all models must change."""
        before = self.entailment_rate
        if not is_late and self.rate < 1:
            return False
        self.entailment_rate = min(1.0, max(self._least, before / 2 if is_late else before * 1.25))
        ENTAILMENT_RATE.set(self.entailment_rate)
        return self.entailment_rate != before
