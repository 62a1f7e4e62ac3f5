"""Finds the sentence that a marker supports."""

from __future__ import annotations

import re
from bisect import bisect_right

# A single leading set of characters lets the search skip everything else fast; only the first of
# several stops is tried, so that a row of them is read once.
SENTENCE_END = re.compile(
    r"[.!?…。！？।؟\n](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*[\"”»’)\]]*(?=\s|$)|"
    r"(?<=[。！？।؟])[。！？।؟]*[」』”\"]*|(?<=\n)(?:\s*\n|(?=\s*[-*•\d])))"
)


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
