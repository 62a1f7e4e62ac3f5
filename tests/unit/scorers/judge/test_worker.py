"""The judge's loop on a real HTTP server: due records are asked, written, then removed."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from prometheus_client import REGISTRY

from ragvigil.llm.client import open_client
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import Absent, Citation, Document, RagRecord
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.store.engine.errors import Unavailable
from ragvigil.store.records.record_rows import Stamp
from ragvigil.store.scores.judged import Key, StoredRecord
from scorers.judge.asker import Asker
from scorers.judge.job import families
from scorers.judge.pace import Thinning
from scorers.judge.queue import JudgeQueue, QueuedRecord, content_hash
from scorers.judge.references import References
from scorers.judge.verdicts import JUDGE
from scorers.judge.worker import AGAIN_SECONDS, PACE_SECONDS, PATIENCE_SECONDS, READ_SECONDS, Judge
from scorers.rubric import load_rubrics
from tests.content_judge import ContentJudge
from tests.llm_server import Fault, LlmServer

CHUNK = Document(chunk_id="a", content="Card refunds take 5 to 7 business days after the return.")
RECORD = RagRecord(
    record_id="r",
    trace_id="t",
    query="How long do card refunds take?",
    answer="Card refunds take 5 to 7 business days after the return.",
    retrieved=(CHUNK,),
    context=(CHUNK,),
    citations=(Citation(target="a", chunk_id="a", start=10, end=13),),
)
STAMP = Stamp(minute=0, time=0, received=0, trace_id="t", generation=1, backfill="", writer=("", 0))
ONE = ("groundedness", "context_relevance")
Written = tuple[StoredRecord, Sequence[Score]]


@dataclass(kw_only=True)
class Bench:
    """A judge, its server and its written scores; `records` stands for the store."""

    server: LlmServer
    queue: JudgeQueue
    judge: Judge
    records: dict[Key, RagRecord]
    written: list[Written] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    is_away: bool = False
    is_late: bool = False
    now: float = 1000.0

    def read(self, keys: Collection[Key]) -> Mapping[Key, StoredRecord]:
        if self.is_away:
            raise Unavailable("the store is down")
        self.reads.append(len(keys))
        return {
            key: StoredRecord(record=self.records[key], stamp=STAMP)
            for key in keys
            if key in self.records
        }

    def write(self, verdicts: Iterable[Written]) -> None:
        if self.is_away:
            raise Unavailable("the store is down")
        self.written += verdicts

    def add(self, record: RagRecord, *, due: float = 0.0, stream: Stream = Stream.BASE) -> None:
        self.records[record.trace_id, record.record_id] = record
        waiting = QueuedRecord(
            trace_id=record.trace_id,
            record_id=record.record_id,
            content=content_hash(record),
            stream=stream,
            probability=0.05,
            due=due,
        )
        self.queue.add([waiting])

    async def steps(self, count: int = 400) -> None:
        """Runs until nothing is under way."""
        for _ in range(count):
            self.now += 1.0
            busy = await self.judge.step()
            if not (busy or self.judge._tasks or self.judge._done):
                return
        raise AssertionError("the judge never came to rest")

    @property
    def scores(self) -> dict[str, Score]:
        (only,) = self.written
        return {score.rubric: score for score in only[1]}


@asynccontextmanager
async def working(
    rubrics: Sequence[str] = ONE, *, queue: JudgeQueue | None = None, **settings: Any
) -> AsyncIterator[Bench]:
    async with LlmServer(ContentJudge().answer) as server:
        given = {"model": "openai:m", "base_url": server.openai, "retries": 0} | settings
        client = open_client(LlmSettings.model_validate(given))
        asker = Asker(
            client=client,
            model="openai:m",
            most_characters=60_000,
            chance=random.Random(1),
            references=References(),
        )
        judge_queue = JudgeQueue(None, 100) if queue is None else queue
        bench = Bench(server=server, queue=judge_queue, judge=None, records={})  # type: ignore[arg-type]
        bench.judge = Judge(
            asker,
            judge_queue,
            lambda: families(load_rubrics(), rubrics),
            read=bench.read,
            write=bench.write,
            clock=lambda: bench.now,
            is_late=lambda: bench.is_late,
            rounds=3,
            at_once=4,
            budget=client.budget,
        )
        yield bench
        await client.close()


async def test_a_due_record_gets_every_score_of_its_stream_and_leaves_the_queue() -> None:
    async with working() as bench:
        bench.add(RECORD, stream=Stream.SUSPICIOUS)
        await bench.steps()
        assert {"groundedness", "context_relevance", "context_precision", "answerable"} <= set(
            bench.scores
        )
        grounded = bench.scores["groundedness"]
        assert grounded.value == 1.0
        assert (grounded.kind, grounded.scorer) == (Kind.JUDGE, "openai:m")
        assert {score.stream for score in bench.scores.values()} == {Stream.SUSPICIOUS}
        assert {score.inclusion_probability for score in bench.scores.values()} == {0.05}
        assert len(bench.queue) == 0


async def test_a_record_is_not_judged_before_its_time() -> None:
    async with working() as bench:
        bench.add(RECORD, due=5000.0)
        await bench.steps()
        assert (bench.written, bench.server.calls) == ([], [])
        bench.now = 5000.0
        await bench.steps()
        assert len(bench.written) == 1


async def test_few_records_that_come_one_by_one_are_read_together() -> None:
    async with working(["groundedness"]) as bench:
        bench.add(RECORD)
        await bench.judge.step()
        for number in range(3):
            bench.add(replace(RECORD, trace_id=f"later {number}"))
            await bench.judge.step()
        assert bench.reads == [1]
        bench.now += READ_SECONDS
        await bench.steps()
        assert bench.reads == [1, 3]
        assert len(bench.written) == 4


async def test_a_clock_that_is_set_back_lets_no_record_wait() -> None:
    async with working(["groundedness"]) as bench:
        bench.add(RECORD)
        await bench.judge.step()
        bench.add(replace(RECORD, trace_id="later"))
        bench.now -= 600
        await bench.judge.step()
        assert bench.reads == [1, 1]


async def test_many_records_are_read_as_soon_as_half_of_the_room_is_free() -> None:
    async with working(["groundedness"]) as bench:
        for number in range(20):
            bench.add(replace(RECORD, trace_id=f"{number}"))
        while len(bench.written) < 20:
            await bench.judge.step()
            bench.now += 0.01
        *full, _ = bench.reads
        assert full[0] == 8
        assert all(4 <= read <= 8 for read in full)


async def test_while_the_core_is_late_a_record_waits() -> None:
    async with working(["groundedness"]) as bench:
        await bench.steps()
        bench.is_late = True
        bench.add(RECORD)
        await bench.steps()
        assert (bench.reads, len(bench.queue)) == ([], 1)
        bench.is_late = False
        await bench.steps()
        assert len(bench.written) == 1


async def test_a_core_that_is_always_late_judges_after_a_while() -> None:
    async with working(["groundedness"]) as bench:
        await bench.steps()
        bench.is_late = True
        bench.add(RECORD)
        bench.now += PATIENCE_SECONDS
        await bench.steps()
        assert len(bench.written) == 1


async def test_a_moment_in_time_does_not_make_a_late_core_s_judge_wait_anew() -> None:
    async with working(["groundedness"]) as bench:
        await bench.steps()
        bench.is_late = True
        bench.now += PATIENCE_SECONDS - 60
        await bench.steps()
        bench.is_late = False
        await bench.steps()
        bench.is_late = True
        bench.add(RECORD)
        bench.now += 60
        await bench.steps()
        assert len(bench.written) == 1


async def test_a_claim_that_no_chunk_supports_lowers_the_score() -> None:
    async with working(["groundedness"]) as bench:
        answer = f"{RECORD.answer} We also sell telescopes on the moon."
        bench.add(replace(RECORD, answer=answer))
        await bench.steps()
        assert bench.scores["groundedness"].value == 0.5


async def test_a_field_that_the_spans_lack_is_never_asked_about() -> None:
    async with working() as bench:
        bench.add(replace(RECORD, absent={"document_texts": Absent.HIDDEN}))
        await bench.steps()
        assert bench.server.calls == []
        assert {score.absent for score in bench.scores.values()} == {"document_texts"}


@pytest.mark.parametrize(
    ("fault", "label"),
    [
        (Fault(text="no JSON at all"), "unparseable"),
        (Fault(text='{"verdicts": {}}'), "unparseable"),
        (Fault(is_refusal=True), "refused"),
        (Fault(is_truncated=True), "cut_off"),
    ],
    ids=str,
)
async def test_a_judge_that_gives_no_verdict_gives_no_score(fault: Fault, label: str) -> None:
    async with working() as bench:
        bench.server.every = fault
        bench.add(RECORD)
        await bench.steps()
        for score in bench.scores.values():
            assert (score.value, score.absent, score.label) == (None, JUDGE, label)
        assert len(bench.queue) == 0


def missing(rubric: str, reason: str) -> float:
    labels = {"rubric": rubric, "reason": reason}
    return REGISTRY.get_sample_value("ragvigil_judge_missing_total", labels) or 0.0


async def test_while_the_api_is_down_a_record_waits_and_is_then_judged() -> None:
    async with working(["groundedness"], breaker_failures=1000) as bench:
        bench.server.every = Fault(status=503)
        bench.add(RECORD)
        await bench.steps()
        assert (bench.written, len(bench.queue)) == ([], 1)
        bench.server.every = None
        bench.now += AGAIN_SECONDS
        await bench.steps()
        assert bench.scores["groundedness"].value == 1.0


async def test_after_the_last_round_the_verdict_is_missing_and_counted() -> None:
    before = missing("groundedness", "unavailable")
    async with working(["groundedness"], breaker_failures=1000) as bench:
        bench.server.every = Fault(status=503)
        bench.add(RECORD)
        for _ in range(3):
            await bench.steps()
            bench.now += AGAIN_SECONDS * 8
        assert bench.scores["groundedness"].absent == JUDGE
        assert len(bench.queue) == 0
    assert missing("groundedness", "unavailable") == before + 1


async def test_an_answered_rubric_is_not_paid_again_when_another_failed() -> None:
    async with working(breaker_failures=1000, concurrency=1) as bench:
        bench.server.faults += [None, Fault(status=503)]
        bench.add(RECORD)
        await bench.steps()
        assert len(bench.server.calls) == 2
        bench.now += AGAIN_SECONDS
        await bench.steps()
        assert len(bench.server.calls) == 3
        assert bench.scores["groundedness"].value == 1.0


async def test_scores_that_the_store_refuses_stay_queued_and_are_not_paid_again() -> None:
    async with working(["groundedness"]) as bench:
        bench.add(RECORD)
        while not bench.judge._done:
            await bench.judge.step()
        bench.is_away = True
        bench.now += 10
        with pytest.raises(Unavailable):
            await bench.judge.step()
        assert len(bench.queue) == 1
        bench.is_away = False
        await bench.steps()
        assert (len(bench.written), len(bench.server.calls), len(bench.queue)) == (1, 1, 0)


async def test_a_changed_record_is_left_to_its_next_generation() -> None:
    async with working() as bench:
        bench.add(RECORD)
        bench.records["t", "r"] = replace(RECORD, answer="Something else.")
        await bench.steps()
        assert (bench.written, bench.server.calls, len(bench.queue)) == ([], [], 0)


async def test_a_deleted_record_leaves_the_queue() -> None:
    async with working() as bench:
        bench.add(RECORD)
        bench.records.clear()
        await bench.steps()
        assert (bench.written, len(bench.queue)) == ([], 0)


async def test_with_the_budget_spent_nothing_is_asked_and_the_rates_fall() -> None:
    async with working(["groundedness"], daily_tokens=10) as bench:
        bench.add(RECORD)
        await bench.steps()
        assert bench.server.calls == []
        assert bench.scores["groundedness"].label == "budget"


async def test_a_judge_that_cannot_keep_up_has_its_rates_sink() -> None:
    async with working(["groundedness"], queue=JudgeQueue(None, 10_000)) as bench:
        for number in range(1000):
            bench.add(replace(RECORD, trace_id=f"{number}"))
        for _ in range(2):
            begun = sum(bench.reads)
            while sum(bench.reads) == begun:
                await bench.judge.step()
            bench.now += PACE_SECONDS
            await bench.judge.step()
        shown = REGISTRY.get_sample_value("ragvigil_judge_thinning", {"cause": "pace"})
        assert bench.judge.thinning.pace == shown
        assert bench.judge.thinning.pace < 1.0


async def test_records_that_are_not_due_thin_nothing() -> None:
    async with working(["groundedness"]) as bench:
        for number in range(70):
            bench.add(replace(RECORD, trace_id=f"{number}"), due=math.inf)
        bench.now += PACE_SECONDS
        await bench.judge.step()
        assert bench.judge.thinning == Thinning()


async def test_a_stop_while_judging_leaves_the_record_in_the_queue() -> None:
    from threading import Event

    async with working(["groundedness"]) as bench:
        bench.server.every = Fault(seconds=30.0)
        bench.add(RECORD)
        stop = Event()
        running = asyncio.create_task(bench.judge.run(stop))
        while not bench.server.calls:
            await asyncio.sleep(0.01)
        stop.set()
        await running
        assert (bench.written, len(bench.queue)) == ([], 1)
