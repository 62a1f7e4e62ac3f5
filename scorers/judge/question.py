"""Builds the questions about a record that a rubric asks a language model.

    questions = ask_about(record, rubric, delimiter=secrets.token_hex(16), most_characters=60_000)

returns a Score without a value if the rubric does not apply; otherwise one question, or several if
one would be too large. Chunks, citations and claims are split over questions; each claim is asked
with every part of the context. Nothing is truncated: what cannot be split is not asked (`partial`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pydantic import BaseModel

from ragvigil.llm.cache import cache_key
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score
from scorers.absence import first_absent
from scorers.injected_context import findings
from scorers.judge.material import Item, Material, Passage, Reference, documents, material
from scorers.judge.prompt import LAYOUT, Section, render, section, unused_delimiter
from scorers.judge.reply_form import form_of
from scorers.judge.split import Part, parts_of
from scorers.judge_table import About, JudgeTable, OnlyWhen, PromptField
from scorers.rubric import Rubric
from scorers.text.stance import classify

MOST_QUESTIONS = 16
"""Most calls for one rubric of one record; a record that needs more is `partial`: not asked."""
UNKNOWN = Reference()
PARTIAL = "partial"
ITEM_NAMES = {About.CLAIMS: "claim", About.NUGGETS: "fact"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One prompt, the form of its reply, and what it is about.

    `passages` are shown, `items` get a verdict; there are no items where the model has to find the
    nuggets itself. `material` is everything that the rubric asks about the record.
    """

    rubric: Rubric
    record: RagRecord
    reference: Reference
    material: Material
    items: tuple[Item, ...]
    passages: tuple[Passage, ...]
    sections: tuple[Section, ...]
    delimiter: str
    prompt: str
    form: type[BaseModel]

    @property
    def table(self) -> JudgeTable:
        """The rubric's `[judge]` table."""
        return judge_table_of(self.rubric)

    def key(self, model: str) -> str:
        """The key of the reply in the cache.

        Covers all that a verdict depends on; not the delimiter, which is random for each call.
        """
        shows = self.table.shows
        own = ("question", "answer")
        shown = [section.value for section in self.sections if section.name not in own]
        rubric_facts = repr((LAYOUT, self.table, [section.name for section in self.sections]))
        return cache_key(
            model=model,
            prompt_version=self.rubric.version,
            rubric=self.rubric.name,
            question=(self.record.query or "") if PromptField.QUESTION in shows else "",
            answer=(self.record.answer or "") if PromptField.ANSWER in shows else "",
            chunk_hashes=[
                hashlib.sha256(text.encode()).hexdigest() for text in (rubric_facts, *shown)
            ],
        )


def judge_table_of(rubric: Rubric) -> JudgeTable:
    """The rubric's `[judge]` table. Raises ValueError if it has none."""
    if rubric.judge is None:
        raise ValueError(f"{rubric.name} is not judged by a model")
    return rubric.judge


def ask_about(
    record: RagRecord,
    rubric: Rubric,
    *,
    delimiter: str,
    most_characters: int,
    reference: Reference = UNKNOWN,
) -> tuple[Question, ...] | Score:
    """The questions of a rubric about a record, or a score that says why it does not apply.

    `delimiter` is a random word, new for each call; `most_characters` bounds a prompt. Raises
    ValueError for a rubric without a `[judge]` table and for a delimiter of under 16 characters.
    """
    table = judge_table_of(rubric)
    if len(delimiter) < 16 or not delimiter.isalnum():
        raise ValueError("a delimiter is at least 16 letters or digits")
    missing, reason = first_absent(record, rubric.needs)
    if missing:
        return not_judged(rubric, reason, absent=missing)
    unfit = _inapplicable(record, rubric, table, reference)
    if unfit is not None:
        return unfit
    subject = material(record, table, reference)
    if not subject.items and not (table.about is About.NUGGETS and subject.passages):
        return _no_items(rubric, record, NOTHING[table.about])
    fixed = tuple(_fixed_sections(record, table, reference))
    # The prompt without items and passages; the rest of the limit is the room for them.
    frame = len(render(table, (), fixed, delimiter)) + len(delimiter)
    if frame >= most_characters:
        return _partial(rubric, f"the judge reads {most_characters} characters at a time")
    parts = parts_of(subject, table, most_characters - frame)
    if len(parts) > MOST_QUESTIONS:
        return _partial(rubric, f"it takes {len(parts)} questions of {most_characters} characters")
    questions = [
        _question(record, rubric, reference, subject, part, fixed, delimiter) for part in parts
    ]
    # `parts_of` estimates sizes; the bound holds for the prompts themselves.
    longest = max(len(question.prompt) for question in questions)
    if longest > most_characters:
        return _partial(rubric, f"the judge reads {most_characters} characters at a time")
    return tuple(questions)


