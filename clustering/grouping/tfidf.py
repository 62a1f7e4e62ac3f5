"""Names groups of texts by the words and pairs of words that distinguish each from the others.

Class-based TF-IDF (Grootendorst 2022); a text counts once for each of its terms. A word of many
groups is grammar, whatever the language, and is in no phrase.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log

COMMON = 0.4
"""A word used by this share of the groups, and by at least two, distinguishes none."""
USED = 0.02
"""A group uses a word that stands in at least this share of its texts."""
MOST_CHARACTERS = 60
"""A text in a script without spaces is a single word: it is cut to this length."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def distinctive_phrases(groups: Sequence[Iterable[str]], most: int) -> list[tuple[str, ...]]:
    """Up to `most` phrases for each group of texts, the most distinctive first.

    >>> distinctive_phrases([["a refund", "refund for shoes"], ["a parcel", "parcel late"]], 1)
    [('refund',), ('parcel',)]
    """
    split = [[_words(text) for text in texts] for texts in groups]
    common = _common(split)
    counts = [
        Counter(term for words in texts for term in set(_terms(words, common))) for texts in split
    ]
    overall = sum(counts, Counter[str]())
    mean = sum(overall.values()) / max(1, len(counts))
    return [_best(own, overall, mean, most) for own in counts]


def _best(
    counts: Mapping[str, int], overall: Mapping[str, int], mean: float, most: int
) -> tuple[str, ...]:
    def weight(term: str) -> tuple[float, str]:
        return -counts[term] * log(1 + mean / overall[term]), term

    chosen: list[str] = []
    for term in sorted(counts, key=weight):
        if len(chosen) == most:
            break
        # "late parcel" after "parcel" would say one word twice.
        if not any(set(term.split()) & set(other.split()) for other in chosen):
            chosen.append(term)
    return tuple(chosen)


def _common(groups: Sequence[Sequence[Sequence[str]]]) -> set[str]:
    used = Counter[str]()
    for texts in groups:
        counts = Counter(word for words in texts for word in set(words))
        used.update(word for word, count in counts.items() if count >= USED * len(texts))
    return {word for word, count in used.items() if count >= max(2, COMMON * len(groups))}


def _terms(words: Sequence[str], common: set[str]) -> Iterator[str]:
    yield from (word for word in words if word not in common)
    pairs = pairwise(words)
    yield from (f"{word} {other}" for word, other in pairs if not {word, other} & common)


def _words(text: str) -> list[str]:
    return [word.casefold()[:MOST_CHARACTERS] for word in _WORD.findall(text)]
