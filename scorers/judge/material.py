"""Extracts from a record what a rubric asks about: passages, and items that each get a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragvigil.model.record import Citation, Document, RagRecord
from scorers.golden import Fact
from scorers.judge_table import About, JudgeTable, PromptField
from scorers.text.normalise import words
from scorers.text.sentences import sentences

BEFORE_STOP = re.compile(r" (?=[.,;:])")
"""The space that a removed marker leaves before a full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What is known to be true: an answer, facts that it must state, and trusted texts."""

    answer: str = ""
    facts: tuple[Fact, ...] = ()
    sources: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.answer or self.facts or self.sources)

    @property
    def texts(self) -> tuple[str, ...]:
        """Answer, facts and trusted texts, as one list of texts."""
        return tuple(
            filter(None, (self.answer, *(fact.text for fact in self.facts), *self.sources))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk or a piece of a long chunk, under the name that the model sees."""

    name: str
    chunk_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that gets one verdict; `passage` and `chunk_id` name the chunk it is about."""

    name: str
    text: str = ""
    passage: str = ""
    chunk_id: str = ""
    is_vital: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything that a rubric asks of a record, before it is split into questions."""

    items: tuple[Item, ...]
    passages: tuple[Passage, ...]


def material(record: RagRecord, table: JudgeTable, reference: Reference) -> Material:
    """The items and passages of a record; without known facts, nuggets have no items."""
    if table.about is About.CITATIONS:
        return _citations(record)
    passages = _passages(documents(record, table))
    if table.about is About.CHUNKS:
        return Material(items=tuple(map(_of_passage, passages)), passages=passages)
    if table.about is About.CLAIMS:
        return Material(items=tuple(_claims(record)), passages=passages)
    if table.about is About.NUGGETS:
        facts = enumerate(reference.facts, 1)
        items = [Item(name=f"n{n}", text=fact.text, is_vital=fact.is_vital) for n, fact in facts]
        return Material(items=tuple(items), passages=() if items else passages)
    return Material(items=(Item(name="answer"),), passages=passages)


def documents(record: RagRecord, table: JudgeTable) -> tuple[Document, ...]:
    """The chunks that a rubric shows."""
    if PromptField.CONTEXT in table.shows:
        return record.context
    return record.retrieved if PromptField.RETRIEVED in table.shows else ()


def _passages(chunks: Sequence[Document]) -> tuple[Passage, ...]:
    """The distinct chunks that have a text, numbered from 1."""
    distinct = dict.fromkeys(
        (chunk.chunk_id, chunk.content) for chunk in chunks if _has_text(chunk)
    )
    return tuple(
        Passage(name=f"c{number}", chunk_id=chunk_id, text=text or "")
        for number, (chunk_id, text) in enumerate(distinct, 1)
    )


def _has_text(chunk: Document) -> bool:
    return bool(chunk.content and chunk.content.strip())


def _of_passage(passage: Passage) -> Item:
    return Item(name=passage.name, passage=passage.name, chunk_id=passage.chunk_id)


def _claims(record: RagRecord) -> Iterator[Item]:
    """The sentences of the answer, without citation markers.

    Code splits the answer, not the judge: the same answer always yields the same questions, and a
    hostile answer cannot have its worst claim left out (ADR 10).
    """
    number = 0
    for sentence in sentences(record.answer or ""):
        text = _bare(sentence.text, record.citations)
        if words(text):
            number += 1
            yield Item(name=f"s{number}", text=text)


def _citations(record: RagRecord) -> Material:
    """Each cited sentence with each chunk that it cites.

    Leaves out citations of unknown chunks: `citation_validity` scores those.
    """
    every = (*record.context, *record.retrieved, *record.reranked)
    # Reversed, so that of several texts under one id the context's wins: the model saw that one.
    chunks = {chunk.chunk_id: chunk for chunk in reversed(every) if chunk.content}
    pairs = dict.fromkeys(
        (claim, citation.chunk_id)
        for citation in record.citations
        if citation.chunk_id in chunks and (claim := _cited_claim(record, citation))
    )
    cited = dict.fromkeys(chunk_id for _, chunk_id in pairs)
    passages = _passages([chunks[chunk_id] for chunk_id in cited if chunk_id is not None])
    names = {passage.chunk_id: passage.name for passage in passages}
    return Material(
        items=tuple(
            Item(name=f"r{number}", text=claim, passage=names[chunk_id], chunk_id=chunk_id)
            for number, (claim, chunk_id) in enumerate(pairs, 1)
            if chunk_id in names
        ),
        passages=passages,
    )


def _cited_claim(record: RagRecord, citation: Citation) -> str:
    """The sentence that a citation supports, without markers; "" if it is unknown."""
    answer, start, end = record.answer or "", citation.claim_start, citation.claim_end
    if start is None or end is None or not 0 <= start < end:
        at = citation.start
        around = [
            sentence
            for sentence in sentences(answer)
            if at is not None and sentence.start <= at < sentence.end
        ]
        text = around[0].text if around else ""
    else:
        text = answer[start:end]
    bare = _bare(text, record.citations)
    return bare if words(bare) else ""


def _bare(text: str, citations: Sequence[Citation]) -> str:
    for marker in {citation.marker for citation in citations if citation.marker}:
        text = text.replace(marker, " ")
    return BEFORE_STOP.sub("", " ".join(text.split()))
