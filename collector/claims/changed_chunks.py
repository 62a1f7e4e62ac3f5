"""Finds the documents that a prompt shows changed or cut, next to those that it shows as they are.

Documents compete for the same stretches: the one of which most is there comes first, and the others
are judged by what it leaves. What other documents begin or end with as well shows none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from collector.claims.alignment import Alignment, alignments, shared_ends
from collector.claims.reduced_text import ReducedText, with_offsets
from collector.claims.stretches import Stretches

OWN = 24
"""Characters that no other document explains."""
LEAST = 48
"""Characters; less of a document shows nothing."""
SHOWN, SHOWN_IN_PIECES = 0.5, 0.75
"""The share of a document that must be there in one piece, or in several, unless the prompt cuts it
off. An answer of an earlier turn may quote some of its sentences in their order."""
MISSING = 0.25
"""What a missing character counts against a present one where documents compete: a chunk comes
before a longer one that holds it, and one of which a half is there before a chunk within."""
ALIGNED, FEWEST = 800, 8
"""Alignments that are tried, of all documents and of each: at most some 100 microseconds each."""
OMISSION = re.compile(r"\.{3}|…|[\[(](?:\.{3}|…|truncated|cut|shortened)", re.IGNORECASE)
LINE_END = re.compile(
    r"[ \t]*+(?:\r?\n|\\++n|\Z|</|\\*+[\"'»”’」』】\])}]++[ \t]*+(?:[,}\])\\]|\r?\n|\Z))"
)
CHANCE = 8
"""Characters with which a text may go on alike by chance, beyond the end of a chunk."""
SENTENCE_ENDS = frozenset(".!?:;。！？")

Known = tuple[str, int]
"""A text that stands in the reduced prompt as it is, and its offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """A document that is searched, reduced; with what of it shows other documents as well."""

    index: int
    text: str
    content: str
    shared: tuple[int, int]
    """With so many of its characters another document begins, and ends, as well."""
    inner: Stretches
    """Its parts that are other documents."""


Candidate = tuple[_Chunk, Alignment]


