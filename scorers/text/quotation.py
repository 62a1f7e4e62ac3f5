"""Checks a quotation against the chunk it is cited from, and against the other chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil

from ragvigil.model.record import Document
from scorers.text.alignment import Alignment, align, is_match
from scorers.text.chunk_text import ChunkText, chunk_text
from scorers.text.editing import edited
from scorers.text.normalise import is_unspaced, key, length, parts, words
from scorers.text.omission import changed_by_omission, denied_outside
from scorers.text.sentences import sentences

GAP = 250
"""Most characters that an ellipsis may leave out; beyond that the parts are two places."""
PLACES = 8
"""Places tried for the first part of a quotation with ellipses."""
ALIKE = 0.75
"""Share of a quotation's distinct words that a chunk must have to be worth aligning."""
RUN = 3
"""Least words of a stitched part (twice as many characters of an unspaced script)."""
STITCHED_SHARE = 0.8
"""Share of a quotation's words that true parts must cover for it to count as stitched."""
STITCHED_WORDS = 200
"""Words from the start of a quotation that are searched for true parts."""
KEPT = 0.5
"""Least share of a quotation's words that are the source's own, beside the author's insertions."""
PROVING_WORDS = 3
"""Least words of a quote that proves anything (an unspaced script's character is half a word)."""
STOPPED = re.compile(r"[.!?。！？।؟։]\W*$")
"""The end of a sentence, with closing quotes or brackets behind it."""
ASKING = ("?", "？", "؟", "\u037e")
"""Signs that end a question."""
FIRST_LETTER = re.compile(r"[^\W_]")
NEAR = 40
"""Characters between two runs of one place: so close, it is an edit and not a stitch."""


Placement = list[tuple[int, int]]
"""First and last word offset in a chunk of each part of a quotation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteMatch:
    """The result of checking one citation.

    `checked` is `quote`, `sentence`, `marker_only`, or `nothing` where the chunk's text is unknown.
    `label` is empty where the citation passes. `similarity` (0..1) is the share of words found in
    order in the cited chunk, None where unchecked. `other` names a chunk that fits better.
    `omitted` are words of the chunk that the quotation leaves out though they change the claim;
    `is_outside` where they stand beside the quotation, and not inside it.
    """

    checked: str
    label: str = ""
    similarity: float | None = None
    other: str = ""
    omitted: str = ""
    is_outside: bool = False


class ContextTexts(Mapping[str, ChunkText]):
    """The texts of a context by chunk id, prepared on first use; chunks without text are left out.

    Several chunks under one id count as one text.
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


def check_quote(quote: str, chunk_id: str, texts: ContextTexts) -> QuoteMatch:
    """Checks whether the cited chunk holds a quotation; if not, labels what is wrong with it.

    The labels are `altered_by_omission`, `quote_in_other_chunk`, `stitched` and `quote_not_found`.
    """
    quoted = words(quote)
    chunk = texts[chunk_id]
    if not quoted:
        return QuoteMatch(checked="marker_only")
    if key(quoted) in chunk.key:  # verbatim: one substring search settles it
        return _best(_exact_places(quoted, chunk), [quote], chunk)
    alignment = align(quoted, chunk)
    match = _near(quote, quoted, alignment, chunk) or _undone(quote, quoted, chunk)
    if match is not None:
        return match
    segments = [segment for part in parts(quote) if (segment := words(part))]
    similarity = alignment.similarity if alignment else 0.0
    other_chunks = [(name, text) for name, text in texts.all if name != chunk_id]
    distinct = frozenset(quoted)
    for name, text in other_chunks:  # cheap filters come before the search and the alignment
        if len(distinct & text.distinct) < ALIKE * len(distinct):
            continue
        if all(_may_lie(segment, text) for segment in segments) and holds(segments, text):
            return QuoteMatch(
                checked="quote", label="quote_in_other_chunk", similarity=similarity, other=name
            )
    stitched = is_stitched(quoted, [chunk, *(text for _, text in other_chunks)])
    label = "stitched" if stitched else "quote_not_found"
    return QuoteMatch(checked="quote", label=label, similarity=similarity)


def _near(
    quote: str, quoted: Sequence[str], alignment: Alignment | None, chunk: ChunkText
) -> QuoteMatch | None:
    """The match of a quotation that differs by harmless changes, or leaves something out."""
    if alignment is not None and is_match(quoted, alignment, chunk):
        return _best([[(alignment.start, alignment.end)]], [quote], chunk)
    return _with_gaps(quote, chunk, least=2)


