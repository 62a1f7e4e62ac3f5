"""Leakage: a case whose question or answer the service already carries in its prompt.

A model that is shown the answer passes the case whatever its retrieval does. Looked at are system
instructions and the turns before the last question (few-shot examples), and the last message as far
as it is neither the question nor a retrieved chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from clustering.golden.content import Normalise
from ragvigil.model.golden import GoldenCase

FEWEST_WORDS = 4
"""Shorter texts stand in many prompts by chance."""
SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message that a model was sent: who spoke, and the words."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """What stands word for word in which part of the prompt."""

    what: str
    """`question`, `answer` or `fact`."""
    where: str
    """`system prompt`, `example` or `prompt`."""
    text: str


def leaks(
    case: GoldenCase, prompt: Sequence[PromptMessage], chunks: Iterable[str], asked: Normalise
) -> list[Leak]:
    """What of the case stands in this prompt, word for word; `chunks` are what was retrieved."""
    held = sorted((f" {words} " for text in chunks if (words := asked(text))), key=len)[::-1]
    found = dict.fromkeys(
        Leak(what=what, where=where, text=text)
        for where, words in _parts(prompt, held, asked)
        for what, text in _secrets(case)
        if _occurs(asked(text), words, 2 if (what, where) == ("question", "prompt") else 1)
    )
    return list(found)


def _parts(
    prompt: Sequence[PromptMessage], held: Sequence[str], asked: Normalise
) -> Iterator[tuple[str, str]]:
    """Where, and the words there without the retrieved chunks."""
    turns = [place for place, message in enumerate(prompt) if message.role not in SYSTEM]
    for place, said in enumerate(prompt):
        words = f" {asked(said.text)} "
        for chunk in held:
            words = words.replace(chunk, " … ")
        if said.role in SYSTEM:
            yield "system prompt", words
        else:
            yield ("prompt" if place == turns[-1] else "example"), words


def _secrets(case: GoldenCase) -> Iterator[tuple[str, str]]:
    yield "question", case.question
    yield "answer", case.gold_answer
    for fact in case.expected_facts:
        yield "fact", fact.text


def _occurs(wanted: str, words: str, times: int) -> bool:
    return len(wanted.split()) >= FEWEST_WORDS and words.count(f" {wanted} ") >= times
