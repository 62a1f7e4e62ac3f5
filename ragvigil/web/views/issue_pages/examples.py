"""Answers that show an issue, each beside the nearest question that passes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragvigil.model.text import one_line
from ragvigil.web.views.answer_text import AnswerText, answer_text, shortened
from ragvigil.web.views.issue_evidence import NeighbourForm
from ragvigil.web.views.issue_pages.problems import MOST_ROUTE
from ragvigil.web.views.issue_pages.sentences import member_words, neighbour_words
from ragvigil.web.views.issues import IssueStoryForm, MemberForm
from ragvigil.web.views.records import RecordForm

MOST_CHARACTERS = 1200
"""Of an answer in a card; the rest is behind its link."""
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """A passing answer; `answer` is None where it is not stored any more."""

    neighbour: NeighbourForm
    words: str
    is_same_question: bool
    answer: AnswerText | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A failing answer, and the passing answer beside it, None where there is none near enough."""

    member: MemberForm
    words: str
    answer: AnswerText | None
    passing: Passing | None
    none_passes: str


def keys(story: IssueStoryForm) -> list[Key]:
    """Trace and record ids of all answers that the examples show."""
    return [
        *((member.trace_id, member.record_id) for member in story.representatives),
        *((neighbour.trace_id, neighbour.record_id) for neighbour in story.neighbours),
    ]


def examples(story: IssueStoryForm, records: Mapping[Key, RecordForm]) -> list[Example]:
    """The representatives of an issue, the most typical first."""
    beside = {(each.beside_trace_id, each.beside_record_id): each for each in story.neighbours}
    return [
        Example(
            member=member,
            words=member_words(member),
            answer=_answer(records.get(key)),
            passing=_passing(story, member, beside.get(key), records),
            none_passes=_none_passes(member),
        )
        for member in story.representatives
        for key in [(member.trace_id, member.record_id)]
    ]


def _passing(
    story: IssueStoryForm,
    member: MemberForm,
    neighbour: NeighbourForm | None,
    records: Mapping[Key, RecordForm],
) -> Passing | None:
    if neighbour is None:
        return None
    return Passing(
        neighbour=neighbour,
        words=neighbour_words(neighbour, member, story.first),
        is_same_question=neighbour.by == "same",
        answer=_answer(records.get((neighbour.trace_id, neighbour.record_id))),
    )


def _answer(record: RecordForm | None) -> AnswerText | None:
    return shortened(answer_text(record), MOST_CHARACTERS) if record else None


def _none_passes(member: MemberForm) -> str:
    if not member.question:
        return "Its question is not in its spans, so no like one can be found."
    route = f"on {one_line(member.route, MOST_ROUTE)}" if member.route else "without a route"
    return f"No answer to a like question {route} passes at the time of this issue."