def _with_gaps(quote: str, chunk: ChunkText, *, least: int) -> QuoteMatch | None:
    """The match of a quotation with ellipses, of at least so many parts."""
    split = [(part, segment) for part in parts(quote) if (segment := words(part))]
    segments = [segment for _, segment in split]
    if len(segments) >= least and (found := list(_placements(segments, chunk))):
        return _best(found, [part for part, _ in split], chunk)
    return None


def _undone(quote: str, quoted: Sequence[str], chunk: ChunkText) -> QuoteMatch | None:
    """The match without the author's insertions, or without the chunk's markup."""
    plain = chunk.rendered
    if plain is not None:
        match = _near(quote, quoted, align(quoted, plain), plain)
        if match is not None:
            return match
    if "[" not in quote or (bare := edited(quote)) == quote:
        return None
    kept = [word for part in parts(bare) for word in words(part)]
    if length(kept) < max(PROVING_WORDS, KEPT * length(quoted)):
        return None
    forms = (chunk, plain) if plain is not None else (chunk,)
    matches = (_with_gaps(bare, form, least=1) for form in forms)
    return next((match for match in matches if match is not None), None)


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quote, verbatim or with typos only.

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


def is_question(quote: str) -> bool:
    """Whether a quotation is one question: it asserts nothing that a chunk could hold.

    >>> is_question("How long do refunds take?"), is_question("Refunds take 9 days. Is that long?")
    (True, False)
    """
    stretch = quote.rstrip(" \t\"'”’»)」』")
    return stretch.endswith(ASKING) and len(sentences(stretch)) == 1


