"""Decides whether a release may go out: compares two runs of a golden set. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ragvigil.evaluation.gate.compare import (
    MOST_UNSCORED,
    TAIL,
    Comparison,
    Verdict,
    compare,
    compare_slices,
    corrected,
)
from ragvigil.evaluation.gate.difference import mean_interval
from ragvigil.evaluation.gate.fixes import Fix, fixes_of
from ragvigil.evaluation.gate.limits import GateSettings
from ragvigil.evaluation.gate.pairs import (
    PASSED,
    Pair,
    Pairing,
    failed,
    in_overall,
    measured,
    pair_up,
    value,
)
from ragvigil.evaluation.result import COSTS, Condition, Reading, Result
from ragvigil.evaluation.result_file import Header, Results


class State(StrEnum):
    """What the gate says of a release."""

    PASS = "pass"
    WORSE = "worse"
    CANNOT_SAY = "cannot say"


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A rubric that needs a least mean, whatever the base has; bounds as of a comparison."""

    rubric: str
    floor: float
    n: int
    mean: float
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCase:
    """A case that fails in the new run, and why."""

    case_id: str
    condition: str
    reading: Reading
    why: str
    is_new: bool
    """Whether it did not fail in the base."""

    @property
    def name(self) -> str:
        """The case, with its condition where it is not that of production."""
        is_usual = self.condition == Condition.RETRIEVED
        return self.case_id if is_usual else f"{self.case_id} ({self.condition})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The comparison of two runs, and what follows from it.

    `overall` are the rubrics that decide, then the others; `slices` those of the former. `costs`
    are compared and decide nothing. `missing` are must-pass cases that the new run has not asked.
    `broken` are cases that fail now and did not, `mended` counts the opposite. `unmeasured` are
    rubrics with a limit or floor that have no value to compare. `gone` are those that the base has
    values of and the new run none, as where a step was taken out. `fixes` are issues that the
    commits of the new run say they fix: one whose cases fail stops the release.
    """

    base: Header
    new: Header
    pairing: Pairing
    overall: tuple[Comparison, ...]
    slices: tuple[Comparison, ...]
    floors: tuple[Floor, ...]
    must_pass: tuple[FailedCase, ...]
    missing: tuple[str, ...]
    broken: tuple[FailedCase, ...]
    mended: int
    unmeasured: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    state: State = State.PASS

    @property
    def is_partial(self) -> bool:
        """Whether the new run lacks so many cases of the base that little can be said."""
        lacking, pairs = len(self.pairing.only_base), len(self.pairing.pairs)
        return not pairs or lacking > MOST_UNSCORED * (lacking + pairs)

    @property
    def worse(self) -> tuple[Comparison, ...]:
        """What is worse: rubrics over all cases first, then slices."""
        return tuple(
            each for each in (*self.overall, *self.slices) if each.verdict is Verdict.WORSE
        )

    @property
    def undecided(self) -> tuple[Comparison | Floor, ...]:
        """What decides, and has too few cases."""
        few = Verdict.TOO_FEW
        return (
            *(each for each in self.overall if each.decides and each.verdict is few),
            *(each for each in self.floors if each.verdict is few),
        )


def decide(base: Results, new: Results, settings: GateSettings, fixed: Iterable[str] = ()) -> Gate:
    """Compares a new run with its base. The same two files give the same answer.

    `fixed` are ids of issues that the new run's commits say they fix.
    """
    pairing = pair_up(base.results, new.results)
    overall, slices = _compared(pairing.pairs, settings)
    failures = list(_failed(pairing, new.results))
    gate = Gate(
        base=base.header,
        new=new.header,
        pairing=pairing,
        overall=overall,
        slices=slices,
        floors=tuple(_floors(new.results, settings)),
        must_pass=tuple(each for each, is_must in failures if is_must),
        missing=_missing(base.results, new.results),
        broken=tuple(each for each, _ in failures if each.is_new),
        mended=sum(pair.base.fails and not pair.new.fails for pair in pairing.pairs),
        unmeasured=_unmeasured(base.results, new.results, settings),
        gone=_gone(base.results, new.results),
        fixes=fixes_of(new.results, fixed),
    )
    return _stated(gate)


def _stated(gate: Gate) -> Gate:
    under = any(each.verdict is Verdict.WORSE for each in gate.floors)
    unfixed = any(fix.failing for fix in gate.fixes)
    if gate.worse or gate.must_pass or under or unfixed:
        return replace(gate, state=State.WORSE)
    if gate.undecided or gate.missing or gate.is_partial:
        return replace(gate, state=State.CANNOT_SAY)
    return gate


def _compared(
    pairs: Sequence[Pair], settings: GateSettings
) -> tuple[tuple[Comparison, ...], tuple[Comparison, ...]]:
    known = [name for name in measured(pair.base for pair in pairs) if name not in COSTS]
    decisive = [name for name in settings.decisive if name.removesuffix(PASSED) in known]
    names = decisive if pairs else []
    deciding = [compare(pairs, name, settings) for name in names]
    passed = failed(each for pair in pairs for each in (pair.base, pair.new))
    others = [
        compare(pairs, name, settings)
        for name in (*known, *passed)
        if name not in settings.decisive
    ]
    # What decides is a promise each; of the many others some fall by chance.
    overall = (*deciding, *corrected(others, settings)) if pairs else ()
    return _said_once(overall), compare_slices(pairs, names, settings)


def _said_once(overall: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Without the shares of passing cases of rubrics whose mean is worse already."""
    worse = {f"{each.rubric}{PASSED}" for each in overall if each.verdict is Verdict.WORSE}
    return tuple(each for each in overall if each.rubric not in worse)


