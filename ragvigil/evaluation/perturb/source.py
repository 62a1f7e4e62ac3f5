"""What a perturbation starts from: a case, the texts of its gold chunks, and a context. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

from ragvigil.evaluation.case import Case, Expects, Perturbation
from ragvigil.evaluation.perturb.corpus import Corpus, is_same_chunk
from scorers.golden import Gold
from scorers.text.normalise import words

BESIDE_GOLD = 4
"""Chunks beside the gold ones, where a case brings no context of its own."""


SHORT_ANSWER = 20
"""Words of the longest answer whose every fact counts as asked for."""


class NotPossible(Exception):
    """A perturbation cannot be made of a case; `str(error)` says why, alike for alike cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A case that has an answer, with what its perturbations need.

    `gold` are its gold chunks, all with a text; `context` holds them and others, in the order in
    which a target would get them; `corpus` has further chunks.
    """

    case: Case
    gold: tuple[Gold, ...]
    context: tuple[Gold, ...]
    corpus: Corpus

    @property
    def answer(self) -> str:
        """The expected answer, else the facts that an answer must state."""
        facts = (fact.text for fact in self.case.facts if fact.is_vital)
        return self.case.answer or " ".join(facts)

    @property
    def vital(self) -> str:
        """What an answer cannot leave out: the vital facts, else a short expected answer.

        A long answer has more in it than every right one needs; empty then.
        """
        facts = " ".join(fact.text for fact in self.case.facts if fact.is_vital)
        is_short = len(words(self.case.answer)) <= SHORT_ANSWER
        return facts or (self.case.answer if is_short else "")

    @property
    def everything(self) -> str:
        """Question, answer and context in one text."""
        chunks = (chunk.text for chunk in self.context)
        return "\n\n".join((self.case.question, self.answer, *chunks))

    @property
    def others(self) -> tuple[Gold, ...]:
        """The chunks of the context that are neither gold nor nearly the same."""
        return tuple(
            chunk
            for chunk in self.context
            if not any(is_same_chunk(gold, chunk) for gold in self.gold)
        )


class Perturbs(Protocol):
    """A kind of perturbation: its name, and a function that makes it of a case."""

    name: str

    def perturb(self, source: Source, chance: Random) -> Case:
        """The perturbed case. Raises NotPossible."""
        ...


def source_of(case: Case, corpus: Corpus) -> Source:
    """What perturbations of a case start from. Raises NotPossible.

    Without a context of its own, a case gets its gold chunks and the corpus' chunks that are most
    like its question and do not answer it.
    """
    if case.must_refuse or case.perturbation is not None:
        raise NotPossible("is no case with an answer of its own")
    gold = tuple(corpus.with_text(chunk, case.context or ()) for chunk in case.gold)
    if not gold:
        raise NotPossible("has no gold chunk")
    if not all(chunk.text for chunk in gold):
        raise NotPossible("the text of a gold chunk is not known")
    given = tuple(chunk for chunk in case.context or () if chunk.text)
    # A gold chunk is the context's own chunk where that has it: it may be longer, or cut otherwise.
    gold = tuple(dict.fromkeys(_in_context(chunk, given) for chunk in gold))
    if case.context is None:
        given = (*gold, *corpus.negatives(case, gold, most=BESIDE_GOLD))
    missing = tuple(chunk for chunk in gold if chunk not in given)
    return Source(case=case, gold=gold, context=(*missing, *given), corpus=corpus)


def made(
    source: Source,
    name: str,
    context: Sequence[Gold],
    expects: Expects,
    *,
    required: tuple[str, ...] = (),
    forbidden: tuple[str, ...] = (),
    change: str = "",
) -> Case:
    """The perturbed case: its context, and what must hold. What the parent expects is kept."""
    parent = source.case
    slices = {**parent.slices, "perturbation": (name,)} | ({"change": (change,)} if change else {})
    return replace(
        parent,
        case_id=f"{parent.case_id}~{name}",
        context=tuple(context),
        slices=slices,
        group=parent.group or parent.case_id,
        must_pass=False,
        perturbation=Perturbation(
            name=name,
            parent=parent.case_id,
            expects=expects,
            required=required,
            forbidden=forbidden,
        ),
    )


def unanswerable(source: Source, name: str, context: Sequence[Gold]) -> Case:
    """The case with a context that does not answer it: the right answer is a refusal."""
    case = made(source, name, context, Expects.REFUSES)
    return replace(case, gold=(), facts=(), answer="", must_refuse=True)


def _in_context(gold: Gold, context: Sequence[Gold]) -> Gold:
    return next((chunk for chunk in context if is_same_chunk(gold, chunk)), gold)
