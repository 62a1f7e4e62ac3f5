"""What groups of texts are called: the words and pairs of words by which each differs from others.

Class-based TF-IDF (Grootendorst 2022), a text counting once for each of its terms. What is said in
many groups is their grammar, whatever the language, and is in no phrase.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log

COMMON = 0.4
"""Share of the groups, two at least, from which on a word that they use tells none apart."""
USED = 0.02
"""Share of a group's texts that a word must be in to count as used by it."""
MOST_CHARACTERS = 60
"""A text in a script without spaces is one word: as much of it is a phrase."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def distinctive_phrases(groups: Sequence[Iterable[str]], most: int) -> list[tuple[str, ...]]:
    """For each group of texts up to `most` phrases, the most telling first.

    >>> distinctive_phrases([["a refund", "refund for shoes"], ["a parcel", "parcel late"]], 1)
    [('refund',), ('parcel',)]
    """
    said = [[_words(text) for text in texts] for texts in groups]
    common = _common(said)
    counts = [
        Counter(term for words in texts for term in set(_terms(words, common))) for texts in said
    ]
    overall = sum(counts, Counter[str]())
    mean = sum(overall.values()) / max(1, len(counts))
    return [_best(own, overall, mean, most) for own in counts]


def _best(
    counts: Mapping[str, int], overall: Mapping[str, int], mean: float, most: int
) -> tuple[str, ...]:
    def weight(term: str) -> tuple[float, str]:
        return -counts[term] * log(1 + mean / overall[term]), term

    found: list[str] = []
    for term in sorted(counts, key=weight):
        if len(found) == most:
            break
        if not any(set(term.split()) & set(other.split()) for other in found):
            found.append(term)
    return tuple(found)


def _common(said: Sequence[Sequence[Sequence[str]]]) -> set[str]:
    used = Counter[str]()
    for texts in said:
        counts = Counter(word for words in texts for word in set(words))
        used.update(word for word, count in counts.items() if count >= USED * len(texts))
    return {word for word, groups in used.items() if groups >= max(2, COMMON * len(said))}


def _terms(words: Sequence[str], common: set[str]) -> Iterator[str]:
    yield from (word for word in words if word not in common)
    pairs = pairwise(words)
    yield from (f"{word} {other}" for word, other in pairs if not {word, other} & common)


def _words(text: str) -> list[str]:
    return [word.casefold()[:MOST_CHARACTERS] for word in _WORD.findall(text)]
