"""The judge's loop: takes records from its queue, asks the model, and writes the scores.

A record leaves the queue when its scores are durable. A crash before that repeats it: its replies
are in the cache, and scores replace themselves, so that nothing counts twice.
"""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import TypeAlias

import structlog

from ragvigil.llm.budget import Budget
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.spending import Pot
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.scores.judged import Key, StoredRecord
from scorers.judge import metrics
from scorers.judge.asker import Asker, Family, count_missing
from scorers.judge.pace import Pace, Thinning
from scorers.judge.queue import JudgeQueue, QueuedRecord, content_hash
from scorers.judge.quotes import QuoteTally
from scorers.judge.sampling import next_thinning

log = structlog.get_logger()

IDLE_SECONDS, TROUBLE_SECONDS = 0.1, 5.0
LINGER_SECONDS, BATCH_RECORDS = 2.0, 64
"""Scores wait this long to be written together: each write waits for the disk."""
READ_SECONDS = 2.0
"""Records wait this long to be read together, where they are few: a read costs the store nearly as
much for one as for many."""
AGAIN_SECONDS = 60.0
"""How long a record waits when the API is down; twice as long each round."""
PATIENCE_SECONDS = 600.0
"""New spans go first for at most this long, so that a core that is always late judges as well."""
CALM_SECONDS = 60.0
"""A core in time for so long is no longer late."""
PACE_SECONDS = 60.0
FORGET_SECONDS = 24 * 3600.0
"""How long a judged record is remembered, so that a replay does not queue it again."""

