"""The queue loses no record and repeats no finished one, whenever the process ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Stream
from scorers.judge.queue import JudgeQueue, QueuedRecord, content_hash


def waiting(number: int, *, content: str = "c", due: float = 0.0) -> QueuedRecord:
    return QueuedRecord(
        trace_id=f"t{number}",
        record_id="r",
        content=content,
        stream=Stream.BASE,
        probability=0.05,
        due=due,
    )


@pytest.fixture
def queue() -> JudgeQueue:
    return JudgeQueue(None, 100)


def test_due_records_are_taken_the_oldest_first(queue: JudgeQueue) -> None:
    queue.add([waiting(1, due=20.0), waiting(2, due=10.0), waiting(3, due=99.0)])
    assert [record.trace_id for record in queue.due(50.0, 10)] == ["t2", "t1"]
    assert queue.due(50.0, 10) == []


def test_a_taken_record_equals_the_added_one(queue: JudgeQueue) -> None:
    given_ = replace(waiting(1), stream=Stream.SUSPICIOUS, probability=0.02)
    queue.add([given_])
    assert queue.due(0.0, 1) == [given_]


def test_a_record_that_waits_or_was_judged_is_not_added_again(queue: JudgeQueue) -> None:
    queue.add([waiting(1), waiting(1)])
    assert len(queue) == 1
    queue.finish(queue.due(0.0, 1), 5.0)
    queue.add([waiting(1)])
    assert len(queue) == 0


def test_a_record_whose_content_changed_is_judged_again(queue: JudgeQueue) -> None:
    queue.add([waiting(1)])
    queue.finish(queue.due(0.0, 1), 5.0)
    queue.add([waiting(1, content="other")])
    assert [record.content for record in queue.due(0.0, 1)] == ["other"]


def test_a_record_that_changes_while_it_is_judged_stays_queued(queue: JudgeQueue) -> None:
    queue.add([waiting(1)])
    due = queue.due(0.0, 1)
    queue.add([waiting(1, content="new", due=60.0)])
    queue.finish(due, 5.0)
    assert [record.content for record in queue.due(60.0, 1)] == ["new"]


def test_records_above_the_bound_are_refused_and_counted() -> None:
    queue = JudgeQueue(None, 3)
    assert queue.add([waiting(number) for number in range(5)]) == 2
    assert len(queue) == 3
    assert queue.add([waiting(9)]) == 1


def test_a_record_put_back_comes_one_round_later(queue: JudgeQueue) -> None:
    queue.add([waiting(1)])
    (due,) = queue.due(0.0, 1)
    queue.put_back(due, 60.0)
    assert queue.due(59.0, 1) == []
    (again,) = queue.due(60.0, 1)
    assert again.rounds == 1


def test_the_oldest_record_of_the_sample_says_how_far_judging_has_come(queue: JudgeQueue) -> None:
    assert queue.oldest_due() is None
    queue.add([waiting(1, due=90.0), waiting(2, due=70.0)])
    assert queue.oldest_due() == 70.0
    (taken, _) = queue.due(100.0, 10)
    queue.finish([taken], 100.0)
    assert queue.oldest_due() == 90.0
    queue.put_back(waiting(1, due=90.0), 500.0)
    assert queue.oldest_due() == 0.0


def test_after_a_crash_unfinished_records_are_judged_again_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "queue.sqlite"
    before = JudgeQueue(path, 100)
    before.add([waiting(1), waiting(2)])
    before.due(0.0, 1)
    after = JudgeQueue(path, 100)  # the first is never closed, as after kill -9
    assert after.repeated == 1
    assert {record.trace_id for record in after.due(0.0, 10)} == {"t1", "t2"}


def test_judged_records_are_remembered_after_a_restart_until_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "queue.sqlite"
    before = JudgeQueue(path, 100)
    before.add([waiting(1)])
    before.finish(before.due(0.0, 1), 5.0)
    before.close()
    after = JudgeQueue(path, 100)
    after.add([waiting(1)])
    assert len(after) == 0
    after.forget(6.0)
    after.add([waiting(1)])
    assert len(after) == 1


CHUNK = Document(chunk_id="a", content="Refunds take five days.")
RECORD = RagRecord(record_id="r", trace_id="t", query="q", answer="a", context=(CHUNK,))


@pytest.mark.parametrize(
    "changed",
    [
        replace(RECORD, query="other"),
        replace(RECORD, query=None),
        replace(RECORD, answer=""),
        replace(RECORD, answer=None),
        replace(RECORD, context=()),
        replace(RECORD, retrieved=(CHUNK,)),
        replace(RECORD, context=(replace(CHUNK, content="Refunds take six days."),)),
        replace(RECORD, context=(replace(CHUNK, content=None),)),
    ],
)
def test_the_content_hash_covers_everything_that_is_judged(changed: RagRecord) -> None:
    assert content_hash(changed) != content_hash(RECORD)


def test_what_is_not_judged_does_not_change_the_content_hash() -> None:
    assert content_hash(replace(RECORD, generation=4, route="/ask")) == content_hash(RECORD)


@given(st.lists(st.text(), max_size=6), st.lists(st.text(), max_size=6))
def test_chunks_do_not_run_into_one_another(one: list[str], other: list[str]) -> None:
    def content(texts: list[str]) -> str:
        chunks = tuple(Document(chunk_id="a", content=text) for text in texts)
        return content_hash(replace(RECORD, context=chunks))

    assert (content(one) == content(other)) == (one == other)
