"""A map of what a service is asked: topics out of question vectors, the same ones week after week.

Clusters of the sampled questions give the centroids; from then on one rule says what lies in a
topic, be it a sampled question, a rated one, or a golden case: the nearest centroid, at a cosine of
at least `LIES_IN`. Of 6,000 questions on 77 intents it places 98 % in 81 topics of purity 0.70; of
as many on 150 intents 89 % in 106 of purity 0.72, and 9 % of those that were made to fit none.
Fewer questions show fewer topics: half as many 46 and 47, of purity 0.53 and 0.44.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clustering.grouping.tfidf import distinctive_phrases
from clustering.grouping.vectors import Vectors, centroid
from ragvigil.model.identity import identity
from ragvigil.model.topic import Topic, TopicMap
from ragvigil.store.issues.topics import AnsweredQuestion

LIES_IN = 0.5
SAME = 0.75
"""Cosine of centroids from which a topic is one of the map before: nine in ten of the questions of
such pairs, where a seventh is new, lie in the same topic by both maps."""
EXAMPLES = 5
NAMED_BY = 3

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestions:
    """Questions of one service: `vectors` (n, d) of length 1, and n of everything else.

    `is_sampled` is whether a question is in the sample of all, or only here because it was rated.
    """

    questions: Sequence[str]
    vectors: Vectors
    is_sampled: Flags
    is_failing: Flags
    is_rated: Flags
    is_down: Flags


def gather(pages: Iterable[Sequence[AnsweredQuestion]]) -> AskedQuestions:
    """Questions as the store has them, page by page, so that few vectors are numbers of Python."""
    rows, vectors = list[tuple[str, bool, bool, bool, bool]](), list[Vectors]()
    for page in pages:
        vectors += [np.array([row.vector for row in page], np.float32)] if page else []
        rows += [
            (row.question, row.is_sampled, row.is_failing, row.is_rated, row.is_down)
            for row in page
        ]
    flags = np.array([row[1:] for row in rows], bool).reshape(len(rows), 4)
    return AskedQuestions(
        questions=[row[0] for row in rows],
        vectors=np.concatenate(vectors) if vectors else np.zeros((0, 0), np.float32),
        is_sampled=flags[:, 0],
        is_failing=flags[:, 1],
        is_rated=flags[:, 2],
        is_down=flags[:, 3],
    )


def topics(
    asked: AskedQuestions, labels: NDArray[np.int32], before: Sequence[Topic], map_id: str
) -> tuple[tuple[Topic, ...], Topic]:
    """The topics, most asked first, and the rest; `labels` are the sampled questions' clusters.

    A topic that was there before keeps its id and its name; `before` are of the same vector model.
    New ids are made from that of the map.
    """
    sampled = asked.vectors[asked.is_sampled]
    found = [centroid(sampled[labels == label]) for label in np.unique(labels[labels >= 0])]
    centres = np.array(found, np.float32).reshape(len(found), asked.vectors.shape[1])
    where = topic_of(asked.vectors, centres)
    kept = _kept(centres, before)
    groups = [_questions(asked, where == number) for number in (*range(len(centres)), -1)]
    names = distinctive_phrases(groups, NAMED_BY)
    made = (
        _topic(
            asked, where == number, centre, kept.get(number) or _new(map_id, number, names[number])
        )
        for number, centre in enumerate(centres)
    )
    found_again = (topic for topic in made if topic.questions)
    ordered = sorted(found_again, key=lambda topic: (-topic.questions, topic.topic_id))
    return tuple(ordered), _counts(asked, where < 0)


def topic_of(vectors: Vectors, centres: Vectors) -> NDArray[np.intp]:
    """For each of n vectors the place of its topic among the centroids (k, d), -1 for none."""
    if not len(centres) or not len(vectors):
        return np.full(len(vectors), -1, np.intp)
    likeness = vectors @ centres.T
    return np.where(likeness.max(axis=1) >= LIES_IN, likeness.argmax(axis=1), -1)


def with_golden_cases(found: TopicMap, golden: Vectors) -> TopicMap:
    """The map with the golden cases in each topic, by the vectors (n, d) of their questions."""
    centres = np.array([topic.centroid for topic in found.topics], np.float32)
    where = topic_of(golden, centres)
    counts = np.bincount(where[where >= 0], minlength=len(found.topics))
    return replace(
        found,
        topics=tuple(
            replace(topic, golden_cases=int(count))
            for topic, count in zip(found.topics, counts, strict=True)
        ),
        rest=replace(found.rest, golden_cases=int((where < 0).sum())),
    )


def moved_to(before: Sequence[Topic], examples: Vectors) -> tuple[Topic, ...]:
    """The topics in another vector model, by the vectors (n, d) there of all their examples."""
    ends = np.cumsum([len(topic.examples) for topic in before])
    return tuple(
        replace(topic, centroid=tuple(centroid(examples[end - len(topic.examples) : end]).tolist()))
        for topic, end in zip(before, ends, strict=True)
    )


def gaps(found: TopicMap, least_share: float) -> tuple[Topic, ...]:
    """The topics with at least this share of the questions and no golden case."""
    least = least_share * found.questions
    return tuple(
        topic for topic in found.topics if topic.questions >= least and not topic.golden_cases
    )


def _kept(centres: Vectors, before: Sequence[Topic]) -> dict[int, tuple[str, str]]:
    """Id and name of centroids that go on with a topic of the map before, nearest pairs first."""
    if not before or not len(centres):
        return {}
    likeness = centres @ np.array([topic.centroid for topic in before], np.float32).T
    kept: dict[int, tuple[str, str]] = {}
    while likeness.max() >= SAME:
        new, old = np.unravel_index(likeness.argmax(), likeness.shape)
        kept[int(new)] = before[int(old)].topic_id, before[int(old)].name
        likeness[new, :] = likeness[:, old] = -1
    return kept


def _new(map_id: str, number: int, words: Sequence[str]) -> tuple[str, str]:
    """Id and name of a topic that was not there before."""
    return identity("topic", map_id, number), ", ".join(words)


def _topic(
    asked: AskedQuestions, members: Flags, centre: Vectors, called: tuple[str, str]
) -> Topic:
    rows = np.flatnonzero(members & asked.is_sampled)
    nearest = rows[np.argsort(-(asked.vectors[rows] @ centre), kind="stable")]
    examples = dict.fromkeys(asked.questions[row] for row in nearest.tolist())
    return replace(
        _counts(asked, members),
        topic_id=called[0],
        name=called[1],
        examples=tuple(examples)[:EXAMPLES],
        centroid=tuple(centre.tolist()),
    )


def _counts(asked: AskedQuestions, members: Flags) -> Topic:
    """A topic without a name."""
    sampled = members & asked.is_sampled
    return Topic(
        topic_id="",
        name="",
        questions=int(sampled.sum()),
        failing=int((sampled & asked.is_failing).sum()),
        rated=int((members & asked.is_rated).sum()),
        down=int((members & asked.is_down).sum()),
    )


def _questions(asked: AskedQuestions, members: Flags) -> list[str]:
    is_shown = members & asked.is_sampled
    return [text for text, shown in zip(asked.questions, is_shown, strict=True) if shown]
