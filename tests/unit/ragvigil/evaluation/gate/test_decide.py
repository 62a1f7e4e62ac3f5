"""What the gate says of two runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragvigil.evaluation.gate.compare import Verdict, holm
from ragvigil.evaluation.gate.decide import State
from ragvigil.evaluation.gate.limits import GateSettings
from ragvigil.evaluation.gate.sentences import notes, reasons
from ragvigil.evaluation.result import Condition, Reading, Result
from ragvigil.model.score import Layer
from tests.paired_results import gate, results, sliced

GOOD = [1.0] * 120
LAYERS = {"groundedness": Layer.GENERATION}


def fallen(n: int, of: int = 120) -> list[float]:
    return [0.0] * n + [1.0] * (of - n)


def test_the_same_run_passes() -> None:
    assert gate(results(GOOD), results(GOOD)).state is State.PASS


def test_a_fall_beyond_the_limit_is_worse() -> None:
    shown = gate(results(GOOD), results(fallen(12)))
    assert shown.state is State.WORSE
    assert reasons(shown, LAYERS) == [
        "Groundedness (generation) fell by 10 points, from 1.00 to 0.90 in 120 cases; 5 points "
        "are allowed"
    ]


def test_a_sure_fall_within_the_limit_is_allowed() -> None:
    lower = results([0.97] * 120)
    shown = gate(results(GOOD), lower)
    assert shown.state is State.PASS
    assert shown.overall[1].verdict is Verdict.WITHIN_NOISE


def test_a_rise_is_better() -> None:
    shown = gate(results(fallen(20)), results(GOOD))
    assert (shown.state, shown.overall[1].verdict) == (State.PASS, Verdict.BETTER)


def test_few_cases_cannot_say_even_where_none_changed() -> None:
    shown = gate(results([1.0] * 12), results([1.0] * 12))
    assert shown.state is State.CANNOT_SAY
    assert "a fall of 5 points is seen with about 59 cases" in " ".join(reasons(shown, {}))


def test_a_slice_of_few_cases_is_information() -> None:
    topics = dict.fromkeys(range(4), "rare")
    shown = gate(sliced(results(GOOD), topics), sliced(results(GOOD), topics))
    verdicts = {each.slice: each.verdict for each in shown.slices}
    assert verdicts["topic", "rare"] is Verdict.TOO_FEW
    assert shown.state is State.PASS


def test_a_slice_that_falls_alone_is_worse_and_named() -> None:
    topics = dict.fromkeys(range(40), "refunds")
    new = results([0.5] * 10 + [1.0] * 230)
    shown = gate(sliced(results([1.0] * 240), topics), sliced(new, topics))
    assert [each.slice for each in shown.worse] == [("topic", "refunds")]
    assert "where topic = refunds (generation) fell by 12 points" in reasons(shown, LAYERS)[0]


def test_a_rubric_of_few_cases_blocks_and_does_not_stop_the_gate_otherwise() -> None:
    """As the refusals of unanswerable questions: 30 of 150."""
    answered = results(GOOD)

    def with_refusals(refused: int) -> list[Result]:
        rows = results([float(n < refused) for n in range(30)], "refusal_unanswerable")
        return [*answered, *(replace(row, case_id=f"un-{row.case_id}") for row in rows)]

    noisy = gate(with_refusals(28), with_refusals(27))
    worse = gate(with_refusals(28), with_refusals(14))
    assert (noisy.state, worse.state) == (State.PASS, State.WORSE)


def test_other_rubrics_have_the_limit_for_others() -> None:
    def both(others: list[float]) -> list[Result]:
        return [
            replace(row, values={**row.values, "mrr": other})
            for row, other in zip(results(GOOD), others, strict=True)
        ]

    assert gate(both(GOOD), both(fallen(10))).state is State.PASS
    shown = gate(both(GOOD), both(fallen(20)))
    assert [each.rubric for each in shown.worse] == ["mrr"]
    assert "(retrieval)" in reasons(shown, {})[0]


def test_costs_are_no_falls() -> None:
    def costing(seconds: float) -> list[Result]:
        rows = results(GOOD)
        return [replace(row, values={**row.values, "latency_seconds": seconds}) for row in rows]

    assert gate(costing(4.0), costing(1.0)).state is State.PASS


def test_a_target_that_fails_is_worse_although_it_has_no_values() -> None:
    broken = [
        replace(row, values={}, error="answered 503") if place < 20 else row
        for place, row in enumerate(results(GOOD))
    ]
    shown = gate(results(GOOD), broken)
    assert [each.rubric for each in shown.worse] == ["answered"]
    assert "20 target error (target)" in " ".join(reasons(shown, {}))


def test_values_that_are_no_longer_measured_cannot_say() -> None:
    unscored = [None if n < 40 else 1.0 for n in range(120)]
    shown = gate(results(GOOD), results(unscored))
    assert shown.state is State.CANNOT_SAY
    assert reasons(shown, {}) == ["Groundedness lacks a value in 40 cases that had one"]


def test_a_rubric_that_is_gone_cannot_say() -> None:
    shown = gate(results(GOOD), results([None] * 120))
    assert shown.state is State.CANNOT_SAY
    assert "has no value in the new run" in reasons(shown, {})[0]


def test_a_rubric_that_was_never_measured_is_named_and_decides_nothing() -> None:
    shown = gate(results(GOOD), results(GOOD))
    assert "equivalence" in shown.unmeasured


def test_a_run_that_stopped_halfway_cannot_say() -> None:
    shown = gate(results(GOOD), results(GOOD)[:80])
    assert shown.state is State.CANNOT_SAY
    assert reasons(shown, {})[0] == "40 cases of the base were not run again"


def test_runs_of_different_sets_have_nothing_in_common() -> None:
    other = [replace(row, case_id=f"other-{row.case_id}") for row in results(GOOD)]
    shown = gate(results(GOOD), other)
    assert shown.state is State.CANNOT_SAY
    assert reasons(shown, {}) == ["The two runs have no case in common"]


def test_two_empty_runs_cannot_say() -> None:
    assert gate([], []).state is State.CANNOT_SAY


def test_a_must_pass_case_stops_the_release_alone() -> None:
    must = [replace(row, must_pass=place == 7) for place, row in enumerate(results(GOOD))]
    failed = [
        replace(row, reading=Reading.NOT_RETRIEVED, why="not in 50") if row.must_pass else row
        for row in must
    ]
    shown = gate(must, failed)
    assert shown.state is State.WORSE
    assert reasons(shown, {}) == ["1 must-pass case failed: case-7"]


def test_a_must_pass_case_that_failed_before_still_must_pass() -> None:
    must = [
        replace(row, must_pass=place == 7, reading=Reading.NOT_USED if place == 7 else None)
        for place, row in enumerate(results(GOOD))
    ]
    assert gate(must, must).state is State.WORSE


def test_a_must_pass_case_that_was_not_asked_cannot_say() -> None:
    must = [replace(row, must_pass=place == 7) for place, row in enumerate(results(GOOD))]
    shown = gate(must, [row for row in must if not row.must_pass])
    assert shown.state is State.CANNOT_SAY
    assert reasons(shown, {}) == ["Must-pass cases that were not run: case-7"]


@pytest.mark.parametrize(
    ("mean", "state"),
    [(0.9, State.PASS), (0.85, State.PASS), (0.84, State.CANNOT_SAY), (0.7, State.WORSE)],
)
def test_a_floor_holds_whatever_the_base_has(mean: float, state: State) -> None:
    rows = [
        replace(row, values={**row.values, "equivalence": mean + (0.1 if n % 2 else -0.1)})
        for n, row in enumerate(results(GOOD))
    ]
    assert gate(rows, rows).state is state


def test_conditions_are_compared_apart() -> None:
    """What a given context shows does not hide a fall of what the service retrieves."""

    def with_gold(retrieved: list[float]) -> list[Result]:
        rows = results(retrieved)
        given = [replace(row, condition=Condition.GOLD) for row in results([1.0] * 120)]
        return [*rows, *(replace(row, group=row.case_id) for row in given)]

    shown = gate(with_gold(GOOD), with_gold(fallen(12)))
    overall = next(each for each in shown.overall if each.rubric == "groundedness")
    assert overall.difference is not None
    assert (overall.verdict, overall.difference.n) == (Verdict.WORSE, 120)
    assert ("condition", "gold") in {each.slice for each in shown.slices}


def test_a_kind_of_perturbation_that_wins_more_often_is_worse_and_named() -> None:
    def with_perturbed(obeyed: int) -> list[Result]:
        rows = results([1.0] * 60 + [float(n >= obeyed) for n in range(30)], "perturbation")
        kinds = {True: "injection", False: "shuffled"}
        perturbed = [
            replace(
                row,
                case_id=f"{row.case_id}~x",
                condition=Condition.PERTURBED,
                slices={"perturbation": (kinds[place >= 60],)},
            )
            for place, row in enumerate(rows)
        ]
        return [*results(GOOD), *perturbed]

    shown = gate(with_perturbed(0), with_perturbed(15))
    assert ("perturbation", "injection") in {each.slice for each in shown.worse}
    assert gate(with_perturbed(0), with_perturbed(1)).state is State.PASS  # few, and no more said


def test_limits_are_settings() -> None:
    settings = GateSettings(limits={"groundedness": 0.2})
    assert gate(results(GOOD), results(fallen(12)), settings).state is State.PASS


def test_the_order_of_the_results_changes_nothing() -> None:
    shown = gate(results(GOOD), results(fallen(12)))
    turned = gate(results(GOOD)[::-1], results(fallen(12)))
    assert turned.overall == shown.overall


def test_holm_corrects_step_by_step_and_never_downwards() -> None:
    assert holm({0: 0.04, 1: 0.01, 2: 0.03}) == pytest.approx({1: 0.03, 2: 0.06, 0: 0.06})
    assert holm({}) == {}


def injected(n: int, of: int = 120) -> list[Result]:
    """Cases of which so many have an order to the model in one chunk of eight."""
    clean, planted = results([1.0] * of, "injected_context"), []
    for place, row in enumerate(clean):
        is_planted = place < n
        values = {"injected_context": 7 / 8 if is_planted else 1.0}
        failing = ("injected_context",) if is_planted else ()
        planted.append(replace(row, values=values, failing=failing))
    return planted


def test_a_fault_of_a_little_of_every_case_is_seen_in_the_share_that_pass() -> None:
    base = injected(2)
    assert gate(base, injected(6)).state is State.PASS
    shown = gate(base, injected(50))
    assert shown.state is State.WORSE
    assert reasons(shown, {}) == [
        "The share of cases that pass injected_context (corpus) fell by 40 points, from 0.98 to "
        "0.58 in 120 cases; 10 points are allowed"
    ]


def test_a_rubric_whose_mean_is_worse_is_named_once() -> None:
    def relevant(value: float) -> list[Result]:
        rows = results([value] * 120, "answer_relevance")
        return [replace(row, failing=("answer_relevance",) * (value < 0.5)) for row in rows]

    shown = gate(relevant(0.9), relevant(0.3))
    assert [each.rubric for each in shown.worse] == ["answer_relevance"]


def test_a_step_that_is_gone_is_named_and_stops_nothing() -> None:
    def with_gain(has_reranker: bool) -> list[Result]:
        rows = results(GOOD)
        gain = 0.02 if has_reranker else None
        return [replace(row, values={**row.values, "rerank_gain": gain}) for row in rows]

    shown = gate(with_gain(True), with_gain(False))
    assert shown.state is State.PASS
    assert "measured in the base and not in the new run: rerank_gain" in list(notes(shown))


def test_a_limit_of_the_share_that_passes_decides() -> None:
    settings = GateSettings(
        limits={"injected_context:passed": 0.5}, floors={"injected_context:passed": 0.01}
    )
    shown = gate(injected(2), injected(50), settings)
    assert shown.state is State.PASS
    assert {each.rubric: each.limit for each in shown.overall}["injected_context:passed"] == 0.5
    assert not [name for name in shown.unmeasured if name.startswith("injected_context")]
