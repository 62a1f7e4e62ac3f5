"""Pairs the results of two runs by case and condition. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragvigil.evaluation.result import Condition, Result

CONDITION = "condition"
"""The dimension of the slices that are a condition."""
ANSWERED = "answered"
"""1 where the target answered, 0 where it failed: a case without an answer has no other value."""

PASSED = ":passed"
"""Ends the name of the share of cases that pass a rubric. A mean of shares can hide them: one bad
chunk of eight in every second case is a mean of 0.94."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One case under one condition in both runs."""

    base: Result
    new: Result

    @property
    def group(self) -> str:
        """Duplicates and paraphrases are one question; a perturbed case goes with its parent."""
        return self.new.group or self.new.case_id

    def values(self, rubric: str) -> tuple[float, float] | None:
        """The rubric's two values; None where it does not apply in one of them."""
        before, after = value(self.base, rubric), value(self.new, rubric)
        return None if before is None or after is None else (before, after)

    def slices(self) -> Iterable[tuple[str, str]]:
        """Dimension and value of every slice, as the new run has them."""
        if self.new.condition is not Condition.RETRIEVED:
            yield CONDITION, self.new.condition.value
        for dimension, names in self.new.slices.items():
            yield from ((dimension, name) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The pairs, and the keys (case, condition) that only one of the runs has."""

    pairs: tuple[Pair, ...]
    only_base: tuple[tuple[str, str], ...] = ()
    only_new: tuple[tuple[str, str], ...] = ()


def pair_up(base: Sequence[Result], new: Sequence[Result]) -> Pairing:
    """Pairs two runs, in the order of the new one."""
    before = {result.key: result for result in base}
    after = {result.key for result in new}
    return Pairing(
        pairs=tuple(
            Pair(base=before[result.key], new=result) for result in new if result.key in before
        ),
        only_base=tuple(key for key in before if key not in after),
        only_new=tuple(result.key for result in new if result.key not in before),
    )


def value(result: Result, rubric: str) -> float | None:
    """A rubric's value in a result; `ANSWERED` is known of every result.

    With `PASSED` after its name it is 1 where the value is not under the rubric's bar, 0 where it
    is.
    """
    if rubric == ANSWERED:
        return float(not result.error)
    if rubric.endswith(PASSED):
        name = rubric.removesuffix(PASSED)
        return None if result.values.get(name) is None else float(name not in result.failing)
    return result.values.get(rubric)


def measured(results: Iterable[Result]) -> list[str]:
    """The rubrics that apply to at least one result, by name; `ANSWERED` is one."""
    names = {
        name for result in results for name, known in result.values.items() if known is not None
    }
    return sorted(names | {ANSWERED})


def failed(results: Iterable[Result]) -> list[str]:
    """The shares of passing cases that can differ: of rubrics with a bar and values between."""
    names: set[str] = set()
    graded: set[str] = set()
    for result in results:
        names.update(result.failing)
        graded.update(name for name, known in result.values.items() if known not in (None, 0, 1))
    return sorted(f"{name}{PASSED}" for name in names & graded)


def in_overall(pairs: Sequence[Pair], rubric: str) -> list[Pair]:
    """The pairs that speak for a rubric as a whole: those of retrieval as in production.

    Only a rubric that no such pair has, as what perturbed cases show, is taken from all.
    """
    having = [pair for pair in pairs if value(pair.base, rubric) is not None]
    own = [pair for pair in having if pair.base.condition is Condition.RETRIEVED]
    return own or having


def by_slice(pairs: Sequence[Pair]) -> Mapping[tuple[str, str], list[Pair]]:
    """The pairs of every slice; a slice that holds all of them says nothing of its own."""
    slices: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        for name in pair.slices():
            slices.setdefault(name, []).append(pair)
    return {name: inside for name, inside in slices.items() if len(inside) < len(pairs)}
