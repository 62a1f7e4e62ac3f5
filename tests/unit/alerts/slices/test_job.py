"""Hours are summed by slices once they are over, and again when their scores change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from alerts.slices import job as job_module
from alerts.slices.job import SliceJob
from alerts.slices.settings import Dimension, SliceSettings
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Dimensions
from ragvigil.model.score import Layer, Score
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups, slice_sums
from tests.outcomes import NOW, SECOND, outcome_of

HOUR, DAY = 3600, 86_400
START = NOW // SECOND // HOUR * HOUR - 3 * HOUR


def of_tenant(number: int, start: int, *, value: float = 0.5, **dimensions: str) -> Outcome:
    made = outcome_of(number, time_unix_nano=(start + 60 * (number % 50)) * SECOND)
    score = Score(rubric="groundedness", value=value, layer=Layer.GENERATION)
    record = replace(made.records[0].record, dimensions=Dimensions(**dimensions))
    return replace(made, records=(replace(made.records[0], record=record, scores=(score,)),))


def keep(store: Store, outcomes: Sequence[Outcome], version: int = 0) -> None:
    rows = TraceRows({"groundedness": RubricFacts(version="1", fails_below=0.5)})
    for outcome in outcomes:
        rows.add(outcome)
    rollups.recompute(store, store.write(rows.take()).minutes, version=version)


def summed(store: Store, rubric: str = "") -> dict[tuple[str, str], list[float]]:
    """Count and total by dimension and value, over all hours."""
    read = slice_sums.read(store, START - HOUR, START + 4 * HOUR)
    return {
        (key.dimension, key.value): hours.sums[:2].sum(axis=1).tolist()
        for key, hours in read.items()
        if key.rubric == rubric
    }


def job(store: Store, *by: Dimension, **tiers: str) -> SliceJob:
    return SliceJob(store, SliceSettings(by=by or ("slice", "language", "tier"), tiers=tiers))


def test_an_hour_is_summed_by_attribute_language_and_tier(store: Store) -> None:
    answers = [
        of_tenant(1, START, value=1.0, slice="beta", locale="de-AT", tenant="acme"),
        of_tenant(2, START, value=0.2, locale="de_DE", tenant="other"),
        of_tenant(3, START, value=0.3, locale="en"),
    ]
    keep(store, answers)
    work = job(store, acme="gold", **{"*": "free"})
    assert work.run(START + HOUR) == 0  # scores may still come
    assert work.run(START + 2 * HOUR) == 1
    assert summed(store) == {
        ("", ""): [3, 0],
        ("slice", "beta"): [1, 0],
        ("language", "de"): [2, 0],
        ("language", "en"): [1, 0],
        ("tier", "gold"): [1, 0],
        ("tier", "free"): [1, 0],
    }
    found = summed(store, "groundedness")
    assert found["language", "de"] == pytest.approx([2, 1.2])
    assert found["tier", "gold"] == pytest.approx([1, 1.0])


def test_a_later_score_amends_its_hour_and_a_record_that_is_gone_leaves_it(store: Store) -> None:
    keep(store, [of_tenant(number, START, slice="beta") for number in range(3)])
    work = job(store)
    work.run(START + 2 * HOUR)
    later = (START + 2 * HOUR) * SECOND
    keep(store, [of_tenant(7, START, slice="new")], later)
    assert work.run(START + 2 * HOUR + 300) == 1
    assert summed(store)["slice", "beta"] == [3, 0]
    assert summed(store)["slice", "new"] == [1, 0]
    store.change("TRUNCATE TABLE records")
    slice_sums.recompute(store, START, ("slice",), {}, later + HOUR * SECOND)
    assert summed(store) == {}


def test_after_a_restart_the_past_is_summed_some_hours_a_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_module, "HOURS_AT_ONCE", 2)
    past = range(START - 2 * HOUR, START + 1, HOUR)
    keep(store, [of_tenant(number, start) for number, start in enumerate(past)])
    work = job(store)
    assert [work.run(START + 2 * HOUR) for _ in range(2)] == [2, 1]


def test_of_many_values_the_frequent_ones_have_sums_of_their_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slice_sums, "MOST_AN_HOUR", 2)
    tenants = ["a", "a", "a", "b", "b", "c", "d"]
    keep(store, [of_tenant(n, START, tenant=name) for n, name in enumerate(tenants)])
    slice_sums.recompute(store, START, ("tenant",), {}, NOW)
    assert summed(store) == {
        ("", ""): [7, 0],
        ("tenant", "a"): [3, 0],
        ("tenant", "b"): [2, 0],
        ("tenant", "__other__"): [2, 0],
    }


def test_of_a_busy_hour_a_part_is_drawn(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slice_sums, "MOST_ANSWERS", 10)
    keep(store, [of_tenant(n, START, slice="ab"[n % 2], value=0.5) for n in range(60)])
    slice_sums.recompute(store, START, ("slice",), {}, NOW)
    drawn = summed(store)["", ""][0]
    assert 2 <= drawn <= 25
    assert summed(store, "groundedness")["", ""] == [drawn, drawn / 2]


def test_no_dimension_sums_nothing(store: Store) -> None:
    keep(store, [of_tenant(1, START)])
    assert SliceJob(store, SliceSettings(by=())).run(START + 2 * HOUR) == 0


def test_the_topic_of_an_answer_is_that_of_its_sampled_question(store: Store) -> None:
    keep(store, [of_tenant(number, START) for number in range(3)])
    questions, _ = topics.questions_to_embed(
        store, since=START - DAY, per_day=2, vector_model="m1", limit=9
    )
    vectors = [[1.0, 0.0], [0.1, 0.9]]
    store.write(topics.question_batch(questions, vectors, "m1", NOW))
    refunds = Topic(
        topic_id="t1", name="refunds", questions=2, failing=0, rated=0, down=0, golden_cases=0,
        centroid=(1.0, 0.0),
    )  # fmt: skip
    drawn = TopicMap(
        service="helpdesk",
        environment="prod",
        built_unix_nano=NOW,
        since_unix_nano=NOW,
        vector_model="m1",
        topics=(refunds,),
        rest=replace(refunds, topic_id="", name="", centroid=()),
    )
    store.write(topics.map_batch(drawn, NOW))
    slice_sums.recompute(store, START, ("topic",), {}, NOW)
    assert summed(store) == {("", ""): [3, 0], ("topic", "t1"): [1, 0]}
