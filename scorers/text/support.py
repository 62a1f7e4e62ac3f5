"""How much of a sentence a chunk holds: lexical evidence for comparing chunks with one another.

Words weigh their inverse document frequency over the record's chunks; numbers and names weigh more.
This does not judge truth: it tells which chunk a sentence was most likely written from.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from math import log

from scorers.text.alignment import COMMON
from scorers.text.chunk_text import ChunkText
from scorers.text.normalise import is_number, is_unspaced, words

NUMBER_WEIGHT = 1.5
NAME_WEIGHT = 1.5
STEM_SHARE = 0.8
STEM = 5
NAME = re.compile(r"(?<=[^.!?\s] )[^\W\d_a-z][^\W_]+|\b[A-Z][A-Z0-9]+\b")


def weights(claim: Sequence[str], text: str, chunks: Sequence[ChunkText]) -> dict[str, float]:
    """The weight of each distinct word of a claim; `text` is the claim as written, for its names.

    A word that every chunk has weighs next to nothing: it does not tell the chunks apart.
    """
    names = {name for name in NAME.findall(text) for name in words(name)}
    weighed = {}
    for word in dict.fromkeys(claim):
        having = sum(word in chunk.distinct for chunk in chunks)
        # Inverse document frequency as in BM25, over the chunks of this record.
        weight = log(1 + (len(chunks) + 0.5 - having) / (having + 0.5))
        if is_number(word):
            weight *= NUMBER_WEIGHT
        elif word in names:
            weight *= NAME_WEIGHT
        elif len(word) < 3 and not is_unspaced(word):
            weight /= 2
        weighed[word] = weight
    return weighed


def support(weighed: Mapping[str, float], chunk: ChunkText) -> float:
    """The share (0..1) of a claim's weight that a chunk has; a shared stem counts STEM_SHARE.

    >>> chunk = ChunkText("Refunds are paid within 24 hours.")
    >>> support({"refunded": 1.0, "24": 1.5, "cards": 1.0}, chunk)
    0.6571428571428571
    """
    total = sum(weighed.values())
    if not total:
        return 0.0
    weight_held = 0.0
    for word, weight in weighed.items():
        if word in chunk.distinct:
            weight_held += weight
        elif len(word) >= STEM and not is_number(word) and word[:STEM] in chunk.stems:
            weight_held += STEM_SHARE * weight
    return weight_held / total


def support_in_one_place(weighed: Mapping[str, float], chunk: ChunkText, size: int) -> float:
    """The same share for the best stretch of `size` words of a chunk.

    In a long chunk any word occurs somewhere, far from the others. Words that a chunk repeats
    often, and shared stems, count wherever they stand: the claim bounds the time.

    >>> chunk = ChunkText(" ".join(["Cards are blue.", *["so it is"] * 20, "Refunds take days."]))
    >>> support_in_one_place({"cards": 1.0, "refunds": 1.0}, chunk, 10)
    0.5
    """
    total = sum(weighed.values())
    places = chunk.places
    rare = [word for word in weighed if 0 < len(places.get(word, ())) <= COMMON]
    in_place, best = 0.0, 0.0
    held: Counter[str] = Counter()
    window: deque[tuple[int, str]] = deque()
    for place, word in sorted((place, told) for told in rare for place in places[told]):
        window.append((place, word))
        held[word] += 1
        in_place += weighed[word] * (held[word] == 1)
        while window[0][0] <= place - size:
            _, gone = window.popleft()
            held[gone] -= 1
            in_place -= weighed[gone] * (held[gone] == 0)
        best = max(best, in_place)
    anywhere = support(weighed, chunk) * total - sum(weighed[word] for word in rare)
    return (best + anywhere) / total if total else 0.0
