"""The judge inside the core: its queue, its thread and its event loop."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import structlog

from ragvigil.llm.outcome import Purpose
from ragvigil.model.clock import Clock
from ragvigil.model.outcome import Outcome, ScoredRecord
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import judged
from scorers.golden import read_golden
from scorers.judge import metrics
from scorers.judge.pace import Thinning
from scorers.judge.queue import JudgeQueue, QueuedRecord, content_hash
from scorers.judge.sampling import SampleChoice, choose_stream, is_sampled, may_be_chosen
from scorers.judge.settings import JudgeSettings
from scorers.rubric import Rubric, accepted_rubrics, load_rubrics

if TYPE_CHECKING:
    from ragvigil.llm.client import Client
    from scorers.judge.asker import Family
    from scorers.judge.report import JudgeReport
    from scorers.judge.worker import Judge

log = structlog.get_logger()

NO_JUDGE = "no judge is configured: [judge] model"
STOP_SECONDS = 5.0
DISLIKED_DAYS = 7
"""Age up to which bad feedback of a user has a record judged."""
ReplyT = TypeVar("ReplyT")
Deliver: TypeAlias = Callable[[Sequence[tuple[judged.StoredRecord, Sequence[Score]]]], None]
"""Makes scores of stored records durable, and counts them."""


def families(rubrics: Mapping[str, Rubric], names: Sequence[str] = ()) -> tuple[Family, ...]:
    """The judged rubrics of these names, each with those derived from it; no names means all."""
    from scorers.judge.asker import Family
    from scorers.judge.verdicts import derived_from

    return tuple(
        Family(
            asked=rubric,
            derived=derived_from(name, rubrics),
        )
        for name, rubric in sorted(rubrics.items())
        if rubric.judge is not None and (not names or name in names)
    )


class JudgeJob:
    """Queues records from the pipeline and judges them in a thread of its own.

    Without a model, or if its client or queue cannot be opened, it takes no records and `reason`
    says why.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        store: Store,
        folder: Path,
        fails_below: Mapping[str, float],
        golden: Path | None,
        deliver: Deliver,
        *,
        clock: Clock = time.time,
    ) -> None:
        self._clock = clock
        self._settings, self._store, self._golden = settings, store, golden
        self._fails_below, self._deliver = fails_below, deliver
        self.boosts: Mapping[tuple[str, str, str], float] = {}
        """Rates of the routes (service, environment, route) that are judged more for a while."""
        self.is_late = False
        """Whether new spans wait so long that they go first; set by the core."""
        self._stop = Event()
        self._thread: Thread | None = None
        self._queue: JudgeQueue | None = None
        self._client: Client | None = None
        self._judge: Judge | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.reason = self._open(folder) if settings.model else NO_JUDGE

    @property
    def judged(self) -> frozenset[str]:
        """Names of the rubrics that the judge scores; empty while it is off or samples nothing."""
        if self._queue is None or not self._settings.is_sampling:
            return frozenset()
        return frozenset(rubric.name for family in self._families() for rubric in family)

    def _families(self) -> tuple[Family, ...]:
        """The rubrics to ask: those of the settings, and all that people accepted."""
        named = self._settings.rubrics
        names = (*named, *accepted_rubrics()) if named else ()
        return families(load_rubrics(), names)

    @property
    def judged_until(self) -> float:
        """Up to when (seconds, epoch) every sampled record that was offered has its verdicts."""
        now = self._clock()
        if self._queue is None or self._stop.is_set():
            return now
        oldest = self._queue.oldest_due()
        return now if oldest is None else min(now, oldest - self._settings.wait_seconds)

    @property
    def model_settings(self) -> JudgeSettings | None:
        """The settings of the model that can be asked now; None without one."""
        return None if self._loop is None or self._client is None else self._settings

    def wants(self, trace_id: str) -> bool:
        """Whether a record of this trace may be sampled."""
        return self._queue is not None and may_be_chosen(
            trace_id, self._settings, self.highest_boost
        )

    @property
    def highest_boost(self) -> float:
        """The highest rate at which a route is judged for a while; 0 for none."""
        return max(self.boosts.values(), default=0.0)

    def offer(self, outcomes: Sequence[Outcome]) -> None:
        """Queues the sampled records of stored outcomes; they survive a crash once it returns."""
        if self._queue is None:
            return
        chosen = [
            waiting
            for outcome in outcomes
            if self._settings.backfill or not outcome.trace.backfill
            for scored in outcome.records
            if (waiting := self._chosen(scored)) is not None
        ]
        if chosen:
            metrics.SHED.inc(self._queue.add(chosen))

    def suspect(self, since: float) -> None:
        """Queues a sample of the records that got bad feedback since then (seconds, epoch)."""
        if self._queue is None:
            return
        rate, salt = self._settings.suspicious_rate, f"{self._settings.salt} suspicious"
        oldest = int(since) - DISLIKED_DAYS * 86_400
        disliked = judged.disliked(self._store, since, oldest)
        keys = [key for key in disliked if is_sampled(key[0], rate, salt)]
        self._queue.add(
            self._waiting(stored.record, SampleChoice(stream=Stream.SUSPICIOUS, probability=rate))
            for stored in judged.read(self._store, keys).values()
        )

    def judge_now(
        self, records: Sequence[RagRecord], purpose: Purpose, rubrics: Sequence[str] = ()
    ) -> list[tuple[Score, ...]] | None:
        """Judges records now, bypassing the cache; None while there is no judge. Blocks.

        `rubrics` selects among the configured ones; empty means all.
        """
        judge = self._judge
        return self.with_client(lambda _: judge.ask(records, purpose, rubrics)) if judge else None

    def with_client(self, asks: Callable[[Client], Coroutine[Any, Any, ReplyT]]) -> ReplyT | None:
        """Runs a coroutine with the judge's client on its event loop; None without one. Blocks.

        Raises CancelledError if the judge stops meanwhile.
        """
        if self._loop is None or self._client is None or self._stop.is_set():
            return None
        # The caller is on another thread, and the client belongs to the judge's loop.
        return asyncio.run_coroutine_threadsafe(asks(self._client), self._loop).result()

    def pace(self, hours: Sequence[int]) -> None:
        """Sets the traffic by hour of the day (UTC), by which the day's budget is spread."""
        if self._client is not None:
            self._client.budget.pace(hours)

    def start(self) -> None:
        """Starts the thread; logs which texts are sent to which address."""
        if self._client is None:
            log.info("judge off", reason=self.reason)
            return
        self._thread = Thread(target=self._run, name="judge", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops within STOP_SECONDS; unfinished records are judged after the next start."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)
        if self._queue is not None:
            self._queue.close()

    def status(self) -> dict[str, object]:
        """The section of the status: what is judged, what fails, what it costs."""
        report = self._report()
        return report.status() if report else {"on": False, "reason": self.reason}

    @property
    def lines(self) -> list[str]:
        """What somebody should know about the judge now, a line each; see `JudgeReport.lines`."""
        report = self._report()
        if report:
            return report.lines()
        return [f"the judge is off: {self.reason}"] if self._settings.model else []

    def _report(self) -> JudgeReport | None:
        from scorers.judge.report import JudgeReport

        if self._queue is None or self._client is None:
            return None
        judge = self._judge
        return JudgeReport(
            settings=self._settings,
            waiting=len(self._queue),
            health=self._client.health,
            budget=self._client.budget,
            quotes=judge.quotes if judge else None,
            thinning=judge.thinning if judge else Thinning(),
        )

    def _open(self, folder: Path) -> str:
        """Opens queue and client; returns why that failed, or "": the daemon runs all the same."""
        # Imported here: without a judge, the daemon loads none of it.
        from ragvigil.llm.budget import Unpriced
        from ragvigil.llm.client import open_client
        from ragvigil.llm.provider import NotConfigured
        from scorers.judge.references import BadSource, References, read_sources

        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._client = open_client(self._settings, folder)
            self._queue = JudgeQueue(folder / "judge_queue.sqlite", self._settings.queue_records)
            self._references = References(
                cases=read_golden(self._golden) if self._golden else {},
                sources=read_sources(self._settings.sources),
            )
        except (NotConfigured, Unpriced, BadSource, OSError, sqlite3.Error) as error:
            self._queue = self._client = None
            log.error("judge off", reason=str(error))
            return str(error)
        return ""

    def _chosen(self, scored: ScoredRecord) -> QueuedRecord | None:
        record = scored.record
        thinning = self._judge.thinning.factor if self._judge else 1.0
        chosen = choose_stream(
            record,
            scored.scores,
            self._settings,
            self._fails_below,
            thinning=thinning,
            boost=self.boosts.get((record.service, record.environment, record.route), 0.0),
        )
        if chosen is None:
            return None
        return self._waiting(record, chosen)

    def _waiting(self, record: RagRecord, chosen: SampleChoice) -> QueuedRecord:
        return QueuedRecord(
            trace_id=record.trace_id,
            record_id=record.record_id,
            content=content_hash(record),
            stream=chosen.stream,
            probability=chosen.probability,
            due=self._clock() + self._settings.wait_seconds,
        )

    def _run(self) -> None:
        asyncio.run(self._run_judge())

    async def _run_judge(self) -> None:
        assert self._client is not None
        self._loop = asyncio.get_running_loop()
        self._judge = judge = self._build_judge(self._client)
        await judge.run(self._stop)
        await self._client.close()

    def _build_judge(self, client: Client) -> Judge:
        from scorers.judge.asker import Asker
        from scorers.judge.worker import Judge

        settings = self._settings
        assert self._queue is not None
        asked_families = self._families()
        log.info(
            "judge on: question, chunks and answer of sampled records leave for its address",
            model=settings.model,
            address=client.address,
            sample_rate=settings.sample_rate,
            rubrics=[family.asked.name for family in asked_families],
        )
        return Judge(
            Asker.of(client, settings, references=self._references),
            self._queue,
            self._families,
            read=partial(judged.read, self._store),
            write=self._deliver,
            clock=self._clock,
            is_late=lambda: self.is_late,
            rounds=settings.rounds,
            at_once=settings.concurrency,
            budget=client.budget,
        )
