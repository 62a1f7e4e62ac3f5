"""Finds the sentence that a marker supports, and the quotation beside the marker."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

# A single leading set of characters lets the search skip everything else fast.
SENTENCE_END = re.compile(
    r"[.!?…。！？।؟\n](?:(?<=[.!?…])[.!?…]*[\"”»’)\]]*(?=\s|$)|"
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
BEHIND = re.compile(r"\s*[:,–—-]?\s*")


def sentence_ends(answer: str) -> list[int]:
    """The offsets where sentences end, in order; the end of the answer is one of them."""
    ends = [match.end() for match in SENTENCE_END.finditer(answer)]
    if not ends or ends[-1] != len(answer):
        ends.append(len(answer))
    return ends


def claim_of(answer: str, ends: Sequence[int], start: int) -> tuple[int, int]:
    """The sentence that a row of markers at `start` supports: the row is in it or behind it."""
    index = bisect_right(ends, start)
    begin = ends[index - 1] if index else 0
    if not answer[begin:start].strip() and index:
        index -= 1  # the markers are behind the full stop
        begin = ends[index - 1] if index else 0
        return _trim(answer, begin, ends[index])
    end = ends[min(bisect_left(ends, start), len(ends) - 1)]
    return _trim(answer, begin, end)


def _trim(answer: str, begin: int, end: int) -> tuple[int, int]:
    text = answer[begin:end]
    return begin + len(text) - len(text.lstrip()), begin + len(text.rstrip())


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
    chosen: list[Quotation | None] = []
    previous_end = 0
    for (start, end), claim in groups:
        before = [q for q in quotes if q[1] <= start and q[0] >= previous_end and q[1] > claim[0]]
        around = [q for q in quotes if q[0] < start and q[1] >= end]
        longest = max(before, key=lambda quote: len(quote[2]), default=None)
        chosen.append(longest or next(iter(around), None))
        previous_end = end
    used = {quote[0] for quote in chosen if quote is not None}
    for index, (row, _) in enumerate(groups):
        if chosen[index] is None:
            behind = _right_behind(quotes, answer, row[1])
            chosen[index] = behind if behind is not None and behind[0] not in used else None
    return [quote[2] if quote is not None else None for quote in chosen]


def _right_behind(quotes: Sequence[Quotation], answer: str, end: int) -> Quotation | None:
    gap = BEHIND.match(answer, end)
    place = gap.end() if gap else end
    return next((quote for quote in quotes if quote[0] == place), None)
