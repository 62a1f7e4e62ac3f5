"""Chooses the lines of a context that a sentence is held against: the premise of an entailment.

    >>> premises = Premises(["Cards take 5 days. Cash is instant. Call us.", "We are in Oslo."])
    >>> premises.of("Cash refunds are instant.", most_words=6)
    'Cash is instant. Call us.'

Lines are taken one after the other, each the one that adds most of the sentence's words, rare
words counting more, until nothing is added. The lines behind and before the first one follow while
there is room: they hold what its pronouns stand for. All keep their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum, log

from scorers.text.normalise import is_number, words
from scorers.text.sentences import sentences

MOST_WORDS = 72
"""Words of a premise: about 100 tokens, beside a sentence of 30."""
MOST_CHOSEN = 4
LEAST_ADDED = 0.06
"""Least share of the sentence's weight that another line must add."""
LONGEST_LINE = 48
"""Words of a line; a longer sentence, a table or a list without stops is cut into such pieces."""
STEM = 5


class Premises:
    """The lines of a context; `of` chooses among them. Time is linear in the context."""

    def __init__(self, contents: Sequence[str]) -> None:
        self.lines = [line for content in contents for line in lines_of(content)]
        self._stems = [frozenset(stems(line)) for line in self.lines]
        self._lengths = [len(line.split()) for line in self.lines]
        having = Counter(stem for line in self._stems for stem in line)
        self._weight = {
            stem: log(1 + len(self.lines) / (0.5 + count)) for stem, count in having.items()
        }

    def of(self, sentence: str, most_words: int = MOST_WORDS) -> str:
        """The premise of a sentence; empty if the context has no lines."""
        chosen = self._chosen(frozenset(stems(sentence)), most_words)
        first = chosen[0] if chosen else 0
        room = most_words - sum(self._lengths[place] for place in chosen)
        for place in (first, first + 1, first - 1, first + 2, first - 2):
            if 0 <= place < len(self.lines) and place not in chosen and room >= 0:
                room -= self._lengths[place]
                if room >= 0 or not chosen:
                    chosen.append(place)
        return " ".join(self.lines[place] for place in sorted(chosen))

    def _chosen(self, wanted: frozenset[str], room: int) -> list[int]:
        """The places of the lines that together hold most of the wanted words, best first."""
        # fsum: a set has another order in every process, and sums of floats differ by their order.
        whole = fsum(self._weight.get(stem, 0.0) for stem in wanted)
        chosen: list[int] = []
        while whole and len(chosen) < MOST_CHOSEN:
            added, place = max(
                (
                    (fsum(self._weight[stem] for stem in wanted & self._stems[at]), -at)
                    for at in range(len(self.lines))
                    if at not in chosen
                ),
                default=(0.0, 0),
            )
            if added < LEAST_ADDED * whole or (chosen and self._lengths[-place] > room):
                break
            chosen.append(-place)
            room -= self._lengths[-place]
            wanted -= self._stems[-place]
        return chosen


def lines_of(content: str) -> list[str]:
    """The sentences of a text in one line each, long ones in pieces."""
    lines = []
    for sentence in sentences(content):
        parts = sentence.text.split()
        for start in range(0, len(parts), LONGEST_LINE):
            lines.append(" ".join(parts[start : start + LONGEST_LINE]))
    return lines


def stems(text: str) -> list[str]:
    """The words of a text, cut to what their forms share; numbers are kept.

    >>> stems("Refunded 123456")
    ['refun', '123456']
    """
    return [word if is_number(word) else word[:STEM] for word in words(text)]
