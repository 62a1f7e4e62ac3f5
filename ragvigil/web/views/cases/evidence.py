"""What stands beside a case: its gold chunks, what failed, what a proposal changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragvigil.model.score import Layer
from ragvigil.web.views.cases.words import PARTS
from ragvigil.web.views.golden import CaseForm, Line
from ragvigil.web.views.records import RecordForm


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldChunk:
    """A chunk that answers the question; no text where none is stored."""

    chunk_id: str
    text: str | None
    was_found: bool
    """Whether the answer's retrieval returned it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A rubric that the answer failed, and why."""

    rubric: str
    layer: Layer
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A part of a case as it is signed, and as it is proposed now."""

    name: str
    signed: str
    proposed: str


def gold_chunks(case: CaseForm, source: RecordForm | None) -> list[GoldChunk]:
    """The gold chunks with the texts that the source's spans or the case itself hold."""
    known = (
        {
            chunk.id: chunk.content
            for chunk in (*source.context, *source.reranked, *source.retrieved)
        }
        if source
        else {}
    )
    by_id = [
        GoldChunk(chunk_id=chunk_id, text=known.get(chunk_id), was_found=chunk_id in known)
        for chunk_id in case.gold_chunk_ids
    ]
    own = [GoldChunk(chunk_id="", text=text, was_found=False) for text in case.gold_texts]
    return [*by_id, *own]


def failures(source: RecordForm | None) -> list[Failure]:
    """What the source answer failed, one a rubric."""
    scores = source.scores if source else ()
    failed = {score.rubric: score for score in scores if score.fails_answer}
    return [
        Failure(rubric=score.rubric, layer=score.layer, why=score.explanation or score.label)
        for score in failed.values()
    ]


def signed_line(case: CaseForm, lines: Sequence[Line]) -> Line | None:
    """The signed version of a case in the set's file, None where it has none."""
    return next((line for line in lines if line.get("case_id") == case.case_id), None)


def differences(case: CaseForm, line: Line) -> list[Difference]:
    """What a proposal changes of the signed version, part by part."""
    now = case.model_dump(mode="json")
    pairs = ((name, _words(line.get(key)), _words(now[key])) for key, name in PARTS.items())
    return [
        Difference(name=name, signed=signed, proposed=proposed)
        for name, signed, proposed in pairs
        if signed != proposed
    ]


def _words(value: Any) -> str:
    """A part of a case as text; a list has a line for each item."""
    if isinstance(value, list):
        return "\n".join(map(_words, value))
    if isinstance(value, Mapping):
        okay = value.get("importance") == "okay"
        return f"{value.get('fact', '')}{' (okay)' if okay else ''}"
    return str(value or "")
