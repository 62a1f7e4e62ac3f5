"""Queues of answers for people to label, as API and page show them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from ragvigil.model.figures import counted, share, spelled
from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Layer
from ragvigil.store.scores.labels import UNSURE
from ragvigil.web.labelling.rules import Fill
from ragvigil.web.views.judges import JudgeForm

Number = float | None
MOST_CHOICES = 8
"""Words of a rubric that get a key; further ones come in by file or API."""


class ChoiceForm(BaseModel):
    """One verdict that a person may give, with its key and what it means."""

    key: str
    name: str = Field(description="`fail`, `pass`, `unsure`, or the rubric's word")
    means: str
    value: Number = Field(description="of the label; null for a word")


class GradeForm(BaseModel):
    """A grade that the judge may give to a part of the answer."""

    name: str
    means: str


class RubricForm(BaseModel):
    """What a person is asked, and the scale in words."""

    name: str
    layer: Layer | None
    asks: str = Field(description="the question that a person answers: yes passes")
    description: str
    choices: list[ChoiceForm]
    grades: list[GradeForm] = Field(description="by which a judge decides; empty without a judge")
    shows_retrieved: bool = Field(
        description="whether the chunks are those retrieved, not those in the prompt"
    )


class ChunkForm(BaseModel):
    """One chunk as the person sees it; `content` is null where the spans hide it."""

    id: str
    content: str | None


class QuotedForm(BaseModel):
    """A citation as the answer makes it."""

    target: str
    quote: str | None


class BlindAnswerForm(BaseModel):
    """An answer without any verdict on it."""

    trace_id: str
    record_id: str
    service: str
    route: str
    question: str
    answer: str
    chunks: list[ChunkForm]
    citations: list[QuotedForm]


class LabelQueueForm(BaseModel):
    """A queue, and how far the person who asks has come in it."""

    name: str
    fill: Fill
    rubric: str
    service: str
    route: str
    label: str
    days: int
    total: int = Field(description="answers in it, for this person")
    done: int = Field(description="of these, labelled by this person")


class PeopleForm(BaseModel):
    """How far people agree who labelled the same answers by one rubric."""

    rubric: str
    answers: int = Field(description="that two people or more have labelled")
    agreement: float = Field(description="share of the pairs of verdicts that are equal")
    kappa: Number
    low: Number
    high: Number


class PersonSaysForm(BaseModel):
    """What a person said of an answer by a rubric."""

    name: str
    verdict: str = Field(description="`pass`, `fail`, a value between them, or a word")
    comment: str


class DisputeForm(BaseModel):
    """An answer on which people, or people and the judge, do not agree."""

    trace_id: str
    record_id: str
    rubric: str
    question: str = Field(description="empty where it is no longer stored")
    judge: str = Field(description="the model; empty where it does not contradict anybody")
    judged: Number
    people: list[PersonSaysForm]


class DisputesForm(BaseModel):
    """Answers to discuss, the newest label first."""

    disputes: list[DisputeForm]


class LabelQueuesForm(BaseModel):
    """Every queue of the settings, in their order."""

    queues: list[LabelQueueForm]
    people: list[PeopleForm]


class NextAnswerForm(BaseModel):
    """What this person labels next; `answer` is null at the end of the queue."""

    queue: LabelQueueForm
    rubric: RubricForm
    answer: BlindAnswerForm | None


def choices(words: Sequence[str], bar: float | None) -> list[ChoiceForm]:
    """The verdicts of a rubric: its own words, or fail and pass where it has none.

    `bar` is the value under which an answer fails; the last choice is always *unsure*.

    >>> [(choice.key, choice.name, choice.value) for choice in choices((), 0.8)]
    [('1', 'fail', 0.0), ('2', 'pass', 1.0), ('3', 'unsure', None)]
    >>> [choice.means for choice in choices((), 0.8)][0]
    'No: less than 80 % of it passes'
    """
    own: list[tuple[str, str, Number]] = [(word, "", None) for word in words[:MOST_CHOICES]]
    scale = own or [("fail", _fails(bar), 0.0), ("pass", "Yes", 1.0)]
    every = [*scale, (UNSURE, "Cannot tell: next answer", None)]
    return [
        ChoiceForm(key=str(place), name=name, means=means, value=value)
        for place, (name, means, value) in enumerate(every, start=1)
    ]


def _fails(bar: float | None) -> str:
    if bar is None or bar in (0.5, 1.0):
        return "No" if bar != 1.0 else "No: a single exception fails"
    return f"No: less than {share(bar)} of it passes"


def blind(record: RagRecord, *, shows_retrieved: bool) -> BlindAnswerForm:
    """A record as it is labelled: question, chunks, answer, and no score of anybody."""
    return BlindAnswerForm(
        trace_id=record.trace_id,
        record_id=record.record_id,
        service=record.service,
        route=record.route,
        question=record.query or "",
        answer=record.answer or "",
        chunks=list(map(_chunk, record.retrieved if shows_retrieved else record.context)),
        citations=[
            QuotedForm(target=citation.target, quote=citation.quote)
            for citation in record.citations
            if citation.quote or not citation.marker  # a marker stands in the text
        ],
    )


def _chunk(chunk: Document) -> ChunkForm:
    return ChunkForm(id=chunk.chunk_id, content=chunk.content)


def plain_rubric(name: str) -> RubricForm:
    """A rubric of which nothing but its name is known."""
    return RubricForm(
        name=name,
        layer=None,
        asks=f"Does the answer pass {name}?",
        description="",
        choices=choices((), None),
        grades=[],
        shows_retrieved=False,
    )


def label_heading(judges: Sequence[JudgeForm]) -> str:
    """Answers in a sentence: is the judge right?

    >>> label_heading([])
    'No judge has judged an answer yet'
    """
    if not judges:
        return "No judge has judged an answer yet"
    states = [judge.state for judge in judges]
    retired = [judge.rubric for judge in judges if judge.state == "retired"]
    if retired:
        return f"The judge is wrong too often on {', '.join(dict.fromkeys(retired))}"
    lacking = [judge for judge in judges if judge.state == "unmeasured"]
    if not lacking:
        return f"The judge agrees with people on {_rubrics(len(states), of_all=True)}"
    more = sum(judge.missing for judge in lacking)
    needs = f"{counted(more, 'more label')} will tell" if more else "labels of both kinds will tell"
    are = "is" if len(lacking) == 1 else "are"
    return f"{_rubrics(len(lacking))} of the judge {are} not measured: {needs}"


def _rubrics(number: int, *, of_all: bool = False) -> str:
    words = f"{spelled(number)} rubric{'s' * (number != 1)}"
    return f"all {words}" if of_all and number > 1 else words
