"""Drafts cases from live questions: those in the middle of large topics without a case. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]


def topic_lines(maps: list[Json], each: int) -> Iterator[dict[str, Any]]:
    """The lines of a set's file: up to `each` questions of a topic, the largest topics first.

    They hold no answer: a person says what a good one must state.

    >>> gap = {"is_gap": True, "examples": ["Where is my parcel?"], "asked": {"share": 0.2}}
    >>> covered = {"is_gap": False, "examples": ["Refund?"], "asked": {"share": 0.4}}
    >>> list(topic_lines([{"service": "desk", "environment": "", "topics": [covered, gap]}], 2))
    [{'question': 'Where is my parcel?', 'tags': ['draft'], 'service': 'desk'}]
    """
    gaps = [(topic_map, topic) for topic_map in maps for topic in topic_map["topics"]]
    open_ = [pair for pair in gaps if pair[1]["is_gap"]]
    for topic_map, topic in sorted(open_, key=lambda pair: -(pair[1]["asked"]["share"] or 0)):
        for question in topic["examples"][:each]:
            place = {name: topic_map[name] for name in ("service", "environment")}
            known = {name: value for name, value in place.items() if value}
            yield {"question": question, "tags": ["draft"], **known}
