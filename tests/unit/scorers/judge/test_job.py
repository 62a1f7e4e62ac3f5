"""What the judge queues: a sample of live traffic, and answers with bad feedback."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.score import Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.records import feedback
from ragvigil.store.records.traces import TraceRows
from scorers.judge.job import NO_JUDGE, JudgeJob, families
from scorers.judge.queue import JudgeQueue, QueuedRecord
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics
from tests.outcomes import NOW, SECOND, outcome_of

EVERY = {"model": "openai:m", "key": SecretStr("k"), "allow": True, "wait_seconds": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "judge"


def judge_job(store: Store, folder: Path, **settings: object) -> JudgeJob:
    given = JudgeSettings.model_validate(EVERY | settings)
    bars = {"citation_validity": 0.5}
    return JudgeJob(given, store, folder, bars, None, lambda _: None)


def queued(judge: JudgeJob, folder: Path) -> list[QueuedRecord]:
    """The records that the next judge process would find in the queue."""
    judge.stop()
    queue = JudgeQueue(folder / "judge_queue.sqlite", 100)
    records = queue.due(float("inf"), 100)
    queue.close()
    return records


def test_without_a_model_nothing_is_queued_and_status_says_why(store: Store, folder: Path) -> None:
    judge = JudgeJob(JudgeSettings(), store, folder, {}, None, lambda _: None)
    judge.offer([outcome_of(1)])
    judge.suspect(0.0)
    assert (judge.reason, judge.judged, judge.wants("t")) == (NO_JUDGE, frozenset(), False)
    assert judge.judge_now([], None) is None  # type: ignore[arg-type]
    assert not folder.exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"key": None}, "a key is missing"),
        ({"sources": ("/no/such/folder",)}, "/no/such/folder: there is no such file or folder"),
    ],
)
def test_a_judge_without_a_usable_client_queues_nothing(
    store: Store,
    folder: Path,
    settings: dict[str, object],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judge = judge_job(store, folder, **settings)
    judge.offer([outcome_of(1)])
    assert judge.reason.startswith(reason)
    assert judge.status() == {"on": False, "reason": judge.reason}


def test_live_records_of_the_sample_are_queued_and_replayed_ones_are_not(
    store: Store, folder: Path
) -> None:
    judge = judge_job(store, folder, sample_rate=1.0)
    live, old = outcome_of(1), outcome_of(2)
    old = replace(old, trace=replace(old.trace, backfill="import"))
    judge.offer([live, old])
    (queued_record,) = queued(judge, folder)
    assert (queued_record.trace_id, queued_record.stream, queued_record.probability) == (
        f"{1:032x}",
        Stream.BASE,
        1.0,
    )


def test_replayed_traffic_is_judged_on_request(store: Store, folder: Path) -> None:
    judge = judge_job(store, folder, sample_rate=1.0, backfill=True)
    old = outcome_of(2)
    judge.offer([replace(old, trace=replace(old.trace, backfill="import"))])
    assert len(queued(judge, folder)) == 1


def test_outside_the_sample_a_record_that_failed_is_suspicious(store: Store, folder: Path) -> None:
    judge = judge_job(store, folder, sample_rate=0.0, suspicious_rate=1.0)
    judge.offer([outcome_of(1, value=0.25), outcome_of(2, value=1.0)])
    (queued_record,) = queued(judge, folder)
    assert (queued_record.trace_id, queued_record.stream) == (f"{1:032x}", Stream.SUSPICIOUS)


def keep(store: Store, *numbers: int) -> None:
    rows = TraceRows({})
    for number in numbers:
        rows.add(outcome_of(number))
    store.write(rows.take())


def complain(store: Store, number: int) -> None:
    event = FeedbackEvent(feedback_id=f"f{number}", kind="thumbs", value=0.0, time_unix_nano=NOW,
                trace_id=f"{number:032x}")  # fmt: skip
    store.write(feedback.batch([event], NOW))


def test_a_record_that_a_user_complains_about_later_is_suspicious_once(
    store: Store, folder: Path
) -> None:
    keep(store, 1, 2)
    complain(store, 1)
    judge = judge_job(store, folder, sample_rate=0.0, suspicious_rate=1.0)
    for _ in range(2):
        judge.suspect(NOW / SECOND - 60)
    (queued_record,) = queued(judge, folder)
    assert (queued_record.trace_id, queued_record.stream) == (f"{1:032x}", Stream.SUSPICIOUS)


def test_a_complaint_does_not_move_a_sampled_record_out_of_the_sample(
    store: Store, folder: Path
) -> None:
    keep(store, 1)
    complain(store, 1)
    judge = judge_job(store, folder, sample_rate=1.0, suspicious_rate=1.0)
    judge.offer([outcome_of(1)])
    judge.suspect(NOW / SECOND - 60)
    assert [record.stream for record in queued(judge, folder)] == [Stream.BASE]


def test_a_judge_that_samples_nothing_scores_no_rubric(store: Store, folder: Path) -> None:
    off = judge_job(store, folder, sample_rate=0.0)
    assert (off.judged, off.status()["on"]) == (frozenset(), False)
    off.stop()
    on = judge_job(store, folder, sample_rate=0.0, routes={"/ask": 0.1})
    assert "groundedness" in on.judged
    on.stop()


def test_a_family_is_a_judged_rubric_and_those_derived_from_it() -> None:
    derived = {
        family.asked.name: [rubric.name for rubric in family] for family in families(load_rubrics())
    }
    assert set(derived["context_relevance"]) == {
        "context_relevance",
        "context_precision",
        "answerable",
        "prompt_relevance",
        "rerank_gain",
    }
    assert derived["groundedness"] == ["groundedness"]
    assert "citation_validity" not in derived
    assert [family.asked.name for family in families(load_rubrics(), ["completeness"])] == [
        "completeness"
    ]
