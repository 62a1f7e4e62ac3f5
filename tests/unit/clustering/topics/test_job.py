"""Topics from stored records to maps, turn after turn, on the embedded store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from prometheus_client import REGISTRY

from clustering.grouping.cluster import Clustering
from clustering.topics import job as topic_job
from clustering.topics.job import DAY, RETRY_SECONDS, WEEK, TopicJob
from clustering.topics.settings import TopicSettings
from ragvigil.app.golden.questions import golden_questions
from ragvigil.app.settings import Settings
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.model.topic import TopicMap
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics
from tests.outcomes import NOW, SECOND
from tests.unit.ragvigil.store.issues.test_topics import HELPDESK, TODAY, about, rate, write

WORDS = ("refund", "parcel", "password", "invoice")
SETTINGS = TopicSettings(least_questions=50, gap_share=0.05)
Vectors = NDArray[np.float32]


@dataclass(kw_only=True)
class Words:
    """A model of four words; another version has them in another order."""

    embedding_version: str = ""
    next_version: str = "1"
    is_there: bool = True
    time: int = 1000
    """How often `has_time` still says yes."""
    embedded: int = 0

    def has_time(self) -> bool:
        self.time -= 1
        return self.time >= 0

    def embed(self, texts: Sequence[str]) -> Vectors | Unavailable:
        if not self.is_there:
            return Unavailable(reason=Reason.NO_MODEL, detail="no model here")
        self.embedding_version = self.next_version
        self.embedded += len(texts)
        words = WORDS if self.next_version == "1" else WORDS[::-1]
        rows = [[float(word in text) for word in words] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), len(WORDS))


def by_word(vectors: Vectors) -> Clustering:
    """Clusters questions by their word."""
    labels = np.where(vectors.any(axis=1), vectors.argmax(axis=1), -1).astype(np.int32)
    ones = np.ones(len(vectors), np.float32)
    return Clustering(labels=labels, strengths=ones, memberships=np.eye(len(WORDS))[labels])


@dataclass(kw_only=True)
class Job:
    """The job with its model, golden set and clock, as a test sets them."""

    store: Store
    settings: TopicSettings = SETTINGS
    model: Words = field(default_factory=Words)
    golden: Sequence[str] | None = ()
    now: float = NOW / SECOND
    lost: Unavailable | None = None
    clustered: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.job = TopicJob(
            self.store,
            self.model,  # type: ignore[arg-type]
            self.settings,
            self.cluster,
            lambda: self.golden,
            lambda: self.now,
        )

    def cluster(self, vectors: Vectors) -> Clustering | Unavailable:
        self.clustered.append(len(vectors))
        return self.lost or by_word(vectors)

    def run(self) -> TopicMap | None:
        self.job.run()
        return next(iter(topics.newest(self.store)), None)


def ask(store: Store, numbers: range) -> None:
    """Questions of which half are on refunds, a quarter each on parcels and passwords."""
    words = ("refund", "parcel", "refund", "password")
    write(store, [about(number, f"about my {words[number % 4]} no {number}") for number in numbers])


def counts(topic_map: TopicMap | None) -> list[tuple[str, int]]:
    assert topic_map is not None
    return [
        (next(w for w in WORDS if w in topic.name), topic.questions) for topic in topic_map.topics
    ]


def gauge(name: str) -> float | None:
    service, environment = HELPDESK
    return REGISTRY.get_sample_value(name, {"service": service, "environment": environment})


def test_the_first_map_comes_with_enough_questions(store: Store) -> None:
    job = Job(store=store)
    ask(store, range(40))
    assert job.run() is None
    assert job.job.collected == {HELPDESK: 40}
    ask(store, range(40, 80))
    topic_map = job.run()
    assert counts(topic_map)[0] == ("refund", 40)
    assert dict(counts(topic_map)) == {"refund": 40, "parcel": 20, "password": 20}
    assert topic_map is not None
    assert topic_map.built_unix_nano // SECOND == NOW // SECOND
    assert gauge("ragvigil_topics") == 3
    assert gauge("ragvigil_topic_gaps") == 3


def test_a_map_is_drawn_again_when_questions_double_and_then_weekly(store: Store) -> None:
    job = Job(store=store)
    ask(store, range(60))
    first = job.run()
    ask(store, range(60, 100))
    job.run()
    assert job.clustered == [60]
    ask(store, range(100, 120))
    second = job.run()
    assert job.clustered == [60, 120]
    assert first is not None
    assert second is not None
    assert {topic.topic_id for topic in second.topics} == {topic.topic_id for topic in first.topics}
    job.now += DAY
    job.run()
    assert job.clustered == [60, 120]
    job.now += WEEK - DAY + 1  # a time in seconds is rounded by a quarter of a microsecond
    job.run()
    assert job.clustered == [60, 120, 120]


def test_a_new_life_goes_on_from_the_store(store: Store) -> None:
    ask(store, range(60))
    first = Job(store=store).run()
    again = Job(store=store)
    ask(store, range(60, 64))
    assert again.run() == first
    assert again.model.embedded == 64 + 4  # which model it is was learnt by a first batch
    assert again.clustered == []


def test_no_question_is_embedded_without_time_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_job, "AT_ONCE", 16)
    job = Job(store=store, model=Words(time=3, embedding_version="1"))
    ask(store, range(60))
    assert job.run() is None
    assert job.job.collected == {HELPDESK: 48}
    assert REGISTRY.get_sample_value("ragvigil_topic_questions_waiting") == 12
    job.model.time = 9
    assert counts(job.run())[0] == ("refund", 30)
    assert REGISTRY.get_sample_value("ragvigil_topic_questions_waiting") == 0


def test_without_a_model_questions_wait_and_it_is_said_why(store: Store) -> None:
    job = Job(store=store, model=Words(is_there=False))
    ask(store, range(60))
    assert job.run() is None
    assert job.job.why == "no model here"
    job.model.is_there = True
    assert counts(job.run())[0] == ("refund", 30)
    assert job.job.why == ""


def test_after_a_change_of_the_model_topics_keep_their_ids(store: Store) -> None:
    job = Job(store=store)
    ask(store, range(60))
    first = job.run()
    job.model.next_version = "2"
    ask(store, range(60, 61))  # with the next question the change is known
    job.now += 600
    second = job.run()
    assert first is not None
    assert second is not None
    assert second.vector_model == "2"
    assert [topic.centroid for topic in second.topics] != [topic.centroid for topic in first.topics]
    assert {topic.topic_id: topic.name for topic in second.topics} == {
        topic.topic_id: topic.name for topic in first.topics
    }


def test_golden_cases_cover_topics_as_soon_as_they_are_there(store: Store) -> None:
    job = Job(store=store)
    ask(store, range(60))
    job.run()
    job.golden = ["When comes my refund?", "An invoice, please"]
    topic_map = job.run()
    assert topic_map is not None
    assert {topic.name.split(", ")[0]: topic.golden_cases for topic in topic_map.topics} == {
        "refund": 1,
        "parcel": 0,
        "password": 0,
    }
    assert topic_map.rest.golden_cases == 1
    assert gauge("ragvigil_topic_gaps") == 2
    assert job.clustered == [60]


def test_a_golden_set_that_cannot_be_read_changes_nothing(store: Store) -> None:
    job = Job(store=store, golden=["When comes my refund?"])
    ask(store, range(60))
    before = job.run()
    job.golden = None
    assert job.run() == before
    assert gauge("ragvigil_topic_gaps") == 2


def test_what_could_not_be_clustered_is_counted_and_tried_again_later(store: Store) -> None:
    def failures() -> float:
        name, labels = "ragvigil_topic_map_failures_total", {"reason": "timed_out"}
        return REGISTRY.get_sample_value(name, labels) or 0.0

    lost = Unavailable(reason=Reason.TIMED_OUT, detail="too slow")
    job, before = Job(store=store, lost=lost), failures()
    ask(store, range(60))
    assert job.run() is None
    assert failures() == before + 1
    job.lost = None
    assert job.run() is None
    job.now += RETRY_SECONDS
    assert counts(job.run())[0] == ("refund", 30)


def test_ratings_outside_the_sample_count_for_their_topic(store: Store) -> None:
    job = Job(store=store, settings=SETTINGS.model_copy(update={"questions_per_day": 50}))
    ask(store, range(200))
    for number in range(0, 200, 4):
        rate(store, number, float(number >= 100))
    topic_map = job.run()
    assert topic_map is not None
    assert topic_map.questions == 50
    (refunds,) = (topic for topic in topic_map.topics if "refund" in topic.name)
    assert (refunds.rated, refunds.down) == (50, 25)


def test_topics_can_be_switched_off(store: Store) -> None:
    job = Job(store=store, settings=TopicSettings(questions_per_day=0))
    ask(store, range(60))
    assert job.run() is None
    assert job.model.embedded == 0
    assert "questions_per_day is 0" in job.job.why


def test_old_questions_are_not_in_a_map(store: Store) -> None:
    job = Job(store=store)
    ask(store, range(60))
    job.now = TODAY + 9 * DAY
    assert job.run() is None
    assert job.model.embedded == 0


def test_the_golden_set_is_read_where_the_settings_say(store: Store, tmp_path: Path) -> None:
    golden = tmp_path / "golden.jsonl"
    settings = Settings.model_validate(
        {
            "data_dir": tmp_path,
            "golden": {"repository": tmp_path},
            "clustering": {"topics": {"least_questions": 50}},
        }
    )
    job = TopicJob(
        store,
        Words(),  # type: ignore[arg-type]
        settings.clustering.topics,
        by_word,
        golden_questions(settings),
        lambda: NOW / SECOND,
    )
    ask(store, range(60))
    job.run()  # there is no such file yet
    assert [topic.golden_cases for topic in topics.newest(store)[0].topics] == [0, 0, 0]
    golden.write_text('{"question": "a refund"}\n')
    job.run()
    covered = topics.newest(store)
    assert sorted(topic.golden_cases for topic in covered[0].topics) == [0, 0, 1]
    golden.write_text("{")
    job.run()
    assert topics.newest(store) == covered
