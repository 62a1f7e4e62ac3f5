"""What the API tells of topics: the newest maps, with intervals and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from alerts.signals.operating import LEAST_SCORES, THUMBS_DOWN_BAD, THUMBS_DOWN_GOOD
from clustering.topics.job import TopicJob
from clustering.topics.map import gaps
from clustering.topics.settings import TopicSettings
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.model.wilson import wilson
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics as stored


class Topics:
    """Fills `web.topics.TopicSource`; safe from any thread."""

    def __init__(self, store: Store, job: TopicJob, settings: TopicSettings) -> None:
        self._store, self._job, self._settings = store, job, settings

    def known(self) -> Mapping[str, object]:
        """Every service's map, and what is collected for those to come. Raises StoreError."""
        return {
            "maps": [self._map(one) for one in stored.newest(self._store)],
            "collecting": [
                {"service": service, "environment": environment, "questions": questions}
                for (service, environment), questions in self._job.collected.items()
            ],
            "least_questions": self._settings.least_questions,
            "why": self._job.why,
        }

    def _map(self, one: TopicMap) -> dict[str, object]:
        lacking = {topic.topic_id for topic in gaps(one, self._settings.gap_share)}
        return {
            "service": one.service,
            "environment": one.environment,
            "built": _time(one.built_unix_nano),
            "since": _time(one.since_unix_nano),
            "questions": one.questions,
            "topics": [
                _topic(topic, one.questions) | {"is_gap": topic.topic_id in lacking}
                for topic in one.topics
            ],
            "rest": _topic(one.rest, one.questions),
        }


def _topic(one: Topic, total: int) -> dict[str, object]:
    thumbs = _share(one.down, one.rated)
    return {
        "topic_id": one.topic_id,
        "name": one.name,
        "asked": _share(one.questions, total),
        "failing": _share(one.failing, one.questions),
        "thumbs_down": thumbs,
        "verdict": _verdict(one),
        "golden_cases": one.golden_cases,
        "examples": one.examples,
    }


def _share(count: int, of: int) -> dict[str, float | None]:
    low, high = wilson(count, of) if of else (None, None)
    return {"count": count, "of": of, "share": count / of if of else None, "low": low, "high": high}


def _verdict(one: Topic) -> str:
    """Where the interval of the thumbs-down share lies against the two operating points.

    One or two who rated prove nothing of the others, whatever the interval.
    """
    if one.rated < LEAST_SCORES:
        return "cannot_tell"
    low, high = wilson(one.down, one.rated)
    if low > THUMBS_DOWN_BAD:
        return "problem"
    return "good" if high < THUMBS_DOWN_GOOD else "cannot_tell"


def _time(unix_nano: int) -> datetime:
    return datetime.fromtimestamp(unix_nano / 1e9, UTC)
