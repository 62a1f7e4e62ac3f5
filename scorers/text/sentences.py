"""Splits text of many scripts into sentences, with character offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

# A full stop ends a sentence before a space, unless it follows one letter (an initial) or a known
# abbreviation. Up to 16 markers and closing quotes behind it belong to the sentence, and only the
# first of several stops is tried: both bounds keep the time linear in any text.
_TAIL = r"(?:[\"'”’»)\]」』]|\s*\[[^\[\]\n]{1,80}\]|\s*【[^】\n]{1,80}】|[¹²³⁴-⁹⁰]){0,16}"
_STOPS = ".!?…‽"
_FULL_STOPS = "。！？｡।॥؟۔։።"
_END = re.compile(  # begins with one set of characters, which `re` searches fast
    rf"[{_STOPS}{_FULL_STOPS}\n](?:(?<=[{_STOPS}])(?<![{_STOPS}]{{2}})"
    rf"(?P<more>[{_STOPS}]*){_TAIL}(?=\s|$)"
    rf"|(?<=[{_FULL_STOPS}]){_TAIL}"
    r"|(?<=\n)\s*\n|(?<=\n)(?=\s*(?:[-*•·–]|\d+[.)]|\|)\s))"
)
_LONGEST_SHORT = 10
_SHORT = frozenset({
    "e.g", "i.e", "z.B", "d.h", "u.a", "bzw", "ca", "etc", "vs", "cf", "al", "approx", "Mr", "Mrs",
    "Ms", "Dr", "Prof", "Sr", "Jr", "St", "No", "Nr", "Art", "Abs", "Fig", "Vol", "Inc", "Ltd",
    "Co", "Corp", "p", "pp", "Sra", "Dra", "Mme", "Mlle", "fig", "núm", "г", "ул", "т.е", "т.д",
})  # fmt: skip


_UNWORDED = re.compile(r"\W*")


class Sentence(NamedTuple):
    """A sentence and its character offsets in the text.

    A NamedTuple, because a text of full stops has as many as it has characters.
    """

    start: int
    end: int
    text: str


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences in order, each with the markers behind its full stop.

    Caches the last 512 texts: several scorers read the sentences of one answer.

    >>> text = "It costs 3.50 EUR. [ship-02] Ask Dr. Roe! 退款需要5天。好"
    >>> [sentence.text for sentence in sentences(text)]
    ['It costs 3.50 EUR. [ship-02]', 'Ask Dr. Roe!', '退款需要5天。', '好']
    """
    return tuple([Sentence(start, end, text[start:end]) for start, end in places(text)])


def places(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each sentence, without the space around it."""
    for begin, end in cuts(text):
        bare = text[begin:end].strip()
        if bare:
            start = text.index(bare[0], begin)
            yield start, start + len(bare)


def ending(sentence: str) -> str:
    """What stands behind the last word of a sentence, from right to left.

    Read from the end: searched from the left, `\\W*$` reads a row of signs once for each of them.

    >>> ending("Is it so?)"), ending("Yes")
    (')?', '')
    """
    behind = _UNWORDED.match(sentence[::-1])
    return behind[0] if behind else ""


def cuts(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence; the space between two belongs to the second."""
    spans = []
    begin = 0
    for match in _END.finditer(text):
        stop, end = match.span()
        if text[stop] == "." and text[stop - 1].isalpha() and not match["more"]:
            before = text[max(begin, stop - _LONGEST_SHORT) : stop]
            if _is_short(before):
                continue
        spans.append((begin, end))
        begin = end
    spans.append((begin, len(text)))
    return spans


def _is_short(before: str) -> bool:
    """Whether a full stop after these characters belongs to an initial or an abbreviation."""
    last = before.rpartition(" ")[2]
    if not last.isalpha():  # rare; an all-letter word needs no further splitting
        words = before.replace("(", " ").split()
        if not words or not before.endswith(words[-1]):
            return False
        last = words[-1]
    return last in _SHORT or (len(last) == 1 and last.isalpha())
