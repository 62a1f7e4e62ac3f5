"""Shuffled: the same chunks in another order. The answer says the same."""

from __future__ import annotations

from random import Random

from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.perturb.source import NotPossible, Source, made


class Shuffled:
    """Makes `shuffled`."""

    name = "shuffled"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case with its chunks in an order that moves at least two of them."""
        if len(set(source.context)) < 2:
            raise NotPossible("the context has one chunk")
        order = list(source.context)
        while order == list(source.context):
            chance.shuffle(order)
        return made(source, self.name, order, Expects.SAME_ANSWER)
