"""Perturbs the cases of a set, and counts what was not possible and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.perturb.conflicting_versions import ConflictingVersions
from ragvigil.evaluation.perturb.corpus import Corpus
from ragvigil.evaluation.perturb.counterfactual import Counterfactual
from ragvigil.evaluation.perturb.injection import Injection
from ragvigil.evaluation.perturb.irrelevant_only import IrrelevantOnly
from ragvigil.evaluation.perturb.missing_gold import MissingGold
from ragvigil.evaluation.perturb.padded import Padded
from ragvigil.evaluation.perturb.shuffled import Shuffled
from ragvigil.evaluation.perturb.source import NotPossible, Perturbs, Source, source_of
from ragvigil.evaluation.perturb.stale_version import StaleVersion
from ragvigil.evaluation.perturb.truncated import Truncated

KINDS: Mapping[str, Perturbs] = {
    kind.name: kind
    for kind in (
        Counterfactual(),
        Injection(),
        MissingGold(),
        IrrelevantOnly(),
        ConflictingVersions(),
        StaleVersion(),
        Shuffled(),
        Padded(),
        Truncated(),
    )
}
"""Every kind of perturbation by its name."""
ALL_KINDS = "every kind"
"""Stands for the kind where a case can be perturbed in no way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbed:
    """The perturbed cases, and how many were not possible by kind and reason."""

    cases: tuple[Case, ...]
    not_possible: Mapping[tuple[str, str], int] = field(default_factory=dict)


def perturb_set(
    cases: Iterable[Case], corpus: Corpus, kinds: Sequence[str] = tuple(KINDS), *, seed: int
) -> Perturbed:
    """Makes each kind of each case; the same seed makes the same cases, whatever else is made.

    Raises KeyError for an unknown kind.
    """
    made: list[Case] = []
    not_possible: Counter[tuple[str, str]] = Counter()
    for case in cases:
        try:
            source = source_of(case, corpus)
        except NotPossible as error:
            not_possible[ALL_KINDS, str(error)] += 1
            continue
        for kind in kinds:
            try:
                made.append(perturb(source, KINDS[kind], seed=seed))
            except NotPossible as error:
                not_possible[kind, str(error)] += 1
    return Perturbed(cases=tuple(made), not_possible=dict(not_possible))


def perturb(source: Source, kind: Perturbs, *, seed: int) -> Case:
    """One perturbed case, which says what made it. Raises NotPossible."""
    case = kind.perturb(source, Random(f"{seed} {kind.name} {source.case.case_id}"))
    assert case.perturbation is not None
    return replace(case, perturbation=replace(case.perturbation, seed=seed))
