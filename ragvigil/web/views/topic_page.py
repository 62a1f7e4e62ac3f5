"""The page of topics in words: what people ask, and what of it fails. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragvigil.model.figures import counted, listed, share, spelled
from ragvigil.model.text import one_line
from ragvigil.web.views.topics import ShareForm, TopicForm, TopicMapForm, TopicsForm

MOST_NAMED = 2
MOST_TITLE, IN_HEADING = 80, 48
"""Characters of a topic's question, in the table and in the heading."""
VERDICTS = {"problem": "over 5 %", "good": "under 2 %", "cannot_tell": "cannot tell yet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRow:
    """A topic in the table; `failing` and `down` with their intervals, empty where unknown."""

    topic: TopicForm
    title: str
    failing: str
    down: str
    down_verdict: str
    covered: str


def heading(found: TopicsForm) -> str:
    """What people ask, and what of it fails, in a sentence.

    >>> heading(TopicsForm())
    'No topics yet'
    """
    every = [topic for each in found.maps for topic in each.topics]
    if not found.maps:
        return "No topics yet"
    places = f" of {counted(len(found.maps), 'service')}" if len(found.maps) > 1 else ""
    worse = sorted(
        (topic for topic in every if topic.fails_more),
        key=lambda topic: -(topic.failing.share or 0),
    )
    if not worse:
        return f"{counted(len(every), 'topic')}{places}; none fails more than the rest"
    names = listed([f"“{title(topic, IN_HEADING)}”" for topic in worse], MOST_NAMED)
    verb = "fails" if len(worse) == 1 else "fail"
    return (
        f"{counted(len(every), 'topic')}{places}; {spelled(len(worse))} {verb} more than the rest: "
        f"{names}"
    )


def title(topic: TopicForm, most: int = MOST_TITLE) -> str:
    """The question in the middle of a topic, which says more than the words that set it apart."""
    return one_line(next(iter(topic.examples), topic.name), most)


def name_of(found: TopicsForm, topic_id: str) -> str:
    """What a topic is called, empty where it is in no map."""
    every = (topic for each in found.maps for topic in each.topics)
    return next((title(topic) for topic in every if topic.topic_id == topic_id), "")


def rows(topic_map: TopicMapForm) -> list[TopicRow]:
    """The topics that fail more than the rest, then the others, each the most asked first."""
    ordered = sorted(topic_map.topics, key=lambda each: (not each.fails_more, -each.asked.count))
    return [_row(topic) for topic in ordered]


def _row(topic: TopicForm) -> TopicRow:
    return TopicRow(
        topic=topic,
        title=title(topic),
        failing=interval(topic.failing),
        down=interval(topic.thumbs_down),
        down_verdict=VERDICTS[topic.verdict] if topic.thumbs_down.of else "",
        covered=counted(topic.golden_cases, "case") if topic.golden_cases else "not covered",
    )


def interval(counted_share: ShareForm) -> str:
    """Where a share lies, and of how many; empty where nothing was counted.

    >>> interval(ShareForm(count=10, of=100, share=0.1, low=0.055, high=0.174))
    'between 6 % and 17 %, 10 of 100'
    """
    if counted_share.share is None:
        return ""
    low, high = share(counted_share.low), share(counted_share.high)
    return f"between {low} and {high}, {counted_share.count:,} of {counted_share.of:,}"


def gaps(topic_map: TopicMapForm) -> list[TopicForm]:
    """Large topics that no golden case covers, the most asked first."""
    return [topic for topic in topic_map.topics if topic.is_gap]


def waiting(found: TopicsForm) -> list[tuple[str, int]]:
    """Services without a map, and how many questions of each are there."""
    drawn = {(each.service, each.environment) for each in found.maps}
    return [
        (place_of(each.service, each.environment), each.questions)
        for each in found.collecting
        if (each.service, each.environment) not in drawn
    ]


def place_of(service: str, environment: str) -> str:
    """A service and its environment.

    >>> place_of("desk", "prod"), place_of("desk", "")
    ('desk, prod', 'desk')
    """
    return ", ".join(filter(None, (service or "(no service)", environment)))


def first(rows: Sequence[TopicRow], most: int) -> Sequence[TopicRow]:
    """The rows that are shown before all are asked for; those that fail more are among them."""
    return rows[: max(most, sum(row.topic.fails_more for row in rows))]
