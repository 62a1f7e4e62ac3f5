"""The API's topics: the newest maps, with intervals and verdicts."""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal

from alerts.signals.operating import LEAST_SCORES, THUMBS_DOWN_BAD, THUMBS_DOWN_GOOD
from clustering.topics import layout
from clustering.topics.job import TopicJob
from clustering.topics.map import gaps
from clustering.topics.settings import TopicSettings
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.model.wilson import wilson
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics as stored
from ragvigil.web.views.topics import (
    CollectionForm,
    ShareForm,
    TopicForm,
    TopicMapForm,
    TopicsForm,
)
from ragvigil.web.views.values import view


class Topics:
    """The API's `TopicSource`; safe from any thread."""

    def __init__(self, store: Store, job: TopicJob, settings: TopicSettings) -> None:
        self._store, self._job, self._settings = store, job, settings

    def topics(self) -> TopicsForm:
        """Every service's newest map, and the questions for the next ones. Raises StoreError."""
        return TopicsForm(
            maps=[self._map(topic_map) for topic_map in stored.newest(self._store)],
            collecting=[
                CollectionForm(service=service, environment=environment, questions=questions)
                for (service, environment), questions in self._job.collected.items()
            ],
            least_questions=self._settings.least_questions,
            why=self._job.why,
        )

    def _map(self, topic_map: TopicMap) -> TopicMapForm:
        gap_ids = {topic.topic_id for topic in gaps(topic_map, self._settings.gap_share)}
        total = topic_map.questions
        places = layout.places([topic.centroid for topic in topic_map.topics]).tolist()
        return view(
            TopicMapForm,
            topic_map,
            questions=total,
            topics=[
                _topic(
                    topic,
                    total,
                    is_gap=topic.topic_id in gap_ids,
                    fails_more=fails_more(topic, topic_map),
                    x=x,
                    y=y,
                )
                for topic, (x, y) in zip(topic_map.topics, places, strict=True)
            ],
            rest=_topic(topic_map.rest, total),
        )


def fails_more(topic: Topic, topic_map: TopicMap) -> bool:
    """Whether more of the topic's questions fail than of all other questions.

    The interval of its share lies above theirs. It is wider the more topics there are (Bonferroni),
    as the most extreme of a hundred topics is far out by chance alone.
    """
    others = topic_map.questions - topic.questions
    if not topic.questions or not others:
        return False
    failing = sum(each.failing for each in (*topic_map.topics, topic_map.rest)) - topic.failing
    z = NormalDist().inv_cdf(1 - 0.025 / len(topic_map.topics))
    return wilson(topic.failing, topic.questions, z)[0] > failing / others


def _topic(topic: Topic, total: int, **more: object) -> TopicForm:
    """A topic of a map of `total` questions."""
    return view(
        TopicForm,
        topic,
        asked=_share(topic.questions, total),
        failing=_share(topic.failing, topic.questions),
        thumbs_down=_share(topic.down, topic.rated),
        verdict=_verdict(topic),
        **more,
    )


def _share(count: int, of: int) -> ShareForm:
    low, high = wilson(count, of) if of else (None, None)
    return ShareForm(count=count, of=of, share=count / of if of else None, low=low, high=high)


def _verdict(topic: Topic) -> Literal["problem", "good", "cannot_tell"]:
    """Where the interval of the thumbs-down share lies against the two operating points.

    A few ratings prove nothing about the other users, whatever the interval.
    """
    if topic.rated < LEAST_SCORES:
        return "cannot_tell"
    low, high = wilson(topic.down, topic.rated)
    if low > THUMBS_DOWN_BAD:
        return "problem"
    return "good" if high < THUMBS_DOWN_GOOD else "cannot_tell"
