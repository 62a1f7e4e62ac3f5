"""Checks a citation without a quotation: compares the sentence it supports with the chunks."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scorers.text.alignment import Alignment, Change, align, is_harmless, is_match
from scorers.text.chunk_text import ChunkText
from scorers.text.normalise import is_unspaced, key, length, words
from scorers.text.quotation import ContextTexts, QuoteMatch
from scorers.text.support import support, weights

SHORTEST = 4
"""Least words of a sentence that can tell chunks apart."""
COPY = 0.6
"""Least share of a sentence's words, in order in a chunk, at which a changed number is an error."""
NEAR_COPY = 0.8
"""The same for a changed word: with less in common, the sentence is in the answer's own words."""
SHORT = 3
"""Most words of a change; a longer one is another wording, not a changed word."""
SWAPS = 2
"""Most swapped words of a copy; with more, the sentence is in the answer's own words."""
STEM = 4
"""Least letters that two forms of a word share."""
SUPPORTED = 0.45
"""Another chunk supports a sentence clearly better if it has this share of the weight,"""
TIMES = 2.0
"""this many times as much as any cited chunk,"""
GAIN = 6.0
"""and this much more in nats: four to six telling words."""


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
    """Checks whether a sentence comes from the chunk it cites.

    A sentence that cites several chunks passes if one of them holds it. The labels are
    `marker_mismatch` (another chunk fits) and `quote_not_found` (a copy with a changed word).
    """
    if length(sentence.words) < SHORTEST:
        return QuoteMatch(checked="marker_only")
    searched = key(sentence.words)
    if searched in texts[chunk_id].key:
        return QuoteMatch(checked="sentence", similarity=1.0)
    own = [texts[name] for name in sentence.cited if name in texts]
    if any(searched in chunk.key for chunk in own):
        return QuoteMatch(checked="sentence", similarity=1.0)
    places = [(place, chunk) for chunk in own if (place := align(sentence.words, chunk))]
    best = max(places, key=lambda place: place[0].similarity, default=None)
    similarity = best[0].similarity if best else 0.0
    if any(is_match(sentence.words, place, chunk) for place, chunk in places):
        return QuoteMatch(checked="sentence", similarity=similarity)
    # The other chunks are compared only now that no cited chunk holds the sentence.
    rivals = _rivals(sentence, own, texts)
    copied = next((name for name, text in rivals if _is_copy(sentence, similarity, text)), None)
    if copied is not None:
        return QuoteMatch(
            checked="sentence", label="marker_mismatch", similarity=similarity, other=copied
        )
    if best is not None and is_altered(sentence.words, *best):
        return QuoteMatch(checked="sentence", label="quote_not_found", similarity=similarity)
    better = _better(sentence, own, rivals, texts)
    label = "marker_mismatch" if better else ""
    return QuoteMatch(checked="marker_only", label=label, similarity=similarity, other=better)


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


def _is_copy(sentence: Claim, similarity: float, rival: ChunkText) -> bool:
    """Whether a rival holds the sentence, or nearly does while no cited chunk holds most of it.

    `similarity` is that of the best cited chunk.
    """
    if key(sentence.words) in rival.key:
        return True
    if len(rival.distinct.intersection(sentence.words)) < NEAR_COPY * len(set(sentence.words)):
        return False
    place = align(sentence.words, rival)
    if place is None:
        return False
    is_nearly = similarity < COPY and place.similarity >= NEAR_COPY
    return is_nearly or is_match(sentence.words, place, rival)


def is_altered(sentence: Sequence[str], place: Alignment, chunk: ChunkText) -> bool:
    """Whether a copied passage differs by a number, a negation or a swapped word.

    Answers adapt what they copy. These changes do not count: omitted words, other forms of a word,
    and another first word where the passage begins inside a sentence (*It* for the subject).
    """
    if place.similarity < COPY:
        return False
    short = [
        change
        for change in place.changes
        if max(length(change.ours), length(change.theirs)) <= SHORT
    ]
    if any(change.is_number or change.is_negation for change in short):
        return True
    if place.similarity < NEAR_COPY:
        return False
    begin = place.start - len(place.changes[0].theirs) if place.changes else place.start
    # The answer may have replaced the beginning of a sentence: that first change is skipped.
    is_joined = sentence[0] != chunk.words[place.start] and begin not in chunk.starts
    rewordings = [
        change
        for change in place.changes[is_joined:]
        if not is_harmless(change, chunk) and not _is_form(change)
    ]
    return 0 < len(rewordings) <= SWAPS and all(change.is_swap for change in rewordings)


def _is_form(change: Change) -> bool:
    """Whether a swapped word is another form of the original."""
    ours, theirs = "".join(change.ours), "".join(change.theirs)
    if not change.is_swap or is_unspaced(change.ours[0]):
        return False
    least = max(STEM, min(len(ours), len(theirs)) - 1)
    return ours[:least] == theirs[:least]


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
    best, name = max((support(weighed, text), name) for name, text in rivals)
    gain = (best - best_cited) * sum(weighed.values())
    return name if best >= SUPPORTED and best >= TIMES * best_cited and gain >= GAIN else ""
