"""Questions and topic maps in the embedded store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Score
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics
from ragvigil.store.records import feedback
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.records.traces import TraceRows
from tests.outcomes import NOW, SECOND, outcome_of

DAY = 86_400
TODAY = NOW // SECOND // DAY * DAY
HELPDESK = ("helpdesk", "prod")


def about(number: int, question: str | None, **fields: object) -> Outcome:
    """A trace with one record that asks this."""
    made = outcome_of(number, value=None, time_unix_nano=TODAY * SECOND)
    scored = made.records[0]
    asked = replace(scored.record, query=question, **fields)
    return replace(made, records=(replace(scored, record=asked),))


def write(store: Store, outcomes: Sequence[Outcome]) -> None:
    rows = TraceRows({"citation_validity": RubricFacts(version="1", fails_below=0.5)})
    for outcome in outcomes:
        rows.add(outcome)
    store.write(rows.take())


def rate(store: Store, number: int, value: float) -> None:
    said = FeedbackEvent(
        feedback_id=f"{number} {value}",
        kind="thumbs",
        value=value,
        time_unix_nano=NOW,
        trace_id=f"{number:032x}",
    )
    store.write(feedback.batch([said], NOW))


def wanted(store: Store, *, per_day: int = 2000, limit: int = 100) -> list[topics.Question]:
    return topics.questions_to_embed(
        store, since=TODAY, per_day=per_day, vector_model="m1", limit=limit
    )[0]


def embed(store: Store, questions: Sequence[topics.Question], model: str = "m1") -> None:
    vectors = [[float(len(question.question)), 0.5] for question in questions]
    store.write(topics.question_batch(questions, vectors, model, NOW))


def asked(store: Store, model: str = "m1") -> list[topics.AnsweredQuestion]:
    return topics.answered_questions(
        store, HELPDESK, since=TODAY, until=TODAY + DAY, vector_model=model
    )


def test_of_a_day_the_same_records_are_chosen_whatever_the_order_of_arrival(store: Store) -> None:
    write(store, [about(number, f"question {number}") for number in range(30)])
    early = {question.trace_id for question in wanted(store, per_day=10)}
    write(store, [about(number, f"question {number}") for number in range(30, 60)])
    late = {question.trace_id for question in wanted(store, per_day=10)}
    assert len(early) == len(late) == 10
    assert {trace_id for trace_id in late if int(trace_id, 16) < 30} <= early
    store.change("TRUNCATE TABLE records")
    write(store, [about(number, f"question {number}") for number in reversed(range(60))])
    assert {question.trace_id for question in wanted(store, per_day=10)} == late


def test_what_has_a_vector_of_the_model_is_wanted_no_more(store: Store) -> None:
    write(store, [about(number, f"question {number}") for number in range(5)])
    found, waiting = topics.questions_to_embed(
        store, since=TODAY, per_day=2000, vector_model="m1", limit=2
    )
    assert (len(found), waiting) == (2, 5)
    embed(store, found)
    rest = wanted(store)
    assert len(rest) == 3
    assert not {question.trace_id for question in found} & {question.trace_id for question in rest}
    others = topics.questions_to_embed(
        store, since=TODAY, per_day=2000, vector_model="m2", limit=9
    )[0]
    assert len(others) == 5
    assert topics.embedded_counts(store, since=TODAY, vector_model="m1") == {HELPDESK: 2}
    assert topics.embedded_counts(store, since=TODAY, vector_model="m2") == {}


def test_a_record_without_a_question_is_not_chosen(store: Store) -> None:
    write(store, [about(1, None), about(2, ""), about(3, "How long?")])
    assert [question.question for question in wanted(store)] == ["How long?"]


def test_each_service_and_environment_has_a_sample_of_its_own(store: Store) -> None:
    write(store, [about(number, "long?") for number in range(4)])
    write(store, [about(number, "long?", environment="test") for number in range(4, 8)])
    found = [(question.environment, question.is_sampled) for question in wanted(store, per_day=2)]
    assert sorted(found) == [("prod", True)] * 2 + [("test", True)] * 2


def test_a_rated_record_is_chosen_beside_the_sample(store: Store) -> None:
    write(store, [about(number, f"question {number}") for number in range(20)])
    sample = {question.trace_id for question in wanted(store, per_day=3)}
    outside = next(number for number in range(20) if f"{number:032x}" not in sample)
    inside = int(min(sample), 16)
    rate(store, outside, 0.0)
    rate(store, inside, 1.0)
    found = {question.trace_id: question.is_sampled for question in wanted(store, per_day=3)}
    assert found == dict.fromkeys(sample, True) | {f"{outside:032x}": False}


def test_what_became_of_an_answer_is_told_beside_its_question(store: Store) -> None:
    def scored(number: int, value: float, probability: float) -> Outcome:
        made = about(number, f"question {number}")
        scored = made.records[0]
        score = Score(
            rubric="citation_validity",
            value=value,
            scorer="citations",
            version="1",
            inclusion_probability=probability,
        )
        return replace(made, records=(replace(scored, scores=(score,)),))

    write(store, [scored(1, 0.2, 1.0), scored(2, 0.9, 1.0), scored(3, 0.2, 0.07)])
    write(store, [about(4, "question 4", error="boom"), about(5, "question 5")])
    for number, value in ((2, 1.0), (5, 0.0)):
        rate(store, number, value)
    embed(store, wanted(store))
    found = {
        question.question: (question.is_failing, question.is_rated, question.is_down)
        for question in asked(store)
    }
    assert found == {
        "question 1": (True, False, False),
        "question 2": (False, True, False),
        "question 3": (False, False, False),  # seen by a sample only: its share says nothing
        "question 4": (True, False, False),
        "question 5": (True, True, True),
    }
    assert all(list(question.vector) == [10.0, 0.5] for question in asked(store))
    assert asked(store, "m2") == []


def topic(topic_id: str, questions: int) -> Topic:
    return Topic(
        topic_id=topic_id,
        name=topic_id and "refund, days",
        questions=questions,
        failing=2,
        rated=3,
        down=1,
        examples=("How long?",) if topic_id else (),
        centroid=(1.0, 0.0) if topic_id else (),
    )


def drawn(built: int, *topics_: Topic) -> TopicMap:
    return TopicMap(
        service="helpdesk",
        environment="prod",
        built_unix_nano=built,
        since_unix_nano=NOW - 7 * DAY * SECOND,
        vector_model="m1",
        topics=topics_,
        rest=topic("", 4),
    )


def test_the_newest_map_is_read_back_most_asked_first(store: Store) -> None:
    old, new = drawn(NOW - SECOND, topic("a", 9)), drawn(NOW, topic("a", 8), topic("b", 5))
    for topic_map in (new, old):
        store.write(topics.map_batch(topic_map, NOW))
    assert topics.newest(store) == [new]
    assert new.questions == 17


def test_a_map_that_is_written_again_replaces_itself(store: Store) -> None:
    first = drawn(NOW, topic("a", 8))
    again = replace(first, topics=(replace(first.topics[0], golden_cases=2),))
    store.write(topics.map_batch(first, NOW))
    store.write(topics.map_batch(again, NOW + SECOND))
    assert topics.newest(store) == [again]
