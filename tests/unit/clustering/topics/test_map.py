"""Topics of question vectors: what lies in them, which of last week's they are, what is a gap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clustering.topics.map import (
    LIES_IN,
    AskedQuestions,
    Vectors,
    gaps,
    gather,
    moved_to,
    topic_of,
    topics,
    with_golden_cases,
)
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.issues.topics import AnsweredQuestion as AskedRow

REFUNDS, PARCELS, LOGIN = np.eye(3, dtype=np.float32)
SAID = {0: "refund for my order", 1: "where is my parcel", 2: "forgot my password"}


def near(axis: int, lean: float, towards: int) -> list[float]:
    """A vector of length 1 that leans from one axis of three towards another."""
    vector = np.zeros(3, np.float32)
    vector[axis], vector[towards] = np.sqrt(1 - lean**2), lean
    return [float(number) for number in vector]


def row(vector: list[float], **fields: object) -> AskedRow:
    axis = int(np.argmax(vector))
    asked = AskedRow(
        trace_id="t",
        record_id="r",
        question=f"{SAID[axis]} {vector[axis]:.2f}",
        is_sampled=True,
        is_failing=False,
        is_rated=False,
        is_down=False,
        vector=vector,
    )
    return replace(asked, **fields)


def of_axes(*rows: AskedRow) -> tuple[AskedQuestions, np.ndarray]:
    """The questions, and clusters of the sampled ones by the axis that they lie on."""
    labels = [int(np.argmax(row.vector)) for row in rows if row.is_sampled]
    return gather([rows]), np.array(labels, np.int32)


def some(lean: float = 0.1) -> list[AskedRow]:
    """Three on refunds, two on parcels, one on logins."""
    return [
        *(row(near(0, lean * place, 1)) for place in range(3)),
        *(row(near(1, lean * place, 2)) for place in range(2)),
        row(near(2, 0.0, 0)),
    ]


def map_of(*topics_found: Topic, rest: int = 0) -> TopicMap:
    empty = Topic(topic_id="", name="", questions=rest, failing=0, rated=0, down=0)
    return TopicMap(
        service="desk",
        environment="prod",
        built_unix_nano=2,
        since_unix_nano=1,
        vector_model="m",
        topics=topics_found,
        rest=empty,
    )


def named(topic_id: str, centre: Vectors, *, questions: int = 10, golden: int = 0) -> Topic:
    return Topic(
        topic_id=topic_id,
        name=f"name of {topic_id}",
        questions=questions,
        failing=0,
        rated=0,
        down=0,
        golden_cases=golden,
        centroid=tuple(centre.tolist()),
    )


def test_topics_are_named_and_counted_most_asked_first() -> None:
    topics_found, rest = topics(*of_axes(*some()), before=(), map_id="m")
    assert [topic.questions for topic in topics_found] == [3, 2, 1]
    assert [
        set(topic.name.split(", ")) & {"refund", "parcel", "password"} for topic in topics_found
    ] == [
        {"refund"},
        {"parcel"},
        {"password"},
    ]
    assert topics_found[0].examples[0] == "refund for my order 0.99"  # the middle of three
    assert len({topic.topic_id for topic in topics_found}) == 3
    assert (rest.questions, rest.topic_id, rest.name) == (0, "", "")


def test_failures_are_counted_of_the_sample_and_ratings_of_all() -> None:
    rows = [
        row(near(0, 0.0, 1), is_failing=True),
        row(near(0, 0.1, 1)),
        row(near(0, 0.1, 2), is_sampled=False, is_rated=True, is_down=True, is_failing=True),
        row(near(0, 0.2, 2), is_sampled=False, is_rated=True),
    ]
    (topics_found,), _ = topics(*of_axes(*rows), before=(), map_id="m")
    assert (topics_found.questions, topics_found.failing) == (2, 1)
    assert (topics_found.rated, topics_found.down) == (2, 1)


def test_a_question_far_from_every_centroid_is_in_no_topic() -> None:
    questions, labels = of_axes(*some(), row([0.577, 0.577, 0.577]), row([-1.0, 0.0, 0.0]))
    labels[-1] = -1
    topics_found, rest = topics(questions, labels, before=(), map_id="m")
    assert sum(topic.questions for topic in topics_found) == 7
    assert rest.questions == 1


def test_noise_that_lies_near_a_centroid_belongs_to_its_topic() -> None:
    questions, labels = of_axes(*some())
    labels[1] = -1
    topics_found, rest = topics(questions, labels, before=(), map_id="m")
    assert [topic.questions for topic in topics_found] == [3, 2, 1]
    assert rest.questions == 0


def test_where_nothing_clusters_all_is_in_the_rest() -> None:
    questions, labels = of_axes(*some())
    topics_found, rest = topics(
        questions, np.full(len(labels), -1, np.int32), before=(), map_id="m"
    )
    assert topics_found == ()
    assert rest.questions == 6
    assert with_golden_cases(map_of(rest=6), np.eye(3, dtype=np.float32)).rest.golden_cases == 3


def test_a_topic_keeps_its_id_and_name_from_week_to_week() -> None:
    first, _ = topics(*of_axes(*some(0.1)), before=(), map_id="week 1")
    second, _ = topics(*of_axes(*reversed(some(0.2))), before=first, map_id="week 2")
    assert {topic.topic_id: topic.name for topic in second} == {
        topic.topic_id: topic.name for topic in first
    }


def test_what_is_asked_for_the_first_time_gets_an_id_of_its_own() -> None:
    before, _ = topics(*of_axes(*some()[:3]), before=(), map_id="week 1")
    topics_found, _ = topics(*of_axes(*some()), before=before, map_id="week 2")
    assert [topic.topic_id in {before[0].topic_id} for topic in topics_found] == [
        True,
        False,
        False,
    ]


def test_of_two_topics_near_one_of_last_week_the_nearer_goes_on() -> None:
    rows = [row(near(0, 0.05, 1)), row(near(0, 0.4, 2))]
    old = named("old", REFUNDS)
    topics_found, _ = topics(gather([rows]), np.array([1, 0], np.int32), before=[old], map_id="m")
    kept = {topic.topic_id: topic.examples[0] for topic in topics_found}
    assert kept["old"] == rows[0].question
    assert len(kept) == 2


def test_topics_of_services_drawn_at_one_time_have_ids_of_their_own() -> None:
    topics_found, _ = topics(*of_axes(*some()), before=(), map_id="desk")
    other, _ = topics(*of_axes(*some()), before=(), map_id="shop")
    assert not {topic.topic_id for topic in topics_found} & {topic.topic_id for topic in other}


def test_a_golden_case_covers_the_topic_that_its_question_lies_in() -> None:
    topic_map = map_of(named("refunds", REFUNDS), named("parcels", PARCELS))
    cases = np.array([near(0, 0.3, 1), near(0, 0.0, 1), near(2, 0.4, 0)], np.float32)
    with_counts = with_golden_cases(topic_map, cases)
    assert [topic.golden_cases for topic in with_counts.topics] == [2, 0]
    assert with_counts.rest.golden_cases == 1
    assert with_golden_cases(with_counts, np.zeros((0, 3), np.float32)).topics[0].golden_cases == 0


def test_a_large_topic_without_a_golden_case_is_a_gap() -> None:
    topic_map = map_of(
        named("large", REFUNDS, questions=50),
        named("covered", PARCELS, questions=40, golden=1),
        named("small", LOGIN, questions=1),
        rest=9,
    )
    assert [topic.topic_id for topic in gaps(topic_map, 0.02)] == ["large"]
    assert [topic.topic_id for topic in gaps(topic_map, 0.01)] == ["large", "small"]


def test_topics_move_to_another_model_by_their_examples() -> None:
    old = [
        replace(named("a", REFUNDS), examples=("x", "y")),
        replace(named("b", PARCELS), examples=("z",)),
    ]
    moved = moved_to(old, np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1]], np.float32))
    assert [(topic.topic_id, topic.centroid) for topic in moved] == [
        ("a", (0.0, 1.0, 0.0)),
        ("b", (0.0, 0.0, 1.0)),
    ]


@given(st.lists(st.integers(0, 5), max_size=20))
def test_what_lies_in_a_topic_does_not_depend_on_what_else_is_asked(order: list[int]) -> None:
    vectors = np.array([row.vector for row in some()] + [[-1, 0, 0]], np.float32)
    centres = np.array([REFUNDS, PARCELS], np.float32)
    whole = topic_of(vectors, centres)
    assert topic_of(vectors[order], centres).tolist() == whole[order].tolist()
    assert all((vectors[row] @ centres[whole[row]] >= LIES_IN) for row in order if whole[row] >= 0)
