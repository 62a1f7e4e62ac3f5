"""Counterfactual: the context says something else than the world; the answer must follow it.

A number or a name that the expected answer takes from its gold chunks is another in all of the
context, or the sentence that answers is denied. An answer from memory keeps the old fact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.perturb.conflict import DENIES, naming_conflict
from ragvigil.evaluation.perturb.denial import denied
from ragvigil.evaluation.perturb.facts import changed, facts, is_gone, replacements
from ragvigil.evaluation.perturb.source import NotPossible, Source, made
from scorers.golden import Fact, Gold


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The fact's old and new words, and what kind of fact it is."""

    kind: str
    old: tuple[str, ...]
    new: dict[str, str]

    def of(self, text: str) -> str:
        """The text with the new words."""
        return changed(text, self.new)

    @property
    def required(self) -> tuple[str, ...]:
        """Texts of which an answer that knows the new fact has one."""
        return tuple(dict.fromkeys((" ".join(self.new.values()), *self.new.values())))


class Counterfactual:
    """Makes `counterfactual`."""

    name = "counterfactual"

    def perturb(self, source: Source, chance: Random) -> Case:
        """The case with a changed fact: the answer states the new fact, or names a conflict."""
        ways = [self._replaced, self._denied]
        chance.shuffle(ways)
        for way in ways:
            case = way(source, chance)
            if case is not None:
                return case
        raise NotPossible(
            "no number or name that an answer cannot leave out can be changed everywhere, and no "
            "sentence denied"
        )

    def _replaced(self, source: Source, chance: Random) -> Case | None:
        change = change_of(source, chance)
        if change is None:
            return None
        case = made(
            source,
            self.name,
            [replace(chunk, text=change.of(chunk.text)) for chunk in source.context],
            Expects.FOLLOWS,
            required=(*change.required, *naming_conflict(source.everything)),
            change=change.kind,
        )
        return replace(
            case,
            gold=tuple(replace(chunk, text=change.of(chunk.text)) for chunk in source.gold),
            facts=tuple(replace(fact, text=change.of(fact.text)) for fact in source.case.facts),
            answer=change.of(source.case.answer),
        )

    def _denied(self, source: Source, chance: Random) -> Case | None:
        del chance  # there is one sentence to deny, and one way
        denial = denied(source.case, source.answer, [chunk.text for chunk in source.context])
        if denial is None:
            return None

        def deny(chunk: Gold) -> Gold:
            return replace(chunk, text=chunk.text.replace(denial.old, denial.new))

        case = made(
            source,
            self.name,
            [deny(chunk) for chunk in source.context],
            Expects.FOLLOWS,
            required=(*DENIES, *naming_conflict(source.everything)),
            change="negation",
        )
        return replace(
            case,
            gold=tuple(map(deny, source.gold)),
            facts=(Fact(text=denial.new),),
            answer=denial.new,
        )


def change_of(source: Source, chance: Random) -> Change | None:
    """A change of one fact after which no chunk of the context mentions the old; None without."""
    texts = [chunk.text for chunk in source.gold]
    known = facts(source.vital, texts, source.case.question)
    chance.shuffle(known)
    whole = source.everything
    for fact in known:
        new = replacements(fact, whole, chance)
        if new is None:
            continue
        after = changed(whole, new)
        if is_gone(new, after) and not is_gone(new.values(), after):
            return Change(kind=fact.kind, old=fact.words, new=dict(new))
    return None
