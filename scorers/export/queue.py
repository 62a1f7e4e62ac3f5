"""Exports results by OTLP from a bounded queue, in a thread of its own; nobody waits for it.

Offers only append; results that find the queue full are counted and dropped. A request that fails
is sent again a few times, after pauses that double. The log has one line when the receiver begins
to fail and one when it works again.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Protocol

import structlog

from ragvigil.model.backoff import Backoff
from ragvigil.model.clock import Clock
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.store.scores.judged import StoredRecord
from scorers.export.events import AnswerResults, NoSpan, answer_results, facts_of, select_scores
from scorers.export.metrics import DROPPED, EXPORTED, FAILURES, WAITING, DropReason
from scorers.export.sender import OtlpSender, SendResult
from scorers.export.settings import ExportSettings
from scorers.rubric import load_rubrics

log = structlog.get_logger()

BATCH_RESULTS = 512
ATTEMPTS = 3
"""Attempts per batch, before its results are dropped."""
BACKOFF = Backoff(first_seconds=1.0, longest_seconds=60.0)
IDLE_SECONDS = 0.5
REMEMBERED_ANSWERS = 20_000
"""Digests kept: a late span has an answer scored again, and equal results are not sent twice."""


class Sender(Protocol):
    """Sends results to one receiver."""

    def send(self, batch: Sequence[AnswerResults]) -> SendResult:
        """Sends the results of some answers; returns what became of the request."""

    def close(self) -> None:
        """Aborts a request that is being sent."""


class ExportQueue:
    """Queues and sends results; `offer` and `offer_later` are thread-safe.

    Without an endpoint it takes nothing and imports no SDK. `clock` gives the results' timestamps.
    """

    def __init__(
        self,
        settings: ExportSettings,
        *,
        open_sender: Callable[[ExportSettings], Sender] = OtlpSender,
        clock: Clock = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._open_sender = settings, open_sender
        self._clock, self._monotonic = clock, monotonic
        self._facts = facts_of(load_rubrics()) if settings.endpoint else {}
        # Appended to by any thread, popped by the sending one: both are atomic.
        self._waiting: deque[AnswerResults] = deque()
        self._known: OrderedDict[int, None] = OrderedDict()
        self._batch: list[AnswerResults] = []
        self._failed = 0
        self._is_failing = False
        self._stop = Event()
        self._deadline = float("inf")
        self._sender: Sender | None = None
        self._thread: Thread | None = None

    def takes(self, outcome: Outcome) -> bool:
        """Whether `offer` would take this outcome."""
        return self._settings.takes(outcome.trace.backfill)

    def offer(self, outcomes: Sequence[Outcome]) -> None:
        """Queues the results of stored outcomes; never waits."""
        for outcome in outcomes:
            if self.takes(outcome):
                for scored in outcome.records:
                    self._take(scored.record, scored.scores)

    def offer_later(self, verdicts: Sequence[tuple[StoredRecord, Sequence[Score]]]) -> None:
        """Queues results that a judge or local models gave after the record was stored."""
        for stored, scores in verdicts:
            if self._settings.takes(stored.stamp.backfill):
                self._take(stored.record, scores)

    def start(self) -> None:
        """Starts the thread; logs in one line what is sent to which address."""
        settings = self._settings
        if not settings.endpoint:
            return
        try:
            self._sender = self._open_sender(settings)
        except (OSError, ValueError) as error:  # a file of the settings is gone: run without export
            log.error("export off", reason=str(error))
            return
        log.info(
            "export on: results leave for its address"
            + (", with explanations, which may quote texts" if settings.explanations else ""),
            address=settings.endpoint,
            protocol=settings.protocol,
            form=settings.form,
            encrypted=settings.is_encrypted,
            streams=[stream.value for stream in settings.streams],
            rubrics=list(settings.rubrics) or "all",
        )
        for name in sorted(set(settings.rubrics) - set(self._facts)):
            log.warning("export: no rubric has this name", rubric=name)
        self._thread = Thread(target=self._run, name="export", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Sends what waits for up to `seconds`, as long as that succeeds; counts the rest."""
        if self._sender is None or self._thread is None:
            return
        self._deadline = self._monotonic() + seconds
        self._stop.set()
        self._thread.join(seconds)
        # Aborts a request that outlasts the deadline, then waits for the thread to notice.
        self._sender.close()
        self._thread.join(1.0)
        unsent = [*self._batch, *self._waiting]
        _drop(DropReason.SHUTDOWN, sum(len(answer.results) for answer in unsent))

    def status(self) -> dict[str, object]:
        """Address, queue length and whether sending fails, for `status`."""
        if not self._settings.endpoint:
            return {"on": False}
        return {
            "on": True,
            "address": self._settings.endpoint,
            "failing": self._is_failing,
            "waiting": len(self._waiting) + len(self._batch),
        }

    def step(self) -> bool:
        """Sends one batch; returns whether there was one and the receiver accepted it."""
        if not self._batch:
            self._batch = self._next_batch()
        WAITING.set(len(self._waiting) + len(self._batch))
        if not self._batch or self._sender is None:
            return False
        sent = self._sender.send(self._batch)
        if sent.failed:
            self._put_off(sent.failed)
            return False
        self._settle(sent)
        return True

    def pause_seconds(self) -> float:
        """Seconds until the next attempt."""
        if not self._is_failing:
            return IDLE_SECONDS
        return BACKOFF.seconds(self._failed)

    def _take(self, record: RagRecord, scores: Sequence[Score]) -> None:
        leaving = select_scores(scores, self._facts, self._settings)
        if not leaving:
            return
        if len(self._waiting) >= self._settings.max_queue:
            _drop(DropReason.QUEUE_FULL, len(leaving))
            return
        try:
            answer = answer_results(
                record,
                leaving,
                self._facts,
                now_unix_nano=int(self._clock() * 1e9),
                explanations=self._settings.explanations,
            )
        except NoSpan:
            _drop(DropReason.NO_SPAN, len(leaving))
            return
        self._waiting.append(answer)

    def _next_batch(self) -> list[AnswerResults]:
        batch: list[AnswerResults] = []
        results = 0
        while self._waiting and results < BATCH_RESULTS:
            answer = self._waiting.popleft()
            if self._is_known(answer):
                _drop(DropReason.UNCHANGED, len(answer.results))
                continue
            batch.append(answer)
            results += len(answer.results)
        return batch

    def _is_known(self, answer: AnswerResults) -> bool:
        digest = answer.digest
        is_known = digest in self._known
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > REMEMBERED_ANSWERS:
            self._known.popitem(last=False)
        return is_known

    def _put_off(self, reason: str) -> None:
        FAILURES.inc()
        self._failed += 1
        if not self._is_failing:
            self._is_failing = True
            log.warning("export fails", address=self._settings.endpoint, reason=reason)
        if self._failed % ATTEMPTS == 0:
            _drop(DropReason.FAILED, sum(len(answer.results) for answer in self._batch))
            for answer in self._batch:  # what never arrived is no duplicate when it comes again
                self._known.pop(answer.digest, None)
            self._batch = []

    def _settle(self, sent: SendResult) -> None:
        results = sum(len(answer.results) for answer in self._batch)
        self._batch, self._failed = [], 0
        EXPORTED.inc(results - sent.rejected)
        _drop(DropReason.REJECTED, sent.rejected)
        if self._is_failing:
            self._is_failing = False
            log.info("export works again", address=self._settings.endpoint)

    def _run(self) -> None:
        while not self._stop.is_set():
            if not self.step():
                self._stop.wait(self.pause_seconds())
        while self._monotonic() < self._deadline and self.step():
            continue


def _drop(reason: DropReason, results: int) -> None:
    if results:
        DROPPED.labels(reason.value).inc(results)