def changed_chunks(
    contents: Sequence[str],
    texts: Sequence[str],
    places: Sequence[int | None],
    shown: ReducedText,
) -> dict[int, Alignment]:
    """Alignments with the reduced prompt, by index, of the documents that have no place in it.

    `texts` are the reduced contents, `places` the offsets of those that stand there as they are.
    """
    missing = [index for index, text in enumerate(texts)
               if places[index] is None and len(text) >= LEAST]  # fmt: skip
    if not missing:
        return {}
    known = [(text, place) for text, place in zip(texts, places, strict=True) if place is not None]
    distinct = list(set(texts))
    shared = dict(zip(distinct, shared_ends(distinct), strict=True))
    most = max(ALIGNED // len(missing), FEWEST)
    rest = _left(known, shown.text)
    candidates: list[Candidate] = []
    for index in missing:
        text = texts[index]
        inner = {other for other in known if other[0] in text}
        chunk = _Chunk(index=index, text=text, content=contents[index], shared=shared[text],
                       inner=_parts(text, {part for part, _ in inner}))  # fmt: skip
        free = _left(set(known) - inner, shown.text) if inner else rest
        candidates += [(chunk, alignment) for alignment in alignments(text, free, most)]
    kept = [
        (chunk, found)
        for chunk, alignment in _without_strays(candidates)
        for found in [_as_shown(chunk, alignment, shown)]
        if found is not None
    ]
    return _chosen(sorted(kept, key=_rank))


def _without_strays(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """The alignments without matches that lie in a larger one of another document.

    Behind the place where a document is cut, the next one may repeat some of its words. If it is
    the largest match of an alignment, the other document is what stands there.
    """
    stretches = sorted(
        (place, -size, number, chunk.index)
        for number, (chunk, alignment) in enumerate(candidates)
        for _, place, size in alignment.matches
    )
    strays: set[tuple[int, int]] = set()
    farthest: dict[int, tuple[int, int]] = {}  # the two stretches that end last, by document
    for place, minus_size, number, index in stretches:
        end = place - minus_size
        if any(
            other != index and reached >= end and reached - begin > CHANCE - minus_size
            for other, (reached, begin) in farthest.items()
        ):
            strays.add((number, place))
        if farthest.get(index, (0, 0))[0] < end:
            farthest[index] = (end, place)
        if len(farthest) > 2:
            del farthest[min(farthest, key=farthest.__getitem__)]
    for number, (chunk, alignment) in enumerate(candidates):
        largest = max(alignment.matches, key=lambda match: match[2])
        if (number, largest[1]) not in strays:
            kept = [match for match in alignment.matches if (number, match[1]) not in strays]
            yield chunk, Alignment(matches=tuple(kept))


def _left(known: Iterable[Known], text: str) -> str:
    """The prompt without what is known; a document is also searched over what lies within it."""
    taken = Stretches()
    taken.add_all((at, at + len(part)) for part, at in known)
    return taken.masked(text)


def _parts(text: str, inner: Iterable[str]) -> Stretches:
    parts = Stretches()
    for part in inner:
        at = text.find(part)
        parts.add(at, at + len(part))
    return parts


def _as_shown(chunk: _Chunk, alignment: Alignment, shown: ReducedText) -> Alignment | None:
    """The alignment, or the part before the place where the prompt cuts the document; or None."""
    found: Alignment | None = alignment
    longest = max(size for _, _, size in alignment.matches)
    size = len(chunk.text)
    if longest < SHOWN * size and alignment.characters < SHOWN_IN_PIECES * size:
        found = _cut(chunk, alignment, shown)
    if found is None or not _is_distinct(chunk, found):
        return None
    own = sum(chunk.inner.free(at, at + length) for at, _, length in found.matches)
    outside = chunk.inner.free(0, size)
    return found if own >= (LEAST if outside == size else max(LEAST, SHOWN * outside)) else None


def _cut(chunk: _Chunk, alignment: Alignment, shown: ReducedText) -> Alignment | None:
    """The beginning of a document, if the prompt breaks off where the document goes on."""
    begin, place, whole = alignment.matches[0]
    least = max(LEAST, chunk.shared[0] + OWN)
    sizes = range(whole, max(whole - CHANCE, least - 1), -1)
    if begin == 0 and any(_breaks_off(chunk.content, place, size, shown) for size in sizes):
        return Alignment(matches=((0, place, whole),))
    return None


def _breaks_off(content: str, place: int, size: int, shown: ReducedText) -> bool:
    """Whether the prompt ends a line after so many characters, and the document does not."""
    if OMISSION.match(shown.text, place + size):
        return True
    if shown.text[place + size - 1] in SENTENCE_ENDS:
        return False
    after = _offsets(content).behind(size)
    return not LINE_END.match(content, after) and bool(
        LINE_END.match(shown.source, shown.behind(place + size))
    )


@lru_cache(maxsize=1)
def _offsets(content: str) -> ReducedText:
    """Kept, since each alignment of a document asks for them several times."""
    return with_offsets(content)


def _chosen(candidates: Iterable[Candidate]) -> dict[int, Alignment]:
    """An alignment for each document, the first of those that share no matches."""
    chosen: dict[int, Alignment] = {}
    taken = Stretches()
    for chunk, alignment in candidates:
        free = sum(taken.free(place, place + size) for _, place, size in alignment.matches)
        least = min(alignment.characters - CHANCE, SHOWN * len(chunk.text))
        if chunk.index not in chosen and free >= least:
            chosen[chunk.index] = alignment
            taken.add_all(alignment.stretches())
    return chosen


def _rank(candidate: Candidate) -> tuple[float, int, int]:
    chunk, alignment = candidate
    missing = len(chunk.text) - alignment.characters
    return MISSING * missing - alignment.characters, chunk.index, alignment.start


def _is_distinct(chunk: _Chunk, alignment: Alignment) -> bool:
    """Whether it shows half of what no other document begins or ends with, or enough of it."""
    start, end = chunk.shared[0], len(chunk.text) - chunk.shared[1]
    own = sum(max(min(at + size, end) - max(at, start), 0) for at, _, size in alignment.matches)
    return 2 * own >= min(OWN, end - start)
