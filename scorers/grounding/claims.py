"""Splits an answer into sentences, and describes the form of each without any context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from scorers.text.normalise import is_number, words
from scorers.text.sentences import sentences
from scorers.text.stance import classify
from scorers.text.support import NAME

MARKER = re.compile(r"\[[^\[\]\n]{1,40}\]|【[^】\n]{1,40}】")
ITEM = re.compile(r"\s*(?:[-*•·–]|\d+[.)])\s")
_HEDGES = (
    "may might could can likely possibly perhaps generally typically often usually sometimes"
    " always should important recommend recommended consult please note essential ensure crucial"
    " help"
)
_ABOUT_TEXTS = (
    "however additionally therefore thus overall furthermore moreover also finally conclusion"
    " summary based passages passage context information provided text documents"
)
HEDGES = frozenset(_HEDGES.split())
ABOUT_TEXTS = frozenset(_ABOUT_TEXTS.split())
"""English words that refer to the sources, or that join the parts of an answer."""
PERSONS = frozenset({"i", "we", "you", "your"})
MOST = 1_000
"""Sentences of an answer that are read. Each is compared with many lines of the context, which
takes 0.1 to 0.3 ms: a megabyte of short sentences would take a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much words tell: a common word little, a word in no list `most`."""

    by_word: Mapping[str, float]
    most: float

    def of(self, word: str) -> float:
        """The weight of a word."""
        return self.by_word.get(word, self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of an answer; `weighed` maps its distinct words, in order, to their weights."""

    start: int
    end: int
    text: str
    words: list[str]
    weighed: dict[str, float]
    weight: float
    names: list[str]
    is_refusing: bool

    def weigh(self, some: Iterable[str]) -> float:
        """The total weight of some of its words."""
        return sum([self.weighed[word] for word in some])


def claims(answer: str, weights: Weights) -> list[Claim]:
    """Of an answer's first MOST sentences those with words; citation markers are ignored."""
    refusing = {sentence.start for sentence in classify(answer).refusing}
    result = []
    for sentence in sentences(answer)[:MOST]:
        is_marked = "[" in sentence.text or "【" in sentence.text
        tokens = words(MARKER.sub(" ", sentence.text) if is_marked else sentence.text)
        if tokens:
            weighed = {word: weights.of(word) for word in dict.fromkeys(tokens)}
            result.append(
                Claim(
                    start=sentence.start,
                    end=sentence.end,
                    text=sentence.text,
                    words=tokens,
                    weighed=weighed,
                    weight=sum(weighed.values()),
                    names=_names(sentence.text, weighed),
                    is_refusing=sentence.start in refusing,
                )
            )
    return result


def _names(text: str, claim_words: Iterable[str]) -> list[str]:
    """The words of the names in a sentence: capitalised words that do not begin it."""
    name_words = {word for name in NAME.findall(text) for word in words(name)}
    return [word for word in claim_words if word in name_words] if name_words else []


FORM = (
    "log_words", "numbers", "names", "first", "last", "position", "log_sentences", "hedges",
    "about_texts", "refuses", "heading", "item", "parenthesis", "person", "of_question",
    "said_before",
)  # fmt: skip


def form(
    claim: Claim, place: int, count: int, question: frozenset[str], earlier: set[str]
) -> list[float]:
    """The features `FORM` of the claim at a place (from 0) of an answer of `count` sentences.

    `earlier` are the words of the sentences before it.
    """
    weighed, weight = claim.weighed, claim.weight
    bare = claim.text.rstrip()
    return [
        log(1 + len(claim.words)),
        log(1 + sum(map(is_number, weighed))),
        log(1 + len(claim.names)),
        float(place == 0),
        float(place == count - 1 > 0),
        place / max(1, count - 1),
        log(count),
        log(1 + len(HEDGES.intersection(weighed))),
        log(1 + len(ABOUT_TEXTS.intersection(weighed))),
        float(claim.is_refusing),
        float(bare.endswith((":", "："))),
        float(ITEM.match(claim.text) is not None),
        float("(" in bare),
        float(not PERSONS.isdisjoint(weighed)),
        sum([value for word, value in weighed.items() if word in question]) / weight,
        sum([value for word, value in weighed.items() if word in earlier]) / weight,
    ]
