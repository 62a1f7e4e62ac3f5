"""Records are read back as they were judged, and their verdicts lie beside their other scores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.records import feedback, records, traffic
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import judged, rollups
from scorers.judge.queue import content_hash
from tests.outcomes import NOW, SECOND, outcome_of

FACTS = {"groundedness": RubricFacts(version="1", fails_below=0.7)}
MINUTE = NOW // SECOND // 60 * 60
VERDICT = Score(
    rubric="groundedness",
    value=0.5,
    layer=Layer.GENERATION,
    scorer="openai:m",
    version="1",
    kind=Kind.JUDGE,
    stream=Stream.BASE,
    inclusion_probability=0.05,
)


def stored(store: Store, number: int) -> judged.StoredRecord:
    rows = TraceRows(FACTS, replica="r1", epoch=7)
    outcome = outcome_of(number)
    rows.add(outcome)
    store.write(rows.take())
    key = (outcome.trace.trace_id, outcome.records[0].record.record_id)
    found = judged.read(store, [key])
    assert set(found) == {key}
    return found[key]


def scores_of(store: Store, number: int) -> list[dict[str, object]]:
    found = records.trace(store, f"{number:032x}")
    assert found is not None
    return [score for score in found["records"][0]["scores"] if score["kind"] == "judge"]


def test_what_is_judged_is_what_came_in(store: Store) -> None:
    original = outcome_of(1).records[0].record
    found = stored(store, 1).record
    assert content_hash(found) == content_hash(original)
    assert found.citations[0].quote == original.citations[0].quote
    assert found.citations[0].chunk_id == original.citations[0].chunk_id
    assert (found.absent, found.dimensions) == (original.absent, original.dimensions)
    assert (found.route, found.context_source) == (original.route, original.context_source)


def test_a_record_that_is_not_stored_is_left_out(store: Store) -> None:
    assert judged.read(store, [(f"{77:032x}", "no")]) == {}
    assert judged.read(store, []) == {}


def test_a_verdict_lies_beside_the_other_scores_and_fails_by_its_rubric(store: Store) -> None:
    found = stored(store, 2)
    written = judged.write(store, [(found, [VERDICT])], FACTS)
    assert written.minutes == frozenset({MINUTE})
    (score,) = scores_of(store, 2)
    assert (score["value"], score["failed"], score["stream"]) == (0.5, True, "base")
    assert score["segment"] == "r1 openai:m1"


def test_a_verdict_that_is_written_again_counts_once(store: Store) -> None:
    found = stored(store, 3)
    for _ in range(3):
        judged.write(store, [(found, [VERDICT])], FACTS)
    assert len(scores_of(store, 3)) == 1


def test_verdicts_of_the_suspicious_stream_stand_beside_those_of_the_sample_and_in_no_mean(
    store: Store,
) -> None:
    found = stored(store, 4)
    other = replace(VERDICT, stream=Stream.SUSPICIOUS, value=0.0)
    judged.write(store, [(found, [VERDICT, other])], FACTS)
    assert len(scores_of(store, 4)) == 2
    rollups.recompute(store, {MINUTE}, version=1)
    counted = rollups.counts(store, MINUTE, MINUTE + 60, bin_seconds=60)
    means = {
        counted.series[index].rubric: (int(n), float(total))
        for index, n, total in zip(counted.index, counted.n, counted.total, strict=True)
    }
    assert means["groundedness"] == (1, 0.5)


def test_the_traffic_of_a_route_has_its_mean_sizes_and_its_hours(store: Store) -> None:
    record = stored(store, 5).record
    stored(store, 6)
    (found,) = traffic.since(store, MINUTE - 3600)
    assert (found.route, found.records) == (record.route, 2)
    assert found.question_characters == len(record.query or "")
    assert found.answer_characters == len(record.answer or "")
    assert found.chunks == len(record.context)
    assert found.retrieved == len(record.retrieved)
    assert found.citations == len(record.citations)
    hour = MINUTE // 3600 % 24
    assert found.hours == tuple(2 * (place == hour) for place in range(24))
    assert traffic.by_hour([found, found])[hour] == 4


def test_no_traffic_is_no_row_and_no_hours(store: Store) -> None:
    assert traffic.since(store, MINUTE) == []
    assert traffic.by_hour([]) == (0,) * 24


BAD = {"kind": "thumbs", "value": 0.0, "time_unix_nano": NOW}


@pytest.mark.parametrize(
    "said",
    [
        {"trace_id": f"{1:032x}"},
        {"trace_id": f"{1:032x}", "span_id": f"{1:08x}{0:08x}"},
        {"response_id": f"resp-{f'{1:032x}'[-4:]}"},
    ],
    ids=["trace", "span", "response"],
)
def test_a_record_that_a_user_complained_about_is_found_by_any_id(
    store: Store, said: dict[str, str]
) -> None:
    stored(store, 1)
    stored(store, 2)
    store.write(feedback.batch([FeedbackEvent(feedback_id="f", **BAD, **said)], NOW))
    assert judged.disliked(store, NOW / SECOND - 60, MINUTE - 3600) == [
        (f"{1:032x}", f"{1:08x}{0:08x}")
    ]


@pytest.mark.parametrize("value", [None, 0.5, 1.0])
def test_praise_and_what_has_no_direction_is_no_complaint(
    store: Store, value: float | None
) -> None:
    stored(store, 1)
    told = FeedbackEvent(feedback_id="f", **(BAD | {"value": value}), trace_id=f"{1:032x}")
    store.write(feedback.batch([told], NOW))
    assert judged.disliked(store, NOW / SECOND - 60, MINUTE - 3600) == []


def test_a_complaint_of_before_and_an_old_record_are_left_out(store: Store) -> None:
    stored(store, 1)
    store.write(feedback.batch([FeedbackEvent(feedback_id="f", **BAD, trace_id=f"{1:032x}")], NOW))
    assert judged.disliked(store, NOW / SECOND + 60, MINUTE - 3600) == []
    assert judged.disliked(store, NOW / SECOND - 60, MINUTE + 60) == []
