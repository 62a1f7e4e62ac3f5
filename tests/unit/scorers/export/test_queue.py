"""The export blocks nobody: it is bounded, retries a few times, and counts what is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from prometheus_client import REGISTRY

from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.store.records.traces import stamp_of
from ragvigil.store.scores.judged import StoredRecord
from scorers.export.events import AnswerResults
from scorers.export.queue import ATTEMPTS, BATCH_RESULTS, ExportQueue
from scorers.export.sender import SendResult
from scorers.export.settings import ExportSettings
from tests.outcomes import outcome_of

SOMEWHERE = "http://127.0.0.1:4317"


@dataclass(kw_only=True)
class Receiver:
    """Accepts or refuses results as the test sets it; each request takes `blocks` seconds."""

    failure: str = ""
    rejects: int = 0
    blocks: float = 0.0
    taken: list[AnswerResults] = field(default_factory=list)
    requests: int = 0
    is_closed: bool = False

    def send(self, batch: Sequence[AnswerResults]) -> SendResult:
        self.requests += 1
        deadline = time.monotonic() + self.blocks
        while not self.is_closed and time.monotonic() < deadline:
            time.sleep(0.01)
        if self.failure or self.is_closed:
            return SendResult(failed=self.failure or "closed")
        self.taken += batch
        return SendResult(rejected=self.rejects)

    def close(self) -> None:
        self.is_closed = True


@dataclass(kw_only=True)
class Counts:
    """What the export has counted since this object was created."""

    before: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.before = self._now()

    def since(self) -> dict[str, float]:
        return {
            name: now - was
            for name, now in self._now().items()
            if (was := self.before.get(name, 0.0)) != now
        }

    def _now(self) -> dict[str, float]:
        return {
            sample.labels.get("reason", metric.name.removeprefix("ragvigil_")): sample.value
            for metric in REGISTRY.collect()
            if metric.name.startswith("ragvigil_export") and metric.type == "counter"
            for sample in metric.samples
            if sample.name.endswith("_total")
        }


def open_queue(receiver: Receiver, **settings: object) -> ExportQueue:
    """A queue with an open sender and no thread: the test calls `step`."""
    given = ExportSettings.model_validate({"endpoint": SOMEWHERE} | settings)
    export_queue = ExportQueue(given, open_sender=lambda _: receiver, clock=lambda: 7.0)
    export_queue._sender = receiver
    return export_queue


def test_a_record_is_exported_once_with_the_span_that_was_judged() -> None:
    receiver, counts = Receiver(), Counts()
    export_queue = open_queue(receiver)
    outcome = outcome_of(1)
    export_queue.offer([outcome])
    assert export_queue.step()
    assert not export_queue.step()
    (answer,) = receiver.taken
    assert f"{answer.trace_id:032x}" == outcome.trace.trace_id
    assert f"{answer.span_id:016x}" == outcome.records[0].record.record_id
    assert answer.time_unix_nano == 7 * 10**9
    assert [result.name for result in answer.results] == ["citation_validity", "refusal"]
    assert counts.since() == {"exported_results": 2.0}


def test_without_an_address_nothing_is_queued() -> None:
    export_queue = ExportQueue(ExportSettings())
    export_queue.offer([outcome_of(1)])
    export_queue.start()
    assert export_queue.status() == {"on": False}
    export_queue.stop()


def test_results_that_find_the_queue_full_are_counted_and_dropped() -> None:
    receiver, counts = Receiver(), Counts()
    export_queue = open_queue(receiver, max_queue=2)
    export_queue.offer([outcome_of(number) for number in range(1, 6)])
    assert export_queue.step()
    assert len(receiver.taken) == 2
    assert counts.since() == {"exported_results": 4.0, "queue_full": 6.0}


def test_a_request_is_tried_a_few_times_and_then_dropped() -> None:
    receiver, counts = Receiver(failure="503"), Counts()
    export_queue = open_queue(receiver)
    export_queue.offer([outcome_of(1)])
    pauses = []
    for _ in range(ATTEMPTS):
        assert not export_queue.step()
        pauses.append(export_queue.pause_seconds())
    assert pauses == [1.0, 2.0, 4.0]
    assert counts.since() == {"export_failures": 3.0, "failed": 2.0}
    receiver.failure = ""
    export_queue.offer([outcome_of(2)])
    assert export_queue.step()
    assert [answer.trace_id for answer in receiver.taken] == [2]
    assert export_queue.status()["failing"] is False
    # Scored again, with the same results: they never arrived, so they are no duplicate.
    export_queue.offer([outcome_of(1)])
    assert export_queue.step()
    assert [answer.trace_id for answer in receiver.taken] == [2, 1]


def test_a_request_that_failed_arrives_when_the_receiver_is_back() -> None:
    receiver = Receiver(failure="503")
    export_queue = open_queue(receiver)
    export_queue.offer([outcome_of(1)])
    assert not export_queue.step()
    assert export_queue.status() == {
        "on": True, "address": SOMEWHERE, "failing": True, "waiting": 1,
    }  # fmt: skip
    receiver.failure = ""
    assert export_queue.step()
    assert len(receiver.taken) == 1


def test_a_failing_receiver_makes_one_line_in_the_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    receiver = Receiver(failure="refused")
    export_queue = open_queue(receiver)
    for number in range(1, 5):
        export_queue.offer([outcome_of(number)])
        export_queue.step()
    receiver.failure = ""
    export_queue.step()
    output = capsys.readouterr().out
    assert output.count("export fails") == 1
    assert output.count("export works again") == 1


def test_rejected_results_do_not_count_as_exported() -> None:
    counts = Counts()
    export_queue = open_queue(Receiver(rejects=1))
    export_queue.offer([outcome_of(1)])
    export_queue.step()
    assert counts.since() == {"exported_results": 1.0, "rejected": 1.0}


def test_an_answer_with_unchanged_results_is_not_sent_again() -> None:
    receiver, counts = Receiver(), Counts()
    export_queue = open_queue(receiver)
    for value in (0.25, 0.25, 0.5):
        export_queue.offer([outcome_of(1, value=value)])
        export_queue.step()
    assert [answer.results[0].value for answer in receiver.taken] == [0.25, 0.5]
    assert counts.since() == {"exported_results": 4.0, "unchanged": 2.0}


def test_replayed_traffic_is_not_exported_by_default() -> None:
    live = outcome_of(1)
    replayed = replace(live, trace=replace(live.trace, backfill="last year"))
    stored = StoredRecord(record=replayed.records[0].record, stamp=stamp_of(replayed, ("", 0)))
    for asked in (False, True):
        receiver = Receiver()
        export_queue = open_queue(receiver, backfill=asked)
        export_queue.offer([replayed])
        export_queue.offer_later([(stored, [Score(rubric="groundedness", value=1.0)])])
        export_queue.step()
        assert len(receiver.taken) == 2 * asked


def test_later_results_of_a_judge_are_exported_with_stream_and_probability() -> None:
    receiver = Receiver()
    export_queue = open_queue(receiver)
    outcome: Outcome = outcome_of(1)
    stored = StoredRecord(record=outcome.records[0].record, stamp=stamp_of(outcome, ("", 0)))
    score = Score(
        rubric="groundedness",
        value=0.5,
        scorer="openai:gpt-x",
        kind=Kind.JUDGE,
        stream=Stream.AUDIT,
        inclusion_probability=0.05,
    )
    export_queue.offer_later([(stored, [score])])
    export_queue.step()
    details = receiver.taken[0].results[0].details
    assert details["ragvigil.stream"] == "audit"
    assert details["ragvigil.inclusion_probability"] == 0.05
    assert details["ragvigil.evaluator"] == "openai:gpt-x"


def test_a_request_is_bounded_by_results() -> None:
    receiver = Receiver()
    export_queue = open_queue(receiver)
    export_queue.offer([outcome_of(number) for number in range(1, BATCH_RESULTS + 1)])
    assert export_queue.step()
    assert sum(len(answer.results) for answer in receiver.taken) == BATCH_RESULTS


def test_an_answer_without_opentelemetry_ids_is_counted_and_dropped() -> None:
    counts = Counts()
    export_queue = open_queue(Receiver())
    outcome = outcome_of(1)
    record = replace(outcome.records[0].record, trace_id="not-hex")
    export_queue.offer([replace(outcome, records=(replace(outcome.records[0], record=record),))])
    assert not export_queue.step()
    assert counts.since() == {"no_span": 2.0}


def test_the_thread_sends_what_waits_before_it_stops() -> None:
    receiver = Receiver()
    export_queue = open_queue(receiver)
    export_queue.start()
    export_queue.offer([outcome_of(number) for number in range(1, 2 * BATCH_RESULTS)])
    export_queue.stop(30)
    assert len(receiver.taken) == 2 * BATCH_RESULTS - 1
    assert receiver.is_closed


def test_a_hanging_receiver_delays_neither_offers_nor_the_stop() -> None:
    receiver, counts = Receiver(blocks=600), Counts()
    export_queue = open_queue(receiver, max_queue=10)
    export_queue.start()
    export_queue.offer([outcome_of(1)])
    while not receiver.requests:
        time.sleep(0.01)
    export_queue.offer([outcome_of(number) for number in range(2, 100)])
    export_queue.stop(0.1)
    lost = counts.since()
    assert lost["queue_full"] == 2 * 88
    assert lost["shutdown"] == 2 * 11
    assert receiver.taken == []


@pytest.mark.parametrize("module", ["ragvigil.app.core", "scorers.export.queue"])
def test_without_an_address_neither_the_sdk_nor_an_exporter_is_loaded(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        "from scorers.export.queue import ExportQueue\n"
        "from scorers.export.settings import ExportSettings\n"
        "export = ExportQueue(ExportSettings())\n"
        "export.start()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "scorers.export.sender" in loaded
    assert not {"opentelemetry.sdk", "opentelemetry.exporter", "requests"} & loaded
