"""Finds the sentence that a marker supports, and the quotation beside the marker."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

# A single leading set of characters lets the search skip everything else fast; only the first of
# several stops is tried, so that a row of them is read once.
SENTENCE_END = re.compile(
    r"[.!?…。！？।؟\n](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*[\"”»’)\]]*(?=\s|$)|"
    r"(?<=[。！？।؟])[。！？।؟]*[」』”\"]*|(?<=\n)(?:\s*\n|(?=\s*[-*•\d])))"
)
QUOTATION = re.compile(
    r"“([^“”]{2,2000})”|„([^„“”\"]{2,2000})[“”\"]|«([^«»]{2,2000})»|»([^«»]{2,2000})«|"
    r"「([^「」]{2,2000})」|『([^『』]{2,2000})』|‹([^‹›]{2,2000})›|\"([^\"]{2,2000})\"|"
    r"‘([^‘’]{8,2000})’(?!\w)"
)
Quotation = tuple[int, int, str]
Row = tuple[tuple[int, int], tuple[int, int]]
"""The offsets of a row of markers, and of the sentence that it supports."""
MIN_WORDS = 3
MIN_UNSPACED = 6
BEHIND = re.compile(r"\s*+[:,–—-]?\s*+")


class Sentences:
    """The sentences of an answer, by the place of a marker."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._ends = sentence_ends(answer)
        self._bare: dict[int, tuple[int, int]] = {}

    def claim_at(self, start: int) -> tuple[int, int]:
        """The sentence that a row of markers at `start` supports: the row is in it or behind it."""
        index = min(bisect_right(self._ends, start), len(self._ends) - 1)
        begin, end = self._without_space(index)
        is_behind = begin >= start and index > 0  # a full stop: nothing but space lies between
        return self._without_space(index - 1) if is_behind else (begin, end)

    def _without_space(self, index: int) -> tuple[int, int]:
        """A sentence's offsets without the space around it; kept, since many markers may ask."""
        if index not in self._bare:
            begin, end = self._ends[index - 1] if index else 0, self._ends[index]
            text = self._answer[begin:end]
            bare = begin + len(text) - len(text.lstrip()), begin + len(text.rstrip())
            self._bare[index] = bare
        return self._bare[index]


def sentence_ends(answer: str) -> list[int]:
    """The offsets where sentences end, in order; the end of the answer is one of them."""
    ends = [match.end() for match in SENTENCE_END.finditer(answer)]
    if not ends or ends[-1] != len(answer):
        ends.append(len(answer))
    return ends


def quotations(answer: str) -> list[tuple[int, int, str]]:
    """Quotations worth checking: start, end, and the text inside the quotation marks."""
    quotes = []
    for match in QUOTATION.finditer(answer):
        text = next(group for group in match.groups() if group is not None)
        if _is_quote(text):
            quotes.append((*match.span(), text.strip()))
    return quotes


def _is_quote(text: str) -> bool:
    """At least three words, or six characters of a script without spaces; less is emphasis."""
    words = text.split()
    if len(words) >= MIN_WORDS:
        return True
    return len(text) >= MIN_UNSPACED and sum(ord(c) > 0x2E7F for c in text) > len(text) / 2


def quotes_of_groups(
    quotes: Sequence[Quotation], answer: str, groups: Sequence[Row]
) -> list[str | None]:
    """For each row of markers the quotation that it supports; None if there is none.

    It is in front of the row, behind the previous row and in the row's sentence; else around the
    row; else right behind the row (`[1]: "…"`), unless it belongs to the next row.
    """
    if not quotes:
        return [None] * len(groups)
    # In order and without overlap, so that those of a place are found by bisection.
    starts, ends = [quote[0] for quote in quotes], [quote[1] for quote in quotes]
    chosen: list[Quotation | None] = []
    previous_end = 0
    for (start, end), claim in groups:
        first = max(bisect_left(starts, previous_end), bisect_right(ends, claim[0]))
        before = quotes[first : bisect_right(ends, start)]
        around = bisect_left(ends, end)
        if before:
            chosen.append(max(before, key=lambda quote: len(quote[2])))
        elif around < len(quotes) and starts[around] < start:
            chosen.append(quotes[around])
        else:
            chosen.append(None)
        previous_end = end
    used = {quote[0] for quote in chosen if quote is not None}
    by_start = {quote[0]: quote for quote in quotes if quote[0] not in used}
    for index, (row, _) in enumerate(groups):
        if chosen[index] is None:
            gap = BEHIND.match(answer, row[1])
            chosen[index] = by_start.get(gap.end() if gap else row[1])
    return [quote[2] if quote is not None else None for quote in chosen]
