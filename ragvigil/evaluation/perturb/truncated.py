"""Truncated: the gold chunk is cut before it states what answers. The right answer refuses.

What is left has none of the numbers and names that the answer takes from it, and at most a quarter
of the words that the answer adds to the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.perturb.corpus import bears, own_words
from ragvigil.evaluation.perturb.facts import facts
from ragvigil.evaluation.perturb.source import NotPossible, Source, unanswerable
from scorers.golden import Gold
from scorers.text.normalise import is_number, words

FEWEST_WORDS = 8
"""Least words that a cut chunk keeps: with fewer it is a missing one."""
MOST_LEFT = 0.25


class Truncated:
    """Makes `truncated`."""

    name = "truncated"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case with every gold chunk cut, in the middle of a sentence or not."""
        del chance  # the cut is where the answer begins
        own = own_words(source.case)
        if not own:
            raise NotPossible("the answer adds no word to the question")
        if any(bears(source.case, chunk.text) for chunk in source.others):
            raise NotPossible("another chunk of the context may answer too")
        cut = _cuts(source.gold, own, _telling(source, own))
        return unanswerable(source, self.name, [cut.get(each, each) for each in source.context])


def _telling(source: Source, own: frozenset[str]) -> frozenset[str]:
    """The words of the numbers and names that the answer takes from the gold chunks."""
    texts = [chunk.text for chunk in source.gold]
    known = facts(source.answer, texts, source.case.question)
    names = (word for fact in known for word in words(fact.text))
    return frozenset((*names, *filter(is_number, own)))


def _cuts(
    gold: Sequence[Gold], own: frozenset[str], telling: frozenset[str]
) -> Mapping[Gold, Gold]:
    left: set[str] = set()
    return {chunk: _cut(chunk, own, telling, left) for chunk in gold}


def _cut(chunk: Gold, own: frozenset[str], telling: frozenset[str], left: set[str]) -> Gold:
    """The chunk up to the first word that tells, or that is one of the answer's own too many.

    Adds to `left`, which has the answer's own words that all chunks together keep.
    """
    kept: list[str] = []
    for part in chunk.text.split(" "):
        new = own.intersection(words(part))
        if not telling.isdisjoint(words(part)) or len(left | new) > MOST_LEFT * len(own):
            break
        left |= new
        kept.append(part)
    else:
        raise NotPossible("a gold chunk has too few of the answer's words")
    text = " ".join(kept)
    if len(words(text)) < FEWEST_WORDS:
        raise NotPossible("a gold chunk begins with what answers")
    return replace(chunk, text=text)
