"""What the benchmarks of the judge share: records to judge, and a judge whose store is a dict."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.rig.labelled import rows
from ragvigil.llm.client import Client, open_client
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import Citation, Document, RagRecord
from ragvigil.model.score import Score, Stream
from ragvigil.store.records.record_rows import Stamp
from ragvigil.store.scores.judged import Key, StoredRecord
from scorers.golden import Case, question_key
from scorers.judge.asker import Asker, Family
from scorers.judge.job import families
from scorers.judge.queue import JudgeQueue, QueuedRecord, content_hash
from scorers.judge.references import References
from scorers.judge.worker import Judge
from scorers.rubric import load_rubrics
from tests.judged_records import ATTACKED, BAD, GOOD, INJECTED, REFERENCE, REFUSED

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MODELS = ("openai:stand-in", "anthropic:stand-in")
STAMP = Stamp(minute=0, time=0, received=0, trace_id="t", generation=1, backfill="", writer=("", 0))
CASE = Case(question=GOOD.query or "", gold_answer=REFERENCE.answer, facts=REFERENCE.facts)
WITHOUT_CASE = "How long do refunds of a card take, and do they cost a fee?"


def house_records() -> tuple[RagRecord, ...]:
    """A helpdesk's records: whole, wrong, refused, attacked, with and without a golden case."""
    made = (GOOD, BAD, REFUSED, INJECTED, ATTACKED, replace(GOOD, query=WITHOUT_CASE))
    return tuple(
        replace(record, record_id=f"h{n}", trace_id=f"h{n}") for n, record in enumerate(made)
    )


def labelled_records(name: str, most: int, *, small: bool) -> tuple[RagRecord, ...]:
    """Records of a labelled set that has questions, chunks and answers; each chunk is cited."""
    return tuple(
        _labelled(number, row) for number, row in enumerate(rows(name, small=small)[:most])
    )


def _labelled(number: int, row: Mapping[str, Any]) -> RagRecord:
    chunks = tuple(
        Document(chunk_id=str(chunk["id"]), content=chunk["text"])
        for chunk in row.get("chunks") or ()
    )
    answer = row["answer"] or ""
    cited = tuple(
        Citation(target=chunk.chunk_id, chunk_id=chunk.chunk_id, start=0, end=0, claim_start=0,
                 claim_end=len(answer))
        for chunk in chunks[:2]
    )  # fmt: skip
    return RagRecord(
        record_id=f"d{number}",
        trace_id=f"d{number}",
        query=row.get("question"),
        answer=answer,
        retrieved=chunks,
        context=chunks,
        citations=cited,
    )


def base_url(address: str, model: str) -> str:
    """The address at which a stand-in speaks the protocol of a model."""
    return f"{address}/v1" if model.startswith("openai:") else address


def asker_of(client: Client, model: str, *, seed: int) -> Asker:
    """An asker of that client; one question of the records above has a golden case."""
    return Asker(
        client=client,
        model=model,
        most_characters=60_000,
        chance=random.Random(seed),
        references=References(cases={question_key(CASE.question): CASE}),
    )


def judged_families(wanted: Sequence[str] = ()) -> tuple[Family, ...]:
    """The judged rubrics that are installed, each with those computed from its grades."""
    return families(load_rubrics(), wanted)


@dataclass(kw_only=True)
class Court:
    """A judge at work on records in memory; `written` is what it stored, by key and rubric."""

    client: Client
    queue: JudgeQueue
    records: dict[Key, RagRecord] = field(default_factory=dict)
    written: dict[Key, dict[str, Score]] = field(default_factory=dict)
    stored_twice: int = 0

    def add(self, records: Sequence[RagRecord]) -> None:
        """Puts records into the queue; they are due at once."""
        for record in records:
            self.records[record.trace_id, record.record_id] = record
        self.queue.add(
            QueuedRecord(
                trace_id=record.trace_id,
                record_id=record.record_id,
                content=content_hash(record),
                stream=Stream.BASE,
                probability=1.0,
                due=0.0,
            )
            for record in records
        )

    def read(self, keys: Collection[Key]) -> Mapping[Key, StoredRecord]:
        """The stored records of these keys."""
        return {key: StoredRecord(record=self.records[key], stamp=STAMP) for key in keys}

    def write(self, verdicts: Sequence[tuple[StoredRecord, Sequence[Score]]]) -> None:
        """Keeps verdicts, and notices those that are there already."""
        for stored, scores in verdicts:
            key = (stored.record.trace_id, stored.record.record_id)
            self.stored_twice += key in self.written
            self.written[key] = {score.rubric: score for score in scores}

    def scores(self) -> Iterator[Score]:
        """Every stored score."""
        for scores in self.written.values():
            yield from scores.values()


@asynccontextmanager
async def in_session(
    settings: LlmSettings,
    *,
    clock: Callable[[], float],
    rubrics: Sequence[str] = (),
    folder: Path | None = None,
    rounds: int = 3,
    opened: Mapping[str, Any] | None = None,
) -> AsyncIterator[tuple[Court, Judge]]:
    """A court and its judge on `clock`; `opened` is passed to `open_client`."""
    client = open_client(settings, folder, **(opened or {}))
    queue = JudgeQueue(folder / "judge_queue.sqlite" if folder else None, 100_000)
    court = Court(client=client, queue=queue)
    yield (
        court,
        Judge(
            asker_of(client, settings.model, seed=0),
            queue,
            lambda: judged_families(rubrics),
            read=court.read,
            write=court.write,
            clock=clock,
            is_late=lambda: False,
            rounds=rounds,
            at_once=settings.concurrency,
            budget=client.budget,
        ),
    )
    await client.close()
    queue.close()
