"""Sentences of a text in many scripts, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# A full stop ends a sentence before a space, unless it follows one letter (an initial), a known
# abbreviation. Markers and closing quotes behind it belong to it.
_TAIL = r"(?:[\"'”’»)\]」』]|\s*\[[^\[\]\n]{1,80}\]|\s*【[^】\n]{1,80}】|[¹²³⁴-⁹⁰])*"
_STOPS = ".!?…‽"
_FULL_STOPS = "。！？｡।॥؟۔։።"
_END = re.compile(  # begins with one set of characters, which `re` searches fast
    rf"[{_STOPS}{_FULL_STOPS}\n](?:(?<=[{_STOPS}])(?P<more>[{_STOPS}]*){_TAIL}(?=\s|$)"
    rf"|(?<=[{_FULL_STOPS}]){_TAIL}"
    r"|(?<=\n)\s*\n|(?<=\n)(?=\s*(?:[-*•·–]|\d+[.)]|\|)\s))"
)
_LONGEST_SHORT = 10
_SHORT = frozenset({
    "e.g", "i.e", "z.B", "d.h", "u.a", "bzw", "ca", "etc", "vs", "cf", "al", "approx", "Mr", "Mrs",
    "Ms", "Dr", "Prof", "Sr", "Jr", "St", "No", "Nr", "Art", "Abs", "Fig", "Vol", "Inc", "Ltd",
    "Co", "Corp", "p", "pp", "Sra", "Dra", "Mme", "Mlle", "fig", "núm", "г", "ул", "т.е", "т.д",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its character offsets in the text."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[Sentence, ...]:
    """Sentences in order, each with the markers that stand behind its full stop.

    The last few texts are remembered: several scorers ask for the sentences of one answer.

    >>> [one.text for one in sentences("It costs 3.50 EUR. [ship-02] Ask Dr. Roe! 退款需要5天。好")]
    ['It costs 3.50 EUR. [ship-02]', 'Ask Dr. Roe!', '退款需要5天。', '好']
    """
    return tuple(Sentence(start, end, text[start:end]) for start, end in places(text))


def places(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, without the space around it."""
    for begin, end in cuts(text):
        bare = text[begin:end].strip()
        if bare:
            start = text.index(bare[0], begin)
            yield start, start + len(bare)


def cuts(text: str) -> Iterator[tuple[int, int]]:
    """Where the text is cut into sentences; the space between them belongs to the one behind it."""
    begin = 0
    for match in _END.finditer(text):
        stop = match.start()
        is_one = text[stop] == "." and not match["more"]
        if is_one and _is_short(text[max(begin, stop - _LONGEST_SHORT) : stop]):
            continue
        yield begin, match.end()
        begin = match.end()
    yield begin, len(text)


def _is_short(before: str) -> bool:
    """Whether a full stop behind these characters belongs to an initial or an abbreviation."""
    words = before.replace("(", " ").split()
    if not words or not before.endswith(words[-1]):
        return False
    return words[-1] in _SHORT or (len(words[-1]) == 1 and words[-1].isalpha())
