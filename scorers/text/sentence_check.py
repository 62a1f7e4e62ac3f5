"""Checks a citation without a quotation: compares the sentence it supports with the chunks."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from scorers.text.alignment import align
from scorers.text.chunk_text import ChunkText
from scorers.text.normalise import key, length, words
from scorers.text.quotation import ContextTexts, QuoteMatch
from scorers.text.support import support, support_in_one_place, weights

SHORTEST = 4
"""Least words of a sentence that can tell chunks apart."""
SUPPORTED = 0.45
"""Another chunk supports a sentence clearly better if it has this share of the weight,"""
TIMES = 1.5
"""this many times as much as any cited chunk,"""
GAIN = 6.0
"""and this much more in nats: four to six telling words."""
COPY_GAIN = 2.0
"""The same where the other chunk holds the sentence, or nearly: its words stand together there."""
STRETCH = 40
"""Words of another chunk, besides two for each of the sentence, in which its support must lie."""
NEAR_COPY = 0.8
"""Least share of a sentence's words, in order in a chunk, that makes a copy of it."""
NAME_WORDS = 2
"""Least words of a short claim that one chunk holds and another does not: a name, say."""
NUMBER = re.compile(r"\d{3,}")
"""A number that is a claim by itself, a year for instance."""


YES_OR_NO = re.compile(
    r"^\W*(?:yes|no|ja|nein|oui|non|sí|sì|si|não|sim|да|нет|ναι|όχι|نعم|لا|כן|לא|हाँ|हां|नहीं|是的|不是|是|不|はい"
    r"|いいえ|네|아니요)\s*[,:;.!，、。！،–—-]\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that a marker supports, without its markers, and all chunks cited for it."""

    text: str
    words: tuple[str, ...]
    cited: Collection[str]


def claim(text: str, cited: Collection[str]) -> Claim:
    """The claim that a text makes, without a leading *yes* or *no* to the question.

    >>> claim("No, cards take 5 days.", ()).words
    ('cards', 'take', '5', 'days')
    """
    stated = YES_OR_NO.sub("", text)
    return Claim(text=stated, words=tuple(words(stated)), cited=cited)


def check_sentence(sentence: Claim, chunk_id: str, texts: ContextTexts) -> QuoteMatch:
    """Checks whether another chunk supports a sentence clearly better than the chunks it cites.

    A sentence that cites several chunks passes if one of them holds it. It quotes nothing, so that
    other words than its chunk's are no error here; the label is `marker_mismatch`.
    """
    own = [texts[name] for name in dict.fromkeys((chunk_id, *sentence.cited)) if name in texts]
    if length(sentence.words) < SHORTEST:
        better = _holder(sentence, own, texts) if own else ""
    elif any(key(sentence.words) in chunk.key for chunk in own):
        return QuoteMatch(checked="sentence", similarity=1.0)
    else:
        better = _better(sentence, own, _rivals(sentence, own, texts), texts)
    label = "marker_mismatch" if better else ""
    return QuoteMatch(checked="marker_only", label=label, other=better)


def _holder(sentence: Claim, own: list[ChunkText], texts: ContextTexts) -> str:
    """The id of an uncited chunk that holds a short claim word for word; or "".

    Only of a name or a number of which no cited chunk has a word, in whatever form.
    """
    searched = key(sentence.words)
    if length(sentence.words) < NAME_WORDS and not NUMBER.search(searched):
        return ""
    stems = ChunkText(sentence.text).stems
    if any(stems & chunk.stems for chunk in own):
        return ""
    holders = (name for name, text in texts.all if name not in sentence.cited)
    return next((name for name in holders if searched in texts[name].key), "")


def _rivals(
    sentence: Claim, own: list[ChunkText], texts: ContextTexts
) -> list[tuple[str, ChunkText]]:
    """Uncited chunks that share at least as many distinct words as the best cited chunk."""
    distinct = frozenset(sentence.words)
    most_shared = max((len(distinct & chunk.distinct) for chunk in own), default=0)
    return [
        (name, text)
        for name, text in texts.all
        if name not in sentence.cited and len(distinct & text.distinct) >= most_shared
    ]


def _is_copy(sentence: Claim, chunk: ChunkText) -> bool:
    """Whether a chunk holds the sentence, or most of its words in order."""
    if key(sentence.words) in chunk.key:
        return True
    place = align(sentence.words, chunk)
    return place is not None and place.similarity >= NEAR_COPY


def _better(
    sentence: Claim, own: list[ChunkText], rivals: list[tuple[str, ChunkText]], texts: ContextTexts
) -> str:
    """The id of the chunk that supports a sentence clearly better than all cited ones; or ""."""
    if not rivals:
        return ""
    weighed = weights(sentence.words, sentence.text, [text for _, text in texts.all])
    best_cited = max((support(weighed, chunk) for chunk in own), default=0.0)
    if TIMES * best_cited > 1:
        return ""
    least = max(SUPPORTED, TIMES * best_cited)
    size = STRETCH + 2 * len(sentence.words)
    best, name = max((support_in_one_place(weighed, text, size), name) for name, text in rivals)
    if best < least:
        return ""
    gain = (best - best_cited) * sum(weighed.values())
    return name if gain >= (COPY_GAIN if _is_copy(sentence, texts[name]) else GAIN) else ""
