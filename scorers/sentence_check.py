"""A citation without a quotation: the sentence that it supports, against the chunks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from scorers.alignment import Alignment, Change, align, is_found, is_harmless
from scorers.normalise import key, length, words
from scorers.prepared import Prepared
from scorers.quoted import Finding, Texts
from scorers.support import support, weights

SHORTEST = 4
"""Words under which a sentence says too little to tell chunks apart."""
COPY = 0.6
"""Share of a sentence's words in order in a chunk from which on a changed number is a change."""
NEAR_COPY = 0.8
"""The same for a changed word: under it the sentence is in the answer's own words."""
SUPPORTED = 0.6
MARGIN = 0.3
"""Another chunk supports a sentence clearly better: so well, and by so much more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The sentence that a marker supports, markers left out, and all chunks cited for it."""

    text: str
    words: tuple[str, ...]
    cited: Collection[str]


def claim(text: str, cited: Collection[str]) -> Claim:
    """The claim of a text."""
    return Claim(text=text, words=tuple(words(text)), cited=cited)


def check_sentence(of: Claim, chunk_id: str, texts: Texts) -> Finding:
    """Whether the cited chunk is where the sentence comes from.

    A sentence cited from several chunks passes where it stands in one of them.
    """
    if length(of.words) < SHORTEST:
        return Finding(checked="marker_only")
    searched = key(of.words)
    if searched in texts[chunk_id].key:
        return Finding(checked="sentence", similarity=1.0)
    own = [texts[name] for name in of.cited if name in texts]
    if any(searched in chunk.key for chunk in own):
        return Finding(checked="sentence", similarity=1.0)
    rivals = [(name, text) for name, text in texts.all if name not in of.cited]
    aligned = align(of.words, texts[chunk_id])
    similarity = aligned.similarity if aligned else 0.0
    places = [(place, chunk) for chunk in own if (place := align(of.words, chunk))]
    if any(is_found(of.words, place, chunk) for place, chunk in places):
        return Finding(checked="sentence", similarity=similarity)
    copied = next((name for name, text in rivals if _is_copy(of, searched, text)), None)
    if copied is not None:
        return Finding(
            checked="sentence", label="marker_mismatch", similarity=similarity, other=copied
        )
    best = max(places, key=lambda one: one[0].similarity, default=None)
    if best is not None and is_altered(*best):
        return Finding(checked="sentence", label="quote_not_found", similarity=similarity)
    better = _better(of, own, rivals, texts)
    label = "marker_mismatch" if better else ""
    return Finding(checked="marker_only", label=label, similarity=similarity, other=better)


def _is_copy(of: Claim, searched: str, chunk: Prepared) -> bool:
    if searched in chunk.key:
        return True
    distinct = frozenset(of.words)
    if len(distinct & chunk.distinct) < NEAR_COPY * len(distinct):
        return False
    place = align(of.words, chunk)
    return place is not None and is_found(of.words, place, chunk)


def is_altered(place: Alignment, chunk: Prepared) -> bool:
    """Whether a copy of a passage differs by a number, a negation or a swapped word."""
    if place.similarity < COPY:
        return False
    if any(_is_other_number(change) or change.is_negation for change in place.changes):
        return True
    return place.similarity >= NEAR_COPY and any(
        len(change.ours) == len(change.theirs) == 1 and not is_harmless(change, chunk)
        for change in place.changes
    )


def _is_other_number(change: Change) -> bool:
    """A number in the place of another."""
    return change.is_number and bool(change.ours and change.theirs)


def _better(
    of: Claim, own: list[Prepared], rivals: list[tuple[str, Prepared]], texts: Texts
) -> str:
    """The chunk that supports the sentence clearly better than all cited ones, or nothing."""
    if not rivals:
        return ""
    weighed = weights(of.words, of.text, [text for _, text in texts.all])
    held = max((support(weighed, chunk) for chunk in own), default=0.0)
    best, name = max((support(weighed, text), name) for name, text in rivals)
    return name if best >= SUPPORTED and best - held >= MARGIN else ""
