"""How much of a sentence a chunk holds: lexical evidence for comparing chunks with one another.

Words weigh their inverse document frequency over the record's chunks; numbers and names weigh more.
This does not judge truth: it tells which chunk a sentence was most likely written from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log

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
