"""Topics: what a service is asked about, by a sample of its questions."""

from __future__ import annotations

from dataclasses import dataclass

LIES_IN = 0.5
"""Cosine to the nearest centroid from which a question lies in its topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A group of similar questions.

    `questions` counts those of the sample; `failing` of them failed, by an error, a scorer that
    sees every answer, or a bad rating. `rated` counts all that users rated, in the sample or not,
    `down` of them badly.
    `centroid` is the mean of the questions' vectors, of length 1. `examples` are the questions
    nearest to it.
    """

    topic_id: str
    name: str
    questions: int
    failing: int
    rated: int
    down: int
    golden_cases: int = 0
    examples: tuple[str, ...] = ()
    centroid: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMap:
    """The topics of one service, most asked first, over the time from `since` to `built`.

    `rest` counts the questions in no topic; it has no id, no name and no centroid.
    """

    service: str
    environment: str
    built_unix_nano: int
    since_unix_nano: int
    vector_model: str
    topics: tuple[Topic, ...]
    rest: Topic

    @property
    def place(self) -> tuple[str, str]:
        """Service and environment."""
        return (self.service, self.environment)

    @property
    def questions(self) -> int:
        """How many questions of the sample it is made of."""
        return sum(topic.questions for topic in (*self.topics, self.rest))
