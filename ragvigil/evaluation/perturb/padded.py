"""Padded: chunks before and behind that do not answer. The answer says the same."""

from __future__ import annotations

from random import Random

from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.perturb.source import NotPossible, Source, made

FEWEST, MOST = 2, 8


class Padded:
    """Makes `padded`."""

    name = "padded"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case with up to eight more chunks around its own, whose order stays."""
        chunks = list(
            source.corpus.negatives(source.case, source.gold, most=MOST, without=source.context)
        )
        if len(chunks) < FEWEST:
            raise NotPossible("the corpus has too few other chunks that are like the question")
        chance.shuffle(chunks)
        half = len(chunks) // 2
        context = (*chunks[:half], *source.context, *chunks[half:])
        return made(source, self.name, context, Expects.SAME_ANSWER)
