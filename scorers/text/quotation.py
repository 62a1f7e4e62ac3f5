"""Is a quotation in the chunk that it is cited from, and where else do its words lie?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil

from ragvigil.model.record import Document
from scorers.text.alignment import align, is_found
from scorers.text.chunk_text import ChunkText, chunk_text
from scorers.text.normalise import is_unspaced, key, length, parts, words

GAP = 250
"""Characters that an ellipsis may leave out; more is another place."""
PLACES = 8
ALIKE = 0.75
"""Share of a quotation's distinct words that a chunk must have to be worth aligning."""
RUN = 3
"""Words that a stitched part has at least (twice as many characters of an unspaced script)."""
STITCHED_SHARE = 0.8
STITCHED_WORDS = 200
PROVING_WORDS = 3
"""Words of a quote that proves anything (a character of an unspaced script is half a word)."""
NEAR = 40
"""Characters by which two runs of one place lie apart: an edit between them, not a stitch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check says: `label` is empty where it passes, `other` names a better chunk.

    `checked` is quote, sentence, marker_only, or nothing where the chunk's text is unknown.
    `similarity` is the share of words found in order in the cited chunk, None where unchecked.
    """

    checked: str
    label: str = ""
    similarity: float | None = None
    other: str = ""


class ContextTexts(Mapping[str, ChunkText]):
    """The texts of a context by chunk id, prepared when first read; hidden texts are left out.

    Several chunks under one id are read as one text.
    """

    def __init__(self, context: Sequence[Document]) -> None:
        self._contents: dict[str, str] = {}
        for chunk in context:
            if chunk.content:
                before = self._contents.get(chunk.chunk_id)
                joined = f"{before}\n\n{chunk.content}" if before else chunk.content
                self._contents[chunk.chunk_id] = joined

    def __getitem__(self, chunk_id: str) -> ChunkText:
        return chunk_text(self._contents[chunk_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._contents)

    def __len__(self) -> int:
        return len(self._contents)

    @cached_property
    def all(self) -> list[tuple[str, ChunkText]]:
        """Every text with its chunk id, in the order of the context."""
        return [(chunk_id, chunk_text(content)) for chunk_id, content in self._contents.items()]


def check_quote(quote: str, chunk_id: str, texts: ContextTexts) -> Finding:
    """Whether the cited chunk holds the quotation; if not, what was done to it."""
    quoted = words(quote)
    chunk = texts[chunk_id]
    if not quoted:
        return Finding(checked="marker_only")
    if key(quoted) in chunk.key:
        return Finding(checked="quote", similarity=1.0)
    segments = [segment for part in parts(quote) if (segment := words(part))]
    alignment = align(quoted, chunk)
    is_near = alignment is not None and is_found(quoted, alignment, chunk)
    if is_near or (len(segments) > 1 and holds(segments, chunk)):
        return Finding(checked="quote", similarity=1.0)
    similarity = alignment.similarity if alignment else 0.0
    other_chunks = [(name, text) for name, text in texts.all if name != chunk_id]
    distinct = frozenset(quoted)
    for name, text in other_chunks:
        if len(distinct & text.distinct) < ALIKE * len(distinct):
            continue
        if all(_may_lie(segment, text) for segment in segments) and holds(segments, text):
            return Finding(
                checked="quote", label="quote_in_other_chunk", similarity=similarity, other=name
            )
    stitched = is_stitched(quoted, [chunk, *(text for _, text in other_chunks)])
    label = "stitched" if stitched else "quote_not_found"
    return Finding(checked="quote", label=label, similarity=similarity)


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quote, verbatim or but for harmless slips of a key.

    Ellipses may leave something out. A quote of one or two words proves nothing unless it is
    the whole text.

    >>> is_quoted("refunds take 5 days", ["Card refunds take 5 days."])
    True
    >>> is_quoted("refunds take 9 days", ["Card refunds take 5 days."])
    False
    """
    segments = [segment for part in parts(quote) if (segment := words(part))]
    if not segments:
        return False
    quoted = [word for segment in segments for word in segment]
    chunks = (chunk_text(text) for text in texts)
    if length(quoted) < PROVING_WORDS:
        return any(key(quoted) == chunk.key for chunk in chunks)
    distinct = frozenset(quoted)
    return any(
        len(distinct & chunk.distinct) >= ALIKE * len(distinct) and holds(segments, chunk)
        for chunk in chunks
    )


def _may_lie(segment: Sequence[str], chunk: ChunkText) -> bool:
    """Whether the chunk has so many of the segment's pairs of words that aligning is worth it.

    A harmless slip breaks the pairs on both of its sides, and one more where a word is parted.
    """
    least = len(segment) - 1 - 3 * (1 + len(segment) // 8)
    if least <= 0:
        return True
    return sum(f" {first} {other} " in chunk.key for first, other in pairwise(segment)) >= least


def holds(segments: Sequence[Sequence[str]], chunk: ChunkText) -> bool:
    """Whether the segments follow one another in one place of the chunk, ellipses between them."""
    begin = 0
    for _ in range(PLACES):  # the first words may stand in several places
        first = _place(segments[0], chunk, begin) if segments else None
        if first is None:
            return False
        if _follow(segments[1:], chunk, first[1]):
            return True
        begin = first[0] + 1
    return False


def _follow(segments: Sequence[Sequence[str]], chunk: ChunkText, end: int) -> bool:
    for segment in segments:
        place = _place(segment, chunk, end)
        if place is None or place[0] > end + GAP:
            return False
        end = place[1]
    return True


def _place(segment: Sequence[str], chunk: ChunkText, begin: int) -> tuple[int, int] | None:
    """Where a segment lies in the chunk's key, at or after `begin`, slips of a key allowed."""
    searched = key(segment)
    exact = chunk.key.find(searched, begin)
    if exact >= 0:
        return exact, exact + len(searched) - 1
    alignment = align(segment, chunk)
    if alignment is None or not is_found(segment, alignment, chunk):
        return None
    start = len(" ".join(chunk.words[: alignment.start]))
    if start < begin:
        return None
    return start, len(" ".join(chunk.words[: alignment.end]))


def is_stitched(quoted: Sequence[str], chunks: Sequence[ChunkText]) -> bool:
    """Whether the quotation is made of true stretches from several places."""
    checked = quoted[:STITCHED_WORDS]
    spare = len(checked) - ceil(STITCHED_SHARE * len(checked))
    runs = list(_runs(checked, chunks, spare))
    covered = sum(run.words for run in runs)
    if len(runs) < 2 or covered < STITCHED_SHARE * len(checked):
        return False
    return any(
        before.chunk is not after.chunk or not 0 <= after.start - before.end <= NEAR
        for before, after in pairwise(runs)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Words of a quotation that stand in a row in a chunk, and where in its key."""

    words: int
    chunk: ChunkText
    start: int
    end: int


def _runs(quoted: Sequence[str], chunks: Sequence[ChunkText], spare: int) -> Iterator[Run]:
    """The longest true stretches of a quotation, from its beginning on.

    Ends early where more words than `spare` lie in none of them.
    """
    index, end, last = 0, 0, chunks[0]
    while index < len(quoted) and spare >= 0:
        size = _least(quoted, index)
        searched = key(quoted[index : index + size])
        best = None
        if length(quoted[index : index + size]) >= RUN:
            for chunk in (last, *chunks):
                if quoted[index] not in chunk.distinct or (best is not None and chunk is last):
                    continue  # most chunks lack the word: a look-up is cheaper than a search
                if searched in chunk.key:
                    longest = _longest(quoted, index, size, chunk)
                    if best is None or longest > best[0]:
                        best = longest, chunk
        if best is None:
            index, spare = index + 1, spare - 1
            continue
        count, last = best
        searched = key(quoted[index : index + count])
        start = last.key.find(searched, end)
        start = start if start >= 0 else last.key.find(searched)
        end = start + len(searched)
        yield Run(words=count, chunk=last, start=start, end=end)
        index += count


def _least(quoted: Sequence[str], index: int) -> int:
    return RUN * 2 if is_unspaced(quoted[index]) else RUN


def _longest(quoted: Sequence[str], index: int, size: int, chunk: ChunkText) -> int:
    """How many words from `index` on stand in a row in the chunk; the first `size` do."""
    low, high = size, len(quoted) - index
    while low < high:
        middle = (low + high + 1) // 2
        if key(quoted[index : index + middle]) in chunk.key:
            low = middle
        else:
            high = middle - 1
    return low
