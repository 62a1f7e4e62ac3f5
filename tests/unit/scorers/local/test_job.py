"""Local models score what their time allows; the rest is counted and lowers the rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray
from prometheus_client import REGISTRY

from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.weights import ModelFile
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.store.scores.judged import StoredRecord
from scorers.local.job import (
    ADAPT_SECONDS,
    BATCH_RECORDS,
    FIRST_ENTAILMENT_RATE,
    LEAST_RATE,
    WAITING_RECORDS,
    LocalScoring,
)
from tests.outcomes import outcome_of
from tests.patience import PATIENCE_SECONDS


@dataclass(kw_only=True)
class Words:
    """An embedding model of two words; a test sets `has_model` and `has_time`."""

    has_model: bool = True
    time: bool = True
    why: Reason = Reason.NO_MODEL
    embedding_name: str = "words"
    embedding_version: str = "1"

    def has_time(self) -> bool:
        return self.time

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | Unavailable:
        if not self.has_model:
            return Unavailable(reason=self.why, detail="no model")
        rows = [[1.0, float("long" in text)] for text in texts]
        table = np.array(rows, np.float32)
        return table / np.linalg.norm(table, axis=1, keepdims=True)

    def entail(
        self, _file: ModelFile, pairs: Sequence[tuple[str, str]]
    ) -> NDArray[np.float32] | Unavailable:
        return np.array([[0.9, 0.05, 0.05] for _ in pairs], np.float32)

    def close(self) -> None:
        self.has_model = False


@dataclass(kw_only=True)
class Local:
    """Local scoring with a clock, and its written scores."""

    model: Words = field(default_factory=Words)
    judged: frozenset[str] = frozenset()
    least_rate: float = 0.0
    reads_sentences: bool = False
    has_models: bool = True
    now: float = 0.0
    written: list[tuple[StoredRecord, Sequence[Score]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scoring = LocalScoring(
            self.model,  # type: ignore[arg-type]
            ("r1", 7),
            self.written.extend,
            judged=self.judged,
            salt="s",
            least_rate=self.least_rate,
            entailer=self.model if self.reads_sentences else None,
            has_models=self.has_models,
            clock=lambda: self.now,
        )

    def drain(self) -> None:
        while self.scoring.step():
            pass


def outcomes(count: int) -> list[Outcome]:
    return [outcome_of(number) for number in range(count)]


def left_over() -> float:
    return REGISTRY.get_sample_value("ragvigil_local_records_total", {"result": "left_over"}) or 0.0


def test_every_record_is_scored_while_there_is_time() -> None:
    local = Local()
    local.scoring.offer(outcomes(BATCH_RECORDS + 3))
    local.drain()
    assert len(local.written) == BATCH_RECORDS + 3
    stored, scores = local.written[0]
    assert stored.stamp.trace_id == stored.record.trace_id
    assert {score.rubric for score in scores} == {
        "context_relevance", "answer_relevance", "chunk_utilization",
    }  # fmt: skip
    assert {(score.kind, score.stream, score.inclusion_probability) for score in scores} == {
        (Kind.MODEL, Stream.BASE, 1.0)
    }


def test_for_a_judged_rubric_a_local_score_is_a_proxy() -> None:
    local = Local(judged=frozenset({"context_relevance"}))
    local.scoring.offer(outcomes(1))
    local.drain()
    streams = {score.rubric: score.stream for score in local.written[0][1]}
    assert streams.pop("context_relevance") == Stream.PROXY
    assert set(streams.values()) == {Stream.BASE}


def test_replayed_traffic_is_left_out() -> None:
    local = Local()
    (outcome,) = outcomes(1)
    local.scoring.offer([replace(outcome, trace=replace(outcome.trace, backfill="import"))])
    assert not local.scoring.step()


@pytest.mark.parametrize("reason", ["no room", "the core is behind"])
def test_records_left_over_are_counted_and_lower_the_rate(reason: str) -> None:
    local, before = Local(), left_over()
    local.scoring.is_behind = reason == "the core is behind"
    local.scoring.offer(outcomes(WAITING_RECORDS + 5))
    expected = 5 if reason == "no room" else WAITING_RECORDS + 5
    assert left_over() - before == expected
    local.now += ADAPT_SECONDS
    local.scoring.step()
    assert local.scoring.rate == 0.5


def test_the_rate_recovers_and_never_falls_below_the_judges() -> None:
    local = Local(least_rate=0.1)
    local.scoring.is_behind = True
    for _ in range(10):
        local.scoring.offer(outcomes(60))
        local.now += ADAPT_SECONDS
        local.scoring.step()
    assert local.scoring.rate == 0.1 > LEAST_RATE
    local.scoring.is_behind = False
    for _ in range(20):
        local.now += ADAPT_SECONDS
        local.scoring.step()
    assert local.scoring.rate == 1.0


def test_the_rate_is_the_inclusion_probability() -> None:
    local = Local()
    local.scoring.rate = 0.5
    local.scoring.offer(outcomes(60))
    local.drain()
    assert 15 < len(local.written) < 45
    assert {score.inclusion_probability for _, scores in local.written for score in scores} == {0.5}


def test_without_cpu_time_records_wait() -> None:
    local = Local(model=Words(time=False))
    local.scoring.offer(outcomes(2))
    assert not local.scoring.step()
    assert local.scoring.status() == {"rate": 1.0, "waiting": 2}


def test_without_a_model_nothing_is_written() -> None:
    local = Local(model=Words(has_model=False))
    local.scoring.offer(outcomes(2))
    local.drain()
    assert local.written == []


@pytest.mark.parametrize("why", [Reason.TIMED_OUT, Reason.CRASHED, Reason.RESTING])
def test_records_wait_until_a_lost_model_process_is_back(why: Reason) -> None:
    local = Local(model=Words(has_model=False, why=why))
    local.scoring.offer(outcomes(BATCH_RECORDS + 3))
    local.drain()
    assert local.scoring.status()["waiting"] == BATCH_RECORDS + 3
    local.model.has_model = True
    local.drain()
    written = [stored.record.record_id for stored, _ in local.written]
    expected = [each.records[0].record.record_id for each in outcomes(BATCH_RECORDS + 3)]
    assert written == expected, "each once, in their order"


def test_where_there_are_no_models_no_record_waits_for_them() -> None:
    local = Local(has_models=False)
    given = outcomes(3)
    assert not any(map(local.scoring.takes, given))
    local.scoring.offer(given)
    local.now += ADAPT_SECONDS
    assert not local.scoring.step()  # and the rate stays as it is
    assert local.scoring.status() == {"rate": 0.0, "waiting": 0}


def test_a_batch_that_fails_does_not_end_the_thread() -> None:
    local = Local()
    failures = [ValueError("a text that nothing can read")]
    arrived = Event()

    def deliver(_: Sequence[tuple[StoredRecord, Sequence[Score]]]) -> None:
        if failures:
            raise failures.pop()
        arrived.set()

    local.scoring = LocalScoring(
        local.model,  # type: ignore[arg-type]
        ("r1", 7),
        deliver,
        judged=frozenset(),
        salt="s",
        least_rate=0.0,
    )
    local.scoring.offer(outcomes(BATCH_RECORDS + 1))
    local.scoring.start()
    assert arrived.wait(PATIENCE_SECONDS)
    local.scoring.stop()


def test_the_entailment_model_reads_a_share_of_the_sample_at_its_own_rate() -> None:
    local = Local(reads_sentences=True)
    local.scoring.offer(outcomes(120))
    local.drain()
    read = [
        {score.inclusion_probability for score in scores if score.scorer == "entailment"}
        for _, scores in local.written
    ]
    assert len(read) == 120
    assert 10 < sum(map(bool, read)) < 60
    assert set[float]().union(*read) == {FIRST_ENTAILMENT_RATE}


def test_with_too_little_time_sentences_are_left_out_before_records_are() -> None:
    local = Local(reads_sentences=True)
    for _ in range(2):
        local.scoring.offer(outcomes(WAITING_RECORDS + 5))
        local.now += ADAPT_SECONDS
        local.drain()
    assert (local.scoring.rate, local.scoring.entailment_rate) == (1.0, FIRST_ENTAILMENT_RATE / 4)
    for _ in range(20):
        local.scoring.leave_out(1)
        local.now += ADAPT_SECONDS
        local.scoring.step()
    assert local.scoring.entailment_rate == local.scoring.rate == LEAST_RATE
    for _ in range(60):
        local.now += ADAPT_SECONDS
        local.scoring.step()
        assert local.scoring.entailment_rate == LEAST_RATE or local.scoring.rate == 1
    assert local.scoring.status()["entailment_rate"] == 1.0
