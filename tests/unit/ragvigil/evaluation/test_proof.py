"""Whether a release mends an issue, by the results of its questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.proof import issue_cases, prove, sentences
from ragvigil.evaluation.result import Reading, Result

RUBRIC = "citation_validity"
MUST_PASS = Case(case_id="m1", question="Is water wet?", must_pass=True)


def row(number: int, kind: str = "rubric", rubric: str = RUBRIC) -> dict[str, Any]:
    rubrics = [rubric] if rubric else []
    return {"trace_id": f"t{number}", "record_id": f"r{number}", "question": f"What of {number}?",
            "route": "/ask", "kind": kind, "rubrics": rubrics}  # fmt: skip


RETEST: Mapping[str, Any] = {
    "service": "desk",
    "environment": "prod",
    "members": [row(1), row(2), row(3, rubric="completeness"), row(4, "thumbs_down", "")],
    "neighbours": [row(5), row(6), {**row(7), "question": "What of 1?"}],
}


def results(*failing: int, reading: Reading | None = None) -> list[Result]:
    """The results of the cases; of these numbers the rubric fails."""
    found = []
    for case in issue_cases(RETEST, [MUST_PASS]):
        is_failing = any(f" t{number} " in case.case_id for number in failing)
        found.append(
            Result(
                case_id=case.case_id,
                slices=case.slices,
                values={RUBRIC: float(not is_failing), "completeness": None},
                failing=(RUBRIC,) if is_failing else (),
                reading=reading if case.must_pass else None,
            )
        )
    return found


def test_a_question_is_asked_once_where_the_issue_asked_it() -> None:
    cases = issue_cases(RETEST, [MUST_PASS])
    assert len({case.question for case in cases}) == len(cases) == 7
    assert {(case.service, case.route) for case in cases[:6]} == {("desk", "/ask")}


def test_members_that_pass_with_nothing_broken_are_a_mended_issue() -> None:
    proof = prove(RETEST, results())
    assert (len(proof.passing), proof.is_mended) == (2, True)
    assert sentences(proof) == [
        "2 of 2 failing questions pass now (16% to 100%).",
        "Of 2 nothing can be said: completeness was not measured; "
        "users disliked it, and cannot be asked again.",
        "Of 2 passing neighbours none broke.",
        "Of 1 must-pass case none broke.",
    ]


def test_what_fails_or_breaks_is_no_mended_issue() -> None:
    assert not prove(RETEST, results(1)).is_mended
    broken = prove(RETEST, results(5))
    assert (broken.broken, broken.is_mended) == (("neighbour t5 r5",), False)
    must = prove(RETEST, results(reading=Reading.NOT_USED))
    assert (must.must_pass_failed, must.is_mended) == (("must pass m1",), False)
