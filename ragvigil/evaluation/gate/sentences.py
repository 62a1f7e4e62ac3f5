"""A gate in sentences: why it stops a release, or cannot say. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ragvigil.evaluation.gate.compare import Comparison, Verdict
from ragvigil.evaluation.gate.decide import FailedCase, Floor, Gate, State
from ragvigil.evaluation.gate.fixes import not_fixed, note
from ragvigil.evaluation.gate.layers import layer_of, part_of
from ragvigil.evaluation.gate.pairs import PASSED
from ragvigil.model.figures import counted, in_points, listed, points, score, sentence
from ragvigil.model.score import Layer

TITLES = {
    State.PASS: "nothing is worse beyond its limit",
    State.WORSE: "worse",
    State.CANNOT_SAY: "too few cases to say",
}
MOST_NAMES = 5
FURTHER, MOST_CHANCE = 1.5, 0.05
"""A fall is mostly in a slice where it is so many times the whole's, and hardly chance there."""
Layers = Mapping[str, Layer]


def title(gate: Gate) -> str:
    """The verdict in a line."""
    return f"ragvigil gate: {TITLES[gate.state]} ({counted(len(gate.pairing.pairs), 'case')})"


def reasons(gate: Gate, layers: Layers) -> list[str]:
    """Why the state is what it is, the gravest first; nothing for a pass."""
    return [sentence(reason) for reason in _reasons(gate, layers)]


def _reasons(gate: Gate, layers: Layers) -> Iterator[str]:
    if gate.must_pass:
        names = listed([each.name for each in gate.must_pass], MOST_NAMES)
        yield f"{counted(len(gate.must_pass), 'must-pass case')} failed: {names}"
    yield from (not_fixed(fix) for fix in gate.fixes if fix.failing)
    yield from (_fall(each, layers) + _mostly(each, gate) for each in gate.worse)
    yield from (_under(each) for each in gate.floors if each.verdict is Verdict.WORSE)
    if gate.worse and gate.broken:
        yield f"of the cases that fail now and did not, {readings(gate.broken)}"
    if gate.state is State.WORSE:
        return
    if not gate.pairing.pairs:
        yield "the two runs have no case in common"
    elif gate.is_partial:
        yield (
            f"{counted(len(gate.pairing.only_base), 'case')} of the base "
            f"{'was' if len(gate.pairing.only_base) == 1 else 'were'} not run again"
        )
    if gate.missing:
        yield f"must-pass cases that were not run: {listed(gate.missing, MOST_NAMES)}"
    yield from (_too_few(each) for each in gate.undecided)


def readings(failed: Sequence[FailedCase]) -> str:
    """How many cases failed at which step, the most frequent first."""
    counts = Counter(each.reading for each in failed)
    return listed(
        [
            f"{n} {reading.value.replace('_', ' ')} ({part_of(reading)})"
            for reading, n in counts.most_common()
        ],
        MOST_NAMES,
    )


def notes(gate: Gate) -> Iterator[str]:
    """What a reader must know beside the verdict."""
    if gate.base.set_hash != gate.new.set_hash:
        yield "the set was changed between the runs: cases of both are compared, by their ids"
    if only := len(gate.pairing.only_base):
        yield f"not run again: {counted(only, 'case')} of the base"
    if only := len(gate.pairing.only_new):
        yield f"not in the base: {counted(only, 'case')} of the new run"
    if gate.unmeasured:
        yield f"not compared, because nothing measured it: {listed(gate.unmeasured)}"
    yield from (note(fix) for fix in gate.fixes if not fix.failing)
    if gone := [name for name in gate.gone if name not in gate.unmeasured]:
        yield f"measured in the base and not in the new run: {listed(gone)}"
    if changed := _changed_versions(gate):
        yield f"other versions than the base: {listed(changed)}; a judge's change looks like one"


def _changed_versions(gate: Gate) -> list[str]:
    before, after = gate.base.versions, gate.new.versions
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def named(comparison: Comparison) -> str:
    """The rubric, with its slice.

    A condition is a slice too: `groundedness where condition = gold`.
    """
    dimension, value = comparison.slice
    where = f" where {dimension} = {value}" if dimension else ""
    return name_of(comparison.rubric) + where


def name_of(rubric: str) -> str:
    """What is compared, in words where it is a share of cases.

    >>> name_of("mrr"), name_of("injected_context:passed")
    ('mrr', 'the share of cases that pass injected_context')
    """
    if not rubric.endswith(PASSED):
        return rubric
    return f"the share of cases that pass {rubric.removesuffix(PASSED)}"


def _fall(each: Comparison, layers: Layers) -> str:
    shown = each.difference
    assert shown is not None
    return (
        f"{named(each)} ({layer_of(each.rubric, layers)}) fell by {in_points(shown.size)}, from "
        f"{score(shown.base)} to {score(shown.new)} in {counted(shown.n, 'case')}; "
        f"{in_points(each.limit)} are allowed"
    )


def _mostly(each: Comparison, gate: Gate) -> str:
    """The slice that a rubric fell in most clearly, where it fell further there than elsewhere."""
    if not each.is_overall or each.difference is None:
        return ""
    further = [
        (own.difference.falls, own)
        for own in gate.slices
        if own.rubric == each.rubric
        and own.difference is not None
        and own.difference.size < FURTHER * each.difference.size
        and own.difference.falls <= MOST_CHANCE
    ]
    if not further:
        return ""
    _, most = min(further, key=lambda pair: pair[0])
    assert most.difference is not None
    dimension, value = most.slice
    fall, n = in_points(most.difference.size), counted(most.difference.n, "case")
    return f"; most where {dimension} = {value}: {fall} in {n}"


def _under(each: Floor) -> str:
    return (
        f"{each.rubric} is {score(each.mean)} in {counted(each.n, 'case')}, "
        f"under its floor of {score(each.floor)}"
    )


def _too_few(each: Comparison | Floor) -> str:
    if isinstance(each, Floor):
        return f"{_under(each)}, and chance may have made it so"
    shown = each.difference
    if shown is None:
        return f"{each.rubric} has no value in the new run, and had one in the base"
    if each.unscored > shown.n * 0.25:
        return f"{each.rubric} lacks a value in {counted(each.unscored, 'case')} that had one"
    return (
        f"{each.rubric} changed by {points(shown.size)} points in {counted(shown.n, 'case')}; "
        f"a fall of {in_points(each.limit)} is seen with about {counted(each.needed, 'case')}"
    )