def _floors(results: Sequence[Result], settings: GateSettings) -> Iterable[Floor]:
    for rubric, floor in settings.least.items():
        own = in_overall([Pair(base=result, new=result) for result in results], rubric)
        values = [
            (pair.group, known) for pair in own if (known := value(pair.new, rubric)) is not None
        ]
        if not values:
            continue
        mean = sum(known for _, known in values) / len(values)
        low, high = mean_interval(values, tail=TAIL)
        surely = mean_interval(values, tail=settings.chance)[1]
        verdict = Verdict.WITHIN_NOISE if mean >= floor else Verdict.TOO_FEW
        yield Floor(
            rubric=rubric,
            floor=floor,
            n=len(values),
            mean=mean,
            low=low,
            high=high,
            verdict=Verdict.WORSE if surely < floor else verdict,
        )


def _unmeasured(
    base: Sequence[Result], new: Sequence[Result], settings: GateSettings
) -> tuple[str, ...]:
    compared, known = measured(base), measured(new)
    limits = (name for name in settings.decisive if name.removesuffix(PASSED) not in compared)
    floors = (name for name in settings.least if name.removesuffix(PASSED) not in known)
    return tuple(dict.fromkeys((*limits, *floors)))


def _gone(base: Sequence[Result], new: Sequence[Result]) -> tuple[str, ...]:
    now = set(measured(new))
    return tuple(name for name in measured(base) if name not in now)


def _failed(pairing: Pairing, new: Sequence[Result]) -> Iterable[tuple[FailedCase, bool]]:
    """The cases that fail in the new run, each with whether it must pass."""
    base = {pair.new.key: pair.base for pair in pairing.pairs}
    for result in new:
        if result.fails:
            before = base.get(result.key)
            failed = FailedCase(
                case_id=result.case_id,
                condition=result.condition.value,
                reading=result.reading or Reading.TARGET_ERROR,
                why=result.why or result.error,
                is_new=before is not None and not before.fails,
            )
            yield failed, result.must_pass or bool(before and before.must_pass)


def _missing(base: Sequence[Result], new: Sequence[Result]) -> tuple[str, ...]:
    asked = {result.key for result in new}
    return tuple(each.case_id for each in base if each.must_pass and each.key not in asked)
