"""Estimates the cost of judging a record of a given size, from the prompts it would really need.

The prompts are those of a made-up record of that size. Tokens are estimates: CHARACTERS_A_TOKEN
characters of text a token, and VERDICT_TOKENS of output a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ragvigil.llm.outcome import Usage
from ragvigil.model.record import Citation, Document, RagRecord
from ragvigil.model.score import Score
from scorers.judge.asker import Family
from scorers.judge.question import ask_about, judge_table_of
from scorers.judge_table import OnlyWhen
from scorers.rubric import Rubric

CHARACTERS_A_TOKEN = 4
FORM_TOKENS = 400
"""Tokens of the reply's schema, which is sent with every call."""
VERDICT_TOKENS, FRAME_TOKENS = 60, 40
"""Output tokens of a verdict, and of the rest of a reply."""
NUGGETS = 8
"""Nuggets (facts that an answer should have) assumed where the model must find them itself."""
SENTENCE = "This sentence stands for what an answer or a passage of that length says about it. "
MOST_CHUNKS = 200
"""Most chunks, and most citations, of the made-up record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The mean size of a record.

    `chunks` (of the context), `retrieved` and `citations` are counts, the others characters.
    """

    question: float
    answer: float
    chunk: float
    chunks: float
    retrieved: float
    citations: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Calls and tokens of one rubric for one record; without calls, `reason` says why."""

    rubric: str
    calls: int
    usage: Usage
    reason: str = ""


def estimate(families: Iterable[Family], sizes: Sizes, most_characters: int) -> list[Cost]:
    """The cost of each judged rubric for one record of these sizes."""
    record = _record(sizes)
    return [_cost(family, record, most_characters) for family in families]


def _cost(family: Family, record: RagRecord, most_characters: int) -> Cost:
    rubric = _asked_of_answers(family.asked)
    questions = ask_about(record, rubric, delimiter="0" * 16, most_characters=most_characters)
    if isinstance(questions, Score):
        return Cost(rubric=rubric.name, calls=0, usage=Usage(), reason=questions.explanation)
    prompt_tokens = sum(
        math.ceil(len(question.prompt) / CHARACTERS_A_TOKEN) + FORM_TOKENS for question in questions
    )
    verdicts = sum(len(question.items) or NUGGETS for question in questions)
    return Cost(
        rubric=rubric.name,
        calls=len(questions),
        usage=Usage(
            input_tokens=prompt_tokens,
            output_tokens=verdicts * VERDICT_TOKENS + len(questions) * FRAME_TOKENS,
        ),
    )


def _asked_of_answers(rubric: Rubric) -> Rubric:
    """The rubric without the question whether an answer refused: the made-up one does not.

    What answers that takes 0.4 s of CPU to load.
    """
    table = judge_table_of(rubric)
    if table.only_when is not OnlyWhen.ANSWERED:
        return rubric
    return replace(rubric, judge=replace(table, only_when=None))


def _record(sizes: Sizes) -> RagRecord:
    retrieved = tuple(_chunk(place, sizes.chunk) for place in range(_count(sizes.retrieved)))
    answer = _text(sizes.answer)
    # The sentences are cited in turn; `begins` gives the start of a sentence by its end.
    ends = [end for end in range(len(answer)) if answer[end] == "."] or [len(answer)]
    cited = [ends[place % len(ends)] for place in range(_count(sizes.citations))]
    begins = dict(zip(ends, [0, *(end + 1 for end in ends)], strict=False))
    return RagRecord(
        record_id="average",
        trace_id="average",
        query=_text(sizes.question),
        answer=answer,
        retrieved=retrieved,
        reranked=retrieved,
        context=tuple(_chunk(place, sizes.chunk) for place in range(_count(sizes.chunks))),
        citations=tuple(
            Citation(
                target=f"chunk-{place}", chunk_id="chunk-0", claim_start=begins[at], claim_end=at
            )
            for place, at in enumerate(cited)
        ),
    )


def _chunk(place: int, characters: float) -> Document:
    return Document(chunk_id=f"chunk-{place}", content=_text(characters), rank=place)


def _count(mean: float) -> int:
    return min(MOST_CHUNKS, math.ceil(mean))


def _text(characters: float) -> str:
    count = math.ceil(characters)
    return (SENTENCE * (count // len(SENTENCE) + 1))[:count]
