"""Questions with their vectors, and the maps of topics that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import Table, nanos, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_CHARACTERS = 2000
"""Characters of a question that are kept: more than an embedding model reads."""

Place = tuple[str, str]
"""Service and environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question of one record; `is_sampled` is false if it is kept only because it was rated."""

    minute: int
    trace_id: str
    record_id: str
    service: str
    environment: str
    question: str
    is_sampled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuestion:
    """A question with its vector and what became of its answer; `is_down` is a bad rating."""

    trace_id: str
    record_id: str
    question: str
    is_sampled: bool
    is_failing: bool
    is_rated: bool
    is_down: bool
    vector: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuestionRow:
    """A question with its vector."""

    question: Question
    vector: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TopicRow:
    """A topic with what its row repeats of the map."""

    service: str
    environment: str
    built_unix_nano: int
    since_unix_nano: int
    vector_model: str
    topic: Topic


QUESTIONS = table("questions", _QuestionRow)
TOPICS = table("topics", _TopicRow)
# Read only: rows that queries give.
QUESTION = Table("questions", Question)
ANSWERED = Table("questions", AnsweredQuestion)


def questions_to_embed(
    store: Store, *, since: int, per_day: int, vector_model: str, limit: int
) -> tuple[list[Question], int]:
    """Questions without a vector of this model, sampled ones first, and how many there are in all.

    The sample holds `per_day` records of each service and day since a time (seconds). It is chosen
    by a hash, so that it does not depend on the order of arrival; as many rated records come on
    top. Raises StoreError.
    """
    parameters = {
        "since": since,
        "per_day": per_day,
        "vector_model": vector_model,
        "limit": limit,
        "characters": MOST_CHARACTERS,
    }
    rows = store.read("questions_wanted", parameters, priority=Priority.SCAN)
    questions = [QUESTION.value({**row, "minute": row["minute_seconds"]}) for row in rows]
    return questions, int(rows[0]["waiting"]) if rows else 0


def question_batch(
    questions: Sequence[Question],
    vectors: Iterable[Sequence[float]],
    vector_model: str,
    written: int,
    *,
    replica: str = "",
    epoch: int = 0,
) -> Batch:
    """A batch that stores questions, each with its vector; `written` in nanoseconds."""
    rows = QUESTIONS.rows(
        (
            _QuestionRow(question=question, vector=vector)
            for question, vector in zip(questions, vectors, strict=True)
        ),
        vector_model=vector_model,
        written=nanos(written),
        replica=replica,
        epoch=epoch,
    )
    names = [(question.trace_id, question.record_id) for question in questions]
    return Batch(rows={QUESTIONS.name: rows}, token=token_of("questions", written, *names))


def embedded_counts(store: Store, *, since: int, vector_model: str) -> dict[Place, int]:
    """How many sampled questions have a vector of this model, by place. Raises StoreError."""
    rows = store.read(
        "questions_counted",
        {"since": since, "vector_model": vector_model},
        priority=Priority.SCAN,
    )
    return {(row["service"], row["environment"]): int(row["questions"]) for row in rows}


def answered_questions(
    store: Store, place: Place, *, since: int, until: int, vector_model: str
) -> list[AnsweredQuestion]:
    """The questions of a service from `since` until before `until` (seconds), by time.

    Raises StoreError.
    """
    service, environment = place
    where = {
        "service": service,
        "environment": environment,
        "since": since,
        "until": until,
        "vector_model": vector_model,
    }
    return ANSWERED.read(store, "questions_asked", where, priority=Priority.SCAN)


def map_batch(topic_map: TopicMap, written: int, *, replica: str = "", epoch: int = 0) -> Batch:
    """A batch that stores a map; a map that is written again replaces itself."""
    rows = TOPICS.rows(
        (
            _TopicRow(
                service=topic_map.service,
                environment=topic_map.environment,
                built_unix_nano=topic_map.built_unix_nano,
                since_unix_nano=topic_map.since_unix_nano,
                vector_model=topic_map.vector_model,
                topic=topic,
            )
            for topic in (*topic_map.topics, topic_map.rest)
        ),
        written=nanos(written),
        replica=replica,
        epoch=epoch,
    )
    return Batch(rows={TOPICS.name: rows}, token=token_of("topics", rows))


def newest(store: Store) -> list[TopicMap]:
    """The newest map of each service and environment. Raises StoreError."""
    rows = TOPICS.read(store, "topics_newest")
    places = groupby(rows, key=lambda row: (row.service, row.environment))
    return [_map(list(topics)) for _, topics in places]


def slice_names(store: Store) -> dict[tuple[str, str], str]:
    """The names of topics by the dimension and value of their slices. Raises StoreError."""
    return {
        ("topic", topic.topic_id): topic.name
        for topic_map in newest(store)
        for topic in topic_map.topics
    }


def _map(rows: Sequence[_TopicRow]) -> TopicMap:
    first = rows[0]
    return TopicMap(
        service=first.service,
        environment=first.environment,
        built_unix_nano=first.built_unix_nano,
        since_unix_nano=first.since_unix_nano,
        vector_model=first.vector_model,
        topics=tuple(row.topic for row in rows if row.topic.topic_id),
        rest=next(row.topic for row in rows if not row.topic.topic_id),
    )