def _may_lie(segment: Sequence[str], chunk: ChunkText) -> bool:
    """Whether the chunk has enough of a segment's word pairs for an alignment to succeed.

    A cheap filter before `holds`: a typo breaks the pairs on both of its sides, and a third one
    where it splits a word.
    """
    least = len(segment) - 1 - 3 * (1 + len(segment) // 8)
    if least <= 0:
        return True
    return sum(f" {first} {other} " in chunk.key for first, other in pairwise(segment)) >= least


def holds(segments: Sequence[Sequence[str]], chunk: ChunkText) -> bool:
    """Whether the segments follow one another in one place of the chunk, at most GAP apart."""
    return next(_placements(segments, chunk), None) is not None


def _best(found: Iterable[Placement], split: Sequence[str], chunk: ChunkText) -> QuoteMatch:
    """The match of the first placement that leaves out nothing telling; else of the first."""
    altered = None
    for placement in found:
        match = _match_of(placement, split, chunk)
        if not match.label:
            return match
        altered = altered or match
    return altered or QuoteMatch(checked="quote", similarity=1.0)


def _match_of(placement: Placement, split: Sequence[str], chunk: ChunkText) -> QuoteMatch:
    gaps = zip(pairwise(placement), pairwise(split), strict=True)
    omitted = next((word for gap in gaps if (word := _omitted(*gap, chunk))), "")
    is_outside = not omitted
    begin, end = placement[0][0], placement[-1][1]
    if is_outside and length(chunk.words[begin:end]) >= PROVING_WORDS:
        omitted = denied_outside(chunk, begin, end)
    if not omitted:
        return QuoteMatch(checked="quote", similarity=1.0)
    return QuoteMatch(
        checked="quote", label="altered_by_omission", similarity=1.0, omitted=omitted,
        is_outside=is_outside,
    )  # fmt: skip


def _omitted(
    places: tuple[tuple[int, int], tuple[int, int]], beside: tuple[str, str], chunk: ChunkText
) -> str:
    """What an ellipsis between two parts of a quotation leaves out that changes the claim."""
    (_, begin), (end, _) = places
    before, behind = beside
    first = FIRST_LETTER.search(behind)
    shows_end = STOPPED.search(before[-8:]) is not None or not (first and first[0].islower())
    return changed_by_omission(chunk, begin, end, shows_end=shows_end)


def _exact_places(quoted: Sequence[str], chunk: ChunkText) -> Iterator[Placement]:
    """Yields the first PLACES places of words that the chunk repeats."""
    searched, start = key(quoted), -1
    for _ in range(PLACES):
        start = chunk.key.find(searched, start + 1)
        if start < 0:
            return
        begin = chunk.key.count(" ", 0, start)
        yield [(begin, begin + len(quoted))]


def _placements(segments: Sequence[Sequence[str]], chunk: ChunkText) -> Iterator[Placement]:
    """Yields places of the segments, one behind the other and at most GAP apart."""
    search = _Search(segments, chunk)
    begin = 0
    for _ in range(PLACES):  # the first segment may occur in several places
        first = search.place(0, begin, len(chunk.key)) if segments else None
        if first is None:
            return
        places = [first]
        for index in range(1, len(segments)):
            end = places[-1][1]
            place = search.place(index, end, end + GAP)
            if place is None:
                break
            places.append(place)
        else:
            yield _word_offsets(places, chunk)
        begin = first[0] + 1


class _Search:
    """Finds the segments of a quotation in a chunk, verbatim or with typos."""

    def __init__(self, segments: Sequence[Sequence[str]], chunk: ChunkText) -> None:
        self._segments = segments
        self._chunk = chunk
        self._near: dict[int, tuple[int, int] | None] = {}

    def place(self, index: int, begin: int, last: int) -> tuple[int, int] | None:
        """Start and end of a segment that starts between two offsets of the chunk's key.

        All four are offsets of the space in front of a word.
        """
        searched = key(self._segments[index])
        exact = self._chunk.key.find(searched, begin, last + len(searched))
        if exact >= 0:
            return exact, exact + len(searched) - 1
        if index not in self._near:
            self._near[index] = self._aligned(self._segments[index])
        near = self._near[index]
        return near if near is not None and begin <= near[0] <= last else None

    def _aligned(self, segment: Sequence[str]) -> tuple[int, int] | None:
        chunk = self._chunk
        alignment = align(segment, chunk)
        if alignment is None or not is_match(segment, alignment, chunk):
            return None
        start, end = (
            len(key(chunk.words[:place])) - 1 if place else 0
            for place in (alignment.start, alignment.end)
        )
        return start, end


def _word_offsets(places: Sequence[tuple[int, int]], chunk: ChunkText) -> Placement:
    """The word offsets of ascending places in the chunk's key; counts each word once."""
    offsets, count, last = [], 0, 0
    for start, end in places:
        first = count + chunk.key.count(" ", last, start)
        count = first + chunk.key.count(" ", start, end)
        last = end
        offsets.append((first, count))
    return offsets


def is_stitched(quoted: Sequence[str], chunks: Sequence[ChunkText]) -> bool:
    """Whether a quotation is joined from true parts of several places."""
    checked = quoted[:STITCHED_WORDS]
    spare = len(checked) - ceil(STITCHED_SHARE * len(checked))
    runs = list(_runs(checked, chunks, spare))
    covered = sum(run.words for run in runs)
    if len(runs) < 2 or covered < STITCHED_SHARE * len(checked):
        return False
    # Close runs of one chunk, in order, are one place with an edit between them.
    return any(
        before.chunk is not after.chunk or not 0 <= after.start - before.end <= NEAR
        for before, after in pairwise(runs)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Consecutive words of a quotation that a chunk repeats; `start` and `end` are in its key."""

    words: int
    chunk: ChunkText
    start: int
    end: int


def _runs(quoted: Sequence[str], chunks: Sequence[ChunkText], spare: int) -> Iterator[Run]:
    """Yields the longest true parts of a quotation, from left to right.

    Ends early when more than `spare` words lie outside of them: the share is then out of reach.
    """
    index, end, last = 0, 0, chunks[0]
    while index < len(quoted) and spare >= 0:
        size = _least(quoted, index)
        searched = key(quoted[index : index + size])
        best = None
        if length(quoted[index : index + size]) >= RUN:
            for chunk in (last, *chunks):  # the chunk of the run before comes first and wins ties
                if quoted[index] not in chunk.distinct or (best is not None and chunk is last):
                    continue  # most chunks lack the word: a set lookup is cheaper than a search
                if searched in chunk.key:
                    longest = _longest(quoted, index, size, chunk)
                    if best is None or longest > best[0]:
                        best = longest, chunk
        if best is None:
            index, spare = index + 1, spare - 1
            continue
        count, last = best
        searched = key(quoted[index : index + count])
        # Prefers the place behind the run before: only a jump counts as a stitch.
        start = last.key.find(searched, end)
        start = start if start >= 0 else last.key.find(searched)
        end = start + len(searched)
        yield Run(words=count, chunk=last, start=start, end=end)
        index += count


def _least(quoted: Sequence[str], index: int) -> int:
    return RUN * 2 if is_unspaced(quoted[index]) else RUN


def _longest(quoted: Sequence[str], index: int, size: int, chunk: ChunkText) -> int:
    """How many words from `index` on the chunk repeats in a row: binary search from `size` up."""
    low, high = size, len(quoted) - index
    while low < high:
        middle = (low + high + 1) // 2
        if key(quoted[index : index + middle]) in chunk.key:
            low = middle
        else:
            high = middle - 1
    return low
