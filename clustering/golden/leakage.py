"""Finds leakage: a case whose question or answer already stands in the service's prompt.

A model that is shown the answer passes the case whatever its retrieval does. Searched are system
instructions, the turns before the last question (few-shot examples), and the last message except
the question itself and retrieved chunks.
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
    """A message of a prompt: role and text."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A text of the case that stands word for word in a part of the prompt."""

    what: str
    """`question`, `answer` or `fact`."""
    where: str
    """`system prompt`, `example` or `prompt`."""
    text: str


def leaks(
    case: GoldenCase, prompt: Sequence[PromptMessage], chunks: Iterable[str], normalise: Normalise
) -> list[Leak]:
    """Texts of the case that stand in the prompt word for word; `chunks` were retrieved."""
    # Longest first: a chunk may contain another, which must not break it apart.
    padded = (f" {words} " for text in chunks if (words := normalise(text)))
    known_chunks = sorted(padded, key=len)[::-1]
    unique = dict.fromkeys(
        Leak(what=what, where=where, text=text)
        for where, words in _parts(prompt, known_chunks, normalise)
        for what, text in _secrets(case)
        # The last message asks the question once: only a second time is a leak.
        if _occurs(normalise(text), words, 2 if (what, where) == ("question", "prompt") else 1)
    )
    return list(unique)


def _parts(
    prompt: Sequence[PromptMessage], chunks: Sequence[str], normalise: Normalise
) -> Iterator[tuple[str, str]]:
    """Each part of the prompt: where, and its words without the retrieved chunks."""
    turns = [place for place, message in enumerate(prompt) if message.role not in SYSTEM]
    for place, message in enumerate(prompt):
        words = f" {normalise(message.text)} "
        for chunk in chunks:
            words = words.replace(chunk, " … ")
        if message.role in SYSTEM:
            yield "system prompt", words
        else:
            yield ("prompt" if place == turns[-1] else "example"), words


def _secrets(case: GoldenCase) -> Iterator[tuple[str, str]]:
    yield "question", case.question
    yield "answer", case.gold_answer
    for fact in case.expected_facts:
        yield "fact", fact.text


def _occurs(phrase: str, words: str, times: int) -> bool:
    return len(phrase.split()) >= FEWEST_WORDS and words.count(f" {phrase} ") >= times
