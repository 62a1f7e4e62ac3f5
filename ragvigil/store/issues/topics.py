"""Questions with their vectors, and the maps of topics that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_CHARACTERS = 2000
"""What is kept of a question: more than an embedding model reads."""
SAME_NAME = ("topic_id", "name", "questions", "failing", "rated", "down", "golden_cases")

Place = tuple[str, str]
"""Service and environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was asked in one record; in the hash sample, or only because a user rated it."""

    minute: int
    trace_id: str
    record_id: str
    service: str
    environment: str
    question: str
    is_sampled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its vector and what became of its answer; `is_down`: badly rated."""

    trace_id: str
    record_id: str
    question: str
    is_sampled: bool
    is_failing: bool
    is_rated: bool
    is_down: bool
    vector: Sequence[float]


def wanted(
    store: Store, *, since: int, per_day: int, vector_model: str, limit: int
) -> tuple[list[Question], int]:
    """Questions without a vector of this model, the sample's first, and how many there are in all.

    The sample is, of each service and day since then (seconds), `per_day` records whatever the
    order of arrival; as many rated ones come to it. Raises StoreError.
    """
    asked = {
        "since": since,
        "per_day": per_day,
        "vector_model": vector_model,
        "limit": limit,
        "characters": MOST_CHARACTERS,
    }
    rows = store.read("questions_wanted", asked, priority=Priority.SCAN)
    return [_question(row) for row in rows], int(rows[0]["waiting"]) if rows else 0


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
    rows = [
        (
            one.minute,
            one.trace_id,
            one.record_id,
            one.service,
            one.environment,
            one.question,
            int(one.is_sampled),
            vector,
            vector_model,
            nanos(written),
            replica,
            epoch,
        )
        for one, vector in zip(questions, vectors, strict=True)
    ]
    names = [(row[1], row[2]) for row in rows]
    return Batch(rows={"questions": rows}, token=token_of("questions", written, *names))


def counted(store: Store, *, since: int, vector_model: str) -> dict[Place, int]:
    """How many questions of the sample have a vector of this model. Raises StoreError."""
    found = store.read(
        "questions_counted",
        {"since": since, "vector_model": vector_model},
        priority=Priority.SCAN,
    )
    return {(row["service"], row["environment"]): int(row["questions"]) for row in found}


def asked(store: Store, place: Place, *, since: int, until: int, vector_model: str) -> list[Asked]:
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
    rows = store.read("questions_asked", where, priority=Priority.SCAN)
    return [_asked(row) for row in rows]


def map_batch(one: TopicMap, written: int, *, replica: str = "", epoch: int = 0) -> Batch:
    """A batch that stores a map; written again later it replaces itself."""
    rows = [
        (
            one.service,
            one.environment,
            nanos(one.built_unix_nano),
            nanos(one.since_unix_nano),
            *(getattr(topic, name) for name in SAME_NAME),
            list(topic.examples),
            list(topic.centroid),
            one.vector_model,
            nanos(written),
            replica,
            epoch,
        )
        for topic in (*one.topics, one.rest)
    ]
    return Batch(rows={"topics": rows}, token=token_of("topics", *rows))


def newest(store: Store) -> list[TopicMap]:
    """The newest map of each service and environment. Raises StoreError."""
    rows = store.read("topics_newest", priority=Priority.PAGE)
    places = groupby(rows, key=lambda row: (row["service"], row["environment"]))
    return [_map(place, list(found)) for place, found in places]


def _question(row: Mapping[str, Any]) -> Question:
    named = ("trace_id", "record_id", "service", "environment", "question")
    return Question(
        minute=int(row["minute_seconds"]),
        is_sampled=bool(row["is_sampled"]),
        **{name: row[name] for name in named},
    )


def _asked(row: Mapping[str, Any]) -> Asked:
    return Asked(
        trace_id=row["trace_id"],
        record_id=row["record_id"],
        question=row["question"],
        is_sampled=bool(row["is_sampled"]),
        is_failing=bool(row["is_failing"]),
        is_rated=bool(row["is_rated"]),
        is_down=bool(row["is_down"]),
        vector=row["vector"],
    )


def _map(place: Place, rows: Sequence[Mapping[str, Any]]) -> TopicMap:
    found = [_topic(row) for row in rows]
    return TopicMap(
        service=place[0],
        environment=place[1],
        built_unix_nano=rows[0]["built_nanos"],
        since_unix_nano=rows[0]["since_nanos"],
        vector_model=rows[0]["vector_model"],
        topics=tuple(one for one in found if one.topic_id),
        rest=next(one for one in found if not one.topic_id),
    )


def _topic(row: Mapping[str, Any]) -> Topic:
    return Topic(
        examples=tuple(row["examples"]),
        centroid=tuple(row["centroid"]),
        **{name: row[name] for name in SAME_NAME},
    )
