"""Scores by golden questions for live questions that are near-identical to one, by embeddings.

    >>> from scorers.golden import parse_case
    >>> is_same_content("How long do refunds take?", "Please, how long does a refund take?")
    True
    >>> is_same_content("Can I cancel my order?", "Can I not cancel my order?")
    False

The scorers of every answer know a golden question by its words. Here a question is one if its
vector is as near as ALIKE *and* both say the same words that carry meaning, in one order: in the
packaged model two questions that differ by *enable* and *disable* are nearer (0.93) than two
wordings of one often are. A match is said in the details (`matched`: `meaning`, the golden question
and the cosine). Its scores replace those that said that no golden case asks this: they are of the
same series. English only: of other languages neither the model nor the words without meaning are
known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ragvigil.inference.outcome import Unavailable
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.model.scorer import Scorer
from scorers.context_entity_recall import ContextEntityRecall
from scorers.context_recall import ContextRecall
from scorers.golden import Case, question_key
from scorers.local.relevance import Embedder
from scorers.noise_sensitivity import NoiseSensitivity
from scorers.ranking import RANKINGS
from scorers.runner import Runner
from scorers.text.language import language
from scorers.text.normalise import words

ALIKE = 0.92
SCORERS = (ContextRecall, *RANKINGS, ContextEntityRecall, NoiseSensitivity)
_EMPTY = frozenset({
    "a", "an", "the", "is", "are", "be", "do", "does", "can", "could", "would", "i", "you", "we",
    "me", "please", "tell", "know", "like", "want", "need", "to", "of",
    "in", "on", "at", "for", "per", "there", "it", "so", "hi", "hello", "hey", "thanks", "s",
})  # fmt: skip
"""Words that two wordings of a question may differ in: no numbers, denials, times, duties or
owners."""
_ENDING = re.compile(r"(?<=[a-z]{3})(?:es|s)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A golden case and how near its question is, as a cosine."""

    case: Case
    cosine: float


class GoldenQuestions:
    """Finds the golden case of a question, and scores its record.

    Embeds only the cases with the words of the question that carry meaning.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases: dict[tuple[str, ...], list[Case]] = defaultdict(list)
        self._keys = set()
        for case in cases:
            self._cases[content(case.question)].append(case)
            self._keys.add(question_key(case.question))

    def scores(self, record: RagRecord, embedder: Embedder) -> tuple[Score, ...]:
        """The scores of a record whose question is near-identical to a golden one; else none."""
        match = self._match(record.query or "", embedder)
        if match is None:
            return ()
        case = replace(match.case, question=record.query or "")
        scorers: list[Scorer] = [scorer([case]) for scorer in SCORERS]
        scores = Runner(scorers).score_all(record)
        return tuple(_said(score, match) for score in scores if score.value is not None)

    def _match(self, question: str, embedder: Embedder) -> Match | None:
        """The nearest case whose question is near-identical; None where none is or no model."""
        said = content(question)
        same = self._cases.get(said, [])
        is_known = question_key(question) in self._keys  # by its words, so it has its scores
        if not said or not same or is_known or language(question) != "en":
            return None
        vectors = embedder.embed([question, *(case.question for case in same)])
        if isinstance(vectors, Unavailable):
            return None
        cosines = (vectors[1:] @ vectors[0]).tolist()
        best = max(range(len(same)), key=cosines.__getitem__)
        return Match(case=same[best], cosine=cosines[best]) if cosines[best] >= ALIKE else None


def is_same_content(question: str, other: str) -> bool:
    """Whether two questions say the same words that carry meaning, in the same order."""
    return content(question) == content(other)


def content(question: str) -> tuple[str, ...]:
    """The words of a question that carry meaning, without the endings of plurals."""
    return tuple(_ENDING.sub("", word) for word in words(question) if word not in _EMPTY)


def _said(score: Score, match: Match) -> Score:
    found = {"matched": "meaning", "golden": match.case.question, "cosine": round(match.cosine, 3)}
    explanation = f"{score.explanation}; near-identical to {match.case.question!r}"
    return replace(score, explanation=explanation, details={**score.details, **found})