ReadRecords: TypeAlias = Callable[[Collection[Key]], Mapping[Key, StoredRecord]]
WriteScores: TypeAlias = Callable[[Sequence[tuple[StoredRecord, Sequence[Score]]]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """All scores of one record, to be written."""

    waiting: QueuedRecord
    stored: StoredRecord
    scores: tuple[Score, ...]


class Judge:
    """Judges queued records on one event loop; `read` and `write` block, so they run in threads.

    `families` returns what is asked now. While the core `is_late`, no record is begun. `at_once`
    records keep the model busy; up to twice as many are in work, so that it stays busy while
    others are read. The client bounds the calls.
    """

    def __init__(
        self,
        asker: Asker,
        queue: JudgeQueue,
        families: Callable[[], Sequence[Family]],
        *,
        read: ReadRecords,
        write: WriteScores,
        clock: Callable[[], float],
        is_late: Callable[[], bool],
        rounds: int,
        at_once: int,
        budget: Budget,
    ) -> None:
        self.thinning, self._own_pace = Thinning(), Pace()
        self.quotes = QuoteTally(asker.model)
        self._budget = budget
        self._paced = clock()
        self._asker, self._queue = asker, queue
        self._families = families
        self._read, self._write, self._clock = read, write, clock
        self._is_late, self._late, self._in_time = is_late, -math.inf, clock()
        self._rounds, self._at_once = rounds, at_once
        self._tasks: set[asyncio.Task[None]] = set()
        self._done: list[Verdicts] = []
        self._since = clock()
        self._few_read = -math.inf
        metrics.REPEATED.inc(queue.repeated)

    async def run(self, stop: Event) -> None:
        """Judges until `stop` is set; unfinished records are judged after the next start."""
        while not stop.is_set():
            pause = 0.0
            try:
                pause = 0.0 if await self.step() else IDLE_SECONDS
            except (StoreError, sqlite3.Error) as error:
                log.error("the judge waits: its store or queue cannot be used", reason=str(error))
                pause = TROUBLE_SECONDS
            await asyncio.sleep(pause)
        await self._end()

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ask(
        self, records: Sequence[RagRecord], purpose: Purpose, rubrics: Collection[str] = ()
    ) -> list[tuple[Score, ...]]:
        """Judges records at once, bypassing queue and cache; writes nothing.

        `rubrics` names judged or derived rubrics; empty means all.
        """
        asker = replace(self._asker, is_fresh=True)
        families = [
            family
            for family in self._families()
            if not rubrics or {each.name for each in family} & set(rubrics)
        ]
        results = await asyncio.gather(
            *(asker.ask(record, family, purpose) for record in records for family in families)
        )
        self.quotes.add(score for result in results for score in result.scores)
        each = len(families)
        if not each:
            return [() for _ in records]
        return [
            tuple(score for result in results[start : start + each] for score in result.scores)
            for start in range(0, len(results), each)
        ]

    async def step(self) -> bool:
        """Takes due records and writes finished scores; returns whether there were any."""
        self._tell()
        if not 0 <= self._clock() - self._paced < PACE_SECONDS:
            self._pace()
        wrote = await self._deliver()
        due = self._due()
        if due:
            await self._begin(due)
        metrics.WAITING.set(len(self._queue))
        if not due and self._tasks:
            await asyncio.wait(
                self._tasks, timeout=IDLE_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        return bool(due or wrote)

    def _due(self) -> list[QueuedRecord]:
        """Records to judge now: what half of the room or some seconds have brought together."""
        now, room = self._clock(), 2 * self._at_once - len(self._tasks)
        if self._gives_way(now) or room < self._at_once:
            return []
        # A clock that was set back makes nothing wait.
        if 0 <= now - self._few_read < READ_SECONDS:
            return []
        due = self._queue.due(now, room)
        self._own_pace.count(sum(not record.rounds for record in due))
        if 0 < len(due) < self._at_once:
            self._few_read = now
        return due

    def _gives_way(self, now: float) -> bool:
        """Whether new spans go first: one call costs the core as much CPU as ten spans."""
        is_late = self._is_late()
        if is_late:
            self._late = now
        elif not 0 <= now - self._late < CALM_SECONDS:
            self._in_time = now
        return is_late and 0 < now - self._in_time < PATIENCE_SECONDS

    def _tell(self) -> None:
        """Logs what is new about the model: a failure of a new kind, its end, the breaker."""
        for news in self._asker.client.health.check():
            (log.warning if news.is_bad else log.info)(news.event, reason=news.reason)

    def _pace(self) -> None:
        """Adapts the sampling rates to the budget and to the judge's own pace, once a minute."""
        now = self._clock()
        seconds, self._paced = now - self._paced, now
        spent = self._budget.spent(Pot.SAMPLE)
        self.thinning = Thinning(
            budget=next_thinning(
                self.thinning.budget,
                spent=(spent.tokens, spent.money),
                allowed=self._budget.allowed(Pot.SAMPLE),
            ),
            pace=self._own_pace.next_factor(
                overdue=self._queue.overdue(now),
                fill=len(self._queue) / self._queue.limit,
                minutes=max(PACE_SECONDS, seconds) / 60,
            ),
        )
        metrics.show_thinning(self.thinning)

    async def _begin(self, due: list[QueuedRecord]) -> None:
        try:
            stored_records = await asyncio.to_thread(
                self._read, [(queued.trace_id, queued.record_id) for queued in due]
            )
        except StoreError:
            self._put_back(due)
            raise
        for queued in due:
            stored = stored_records.get((queued.trace_id, queued.record_id))
            if stored is None or content_hash(stored.record) != queued.content:
                # Its next generation, where there is one, waits under its own content.
                metrics.RECORDS.labels(queued.stream, "gone" if stored is None else "changed").inc()
                self._queue.finish([queued], self._clock())
                continue
            task = asyncio.create_task(self._judge(queued, stored))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _judge(self, waiting: QueuedRecord, stored: StoredRecord) -> None:
        results = await asyncio.gather(
            *(self._asker.ask(stored.record, family, Purpose.SAMPLE) for family in self._families())
        )
        # Repeats all families: replies that came are in the cache, so that they cost nothing again.
        if any(result.is_passing for result in results) and waiting.rounds + 1 < self._rounds:
            self._put_back([waiting])
            return
        scores = tuple(
            replace(score, stream=waiting.stream, inclusion_probability=waiting.probability)
            for result in results
            for score in result.scores
        )
        self._done.append(Verdicts(waiting=waiting, stored=stored, scores=scores))

    async def _deliver(self) -> bool:
        done = self._done[:]
        self._since = self._since if done else self._clock()
        is_due = len(done) >= BATCH_RECORDS or self._clock() - self._since >= LINGER_SECONDS
        if not done or (self._tasks and not is_due):
            return False
        # Written before they leave the queue: a crash in between repeats them, and loses none.
        await asyncio.to_thread(
            self._write, [(verdicts.stored, verdicts.scores) for verdicts in done]
        )
        self._done = self._done[len(done) :]  # others were appended while the write waited
        now = self._clock()
        self._queue.finish([verdicts.waiting for verdicts in done], now)
        self._queue.forget(now - FORGET_SECONDS)
        for verdicts in done:
            metrics.RECORDS.labels(verdicts.waiting.stream, "judged").inc()
            count_missing(verdicts.scores)
            self.quotes.add(verdicts.scores)
        return True

    def _put_back(self, records: Sequence[QueuedRecord]) -> None:
        for record in records:
            self._queue.put_back(record, self._clock() + AGAIN_SECONDS * 2**record.rounds)
