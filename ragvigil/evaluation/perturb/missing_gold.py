"""Missing gold: the context as it was, without the chunks that answer. The right answer refuses."""

from __future__ import annotations

from random import Random

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.perturb.corpus import bears
from ragvigil.evaluation.perturb.source import NotPossible, Source, unanswerable


class MissingGold:
    """Makes `missing_gold`."""

    name = "missing_gold"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case without its gold, and without other chunks that may answer."""
        del chance  # nothing is chosen
        left = [chunk for chunk in source.others if not bears(source.case, chunk.text)]
        if not left:
            raise NotPossible("the context has only chunks that may answer")
        return unanswerable(source, self.name, left)
