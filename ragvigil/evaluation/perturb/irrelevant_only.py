"""Irrelevant only: chunks that are like the question and do not answer it.

They are the best matches of BM25 that are neither gold nor have half of the answer's own words. The
right answer refuses.
"""

from __future__ import annotations

from random import Random

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.perturb.source import NotPossible, Source, unanswerable

FEWEST = 2


class IrrelevantOnly:
    """Makes `irrelevant_only`."""

    name = "irrelevant_only"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case with as many chunks as before, none of which was in its context."""
        del chance  # the best matches are taken
        most = max(FEWEST, len(source.context))
        chunks = source.corpus.negatives(
            source.case, source.gold, most=most, without=source.context
        )
        if len(chunks) < FEWEST:
            raise NotPossible("the corpus has too few other chunks that are like the question")
        return unanswerable(source, self.name, chunks)