CHUNK_FIELDS = ("retrieved", "context", "document_texts", "retrieved_texts")
NOTHING = {
    About.CHUNKS: "no chunk with a text was retrieved",
    About.CLAIMS: "the answer states nothing",
    About.CITATIONS: "the answer cites no chunk whose text is known",
    About.NUGGETS: "neither passages nor expected facts are known",
    About.ANSWER: "there is no answer",
}


def not_judged(rubric: Rubric, reason: str, *, label: str = "", absent: str = "") -> Score:
    """A score without a value, for which no model was asked."""
    return Score(
        rubric=rubric.name,
        explanation=reason,
        label=label,
        absent=absent,
        layer=rubric.layer,
        version=rubric.version,
        kind=Kind.JUDGE,
    )


def _partial(rubric: Rubric, reason: str) -> Score:
    return not_judged(rubric, f"the record is too large: {reason}", label=PARTIAL)


def _no_items(rubric: Rubric, record: RagRecord, reason: str) -> Score:
    """Not applicable for want of items; `absent` is set where chunks exist but are unknown."""
    hidden = next((field for field in CHUNK_FIELDS if field in record.absent), "")
    is_about_chunks = judge_table_of(rubric).about in (About.CHUNKS, About.NUGGETS)
    return not_judged(rubric, reason, absent=hidden if is_about_chunks else "")


def _inapplicable(
    record: RagRecord, rubric: Rubric, table: JudgeTable, reference: Reference
) -> Score | None:
    """A score that says why a rubric does not apply to this record; None if it does."""
    shows = set(table.shows)
    if PromptField.QUESTION in shows and not (record.query or "").strip():
        return not_judged(rubric, "there is no question")
    is_about_answer = table.about is not About.CHUNKS or PromptField.ANSWER in shows
    if is_about_answer and not (record.answer or "").strip():
        return not_judged(rubric, "there is no answer")
    if table.about is About.NUGGETS and reference.facts:  # known facts need no chunks
        return None
    if PromptField.REFERENCE in shows and not reference and table.about is not About.NUGGETS:
        return not_judged(rubric, "no reference is known: neither a golden answer nor a source")
    chunks = documents(record, table)
    shows_chunks = not shows.isdisjoint({PromptField.CONTEXT, PromptField.RETRIEVED})
    if shows_chunks and not chunks and not table.empty_context:
        return _no_items(rubric, record, "nothing was retrieved")
    unknown = sum(chunk.content is None for chunk in chunks)
    if unknown and table.about is not About.CITATIONS:
        reason = f"the text of {unknown} of {len(chunks)} chunks is unknown"
        return not_judged(rubric, reason, absent="document_texts")
    if table.only_when is OnlyWhen.ANSWERED and classify(record.answer or "").label == "refused":
        return not_judged(rubric, "the answer refused")
    if table.only_when is OnlyWhen.INJECTED and not any(
        findings(chunk.content) for chunk in chunks if chunk.content
    ):
        return not_judged(rubric, "no chunk holds an instruction to the model")
    return None


def _fixed_sections(record: RagRecord, table: JudgeTable, reference: Reference) -> list[Section]:
    """The sections that every question of a rubric shows: all but chunks and items."""
    sections = []
    if PromptField.QUESTION in table.shows:
        sections.append(section("question", record.query))
    if PromptField.ANSWER in table.shows:
        sections.append(section("answer", record.answer))
    if PromptField.REFERENCE in table.shows and table.about is not About.NUGGETS:
        texts = enumerate(reference.texts, 1)
        sections += [section(f"reference {number}", text) for number, text in texts]
    return sections


def _question(
    record: RagRecord,
    rubric: Rubric,
    reference: Reference,
    subject: Material,
    part: Part,
    fixed: tuple[Section, ...],
    delimiter: str,
) -> Question:
    table = judge_table_of(rubric)
    sections = (*fixed, *part.sections(table.about))
    mark = unused_delimiter(delimiter, sections)
    return Question(
        rubric=rubric,
        record=record,
        reference=reference,
        material=subject,
        items=part.items,
        passages=part.passages,
        sections=sections,
        delimiter=mark,
        prompt=render(table, part.items, sections, mark),
        form=form_of(table, tuple(item.name for item in part.items)),
    )
