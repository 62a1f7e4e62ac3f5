"""Whether a release mends an issue: its own questions asked again, and others that passed. Pure.

A member passes when what failed does not fail any more. What failed and was not measured now (a
judge's rubric without a judge, a user's complaint) cannot be told. A neighbour passed before: it
breaks when anything fails now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.exact import share_interval
from ragvigil.evaluation.result import Result
from ragvigil.evaluation.summary import TAIL
from ragvigil.model.figures import counted
from ragvigil.model.issue import FailureKind

ASKED_AS, MEMBER, NEIGHBOUR, MUST_PASS = "asked as", "member", "neighbour", "must pass"
MOST_NAMED = 5
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a release does to an issue's questions, as case ids."""

    passing: tuple[str, ...]
    failing: tuple[str, ...]
    untold: Mapping[str, str]
    """Members of which nothing can be said, each with the reason."""
    neighbours: int
    broken: tuple[str, ...]
    must_pass: int
    must_pass_failed: tuple[str, ...]

    @property
    def can_say(self) -> bool:
        """Whether anything is known of a member."""
        return bool(self.passing or self.failing)

    @property
    def is_mended(self) -> bool:
        """Whether members pass, none fails, and nothing that passed before is broken."""
        return bool(self.passing) and not (self.failing or self.broken or self.must_pass_failed)


def issue_cases(retest: Json, must_pass: Sequence[Case]) -> list[Case]:
    """The cases of an issue: its members, its neighbours, and what no release may fail.

    `retest` is the API's answer; each question is asked once.
    """
    members = [_case(retest, row, MEMBER) for row in retest["members"]]
    asked = {case.question for case in members}
    beside = {
        row["question"]: _case(retest, row, NEIGHBOUR)
        for row in retest["neighbours"]
        if row["question"] not in asked
    }
    return [*members, *beside.values(), *(_as_must_pass(case) for case in must_pass)]


def prove(retest: Json, results: Sequence[Result]) -> Proof:
    """What the results of `issue_cases` show."""
    by_kind: dict[str, dict[str, Result]] = {MEMBER: {}, NEIGHBOUR: {}, MUST_PASS: {}}
    for result in results:
        by_kind[result.slices[ASKED_AS][0]][result.case_id] = result
    passing, failing, untold = [], [], {}
    for row in retest["members"]:
        result = by_kind[MEMBER][_name(row, MEMBER)]
        if why := _untold(row, result):
            untold[result.case_id] = why
        elif result.error or set(row["rubrics"]) & set(result.failing):
            failing.append(result.case_id)
        else:
            passing.append(result.case_id)
    return Proof(
        passing=tuple(passing),
        failing=tuple(failing),
        untold=untold,
        neighbours=len(by_kind[NEIGHBOUR]),
        # Whether the corpus answers a neighbour's question is not known: a refusal may be right.
        broken=tuple(
            name for name, each in by_kind[NEIGHBOUR].items() if each.error or each.failing
        ),
        must_pass=len(by_kind[MUST_PASS]),
        must_pass_failed=tuple(
            name for name, each in by_kind[MUST_PASS].items() if each.reading is not None
        ),
    )


def sentences(proof: Proof) -> list[str]:
    """The proof in words, for the terminal and for the issue's story."""
    told = len(proof.passing) + len(proof.failing)
    said = []
    if told:
        low, high = share_interval(len(proof.passing), told, tail=TAIL)
        said.append(
            f"{len(proof.passing)} of {told} failing questions pass now ({low:.0%} to {high:.0%})."
        )
    if proof.untold:
        reasons = sorted(set(proof.untold.values()))
        said.append(f"Of {len(proof.untold)} nothing can be said: {'; '.join(reasons)}.")
    said.append(_broken(proof.broken, proof.neighbours, "passing neighbour"))
    if proof.must_pass:
        said.append(_broken(proof.must_pass_failed, proof.must_pass, "must-pass case"))
    return said


def _broken(failed: Sequence[str], n: int, what: str) -> str:
    named = ", ".join(failed[:MOST_NAMED]) + (", ..." if len(failed) > MOST_NAMED else "")
    broke = f"{len(failed)} broke: {named}" if failed else "none broke"
    return f"Of {counted(n, what)} {broke}."


def _untold(row: Json, result: Result) -> str:
    """Why nothing can be said of a member; empty where something can."""
    if result.error:
        return ""
    if row["kind"] == FailureKind.THUMBS_DOWN.value:
        return "users disliked it, and cannot be asked again"
    unmeasured = [name for name in row["rubrics"] if result.values.get(name) is None]
    if unmeasured and not set(row["rubrics"]) & set(result.failing):
        return f"{unmeasured[0]} was not measured"
    return ""


def _name(row: Json, kind: str) -> str:
    return f"{kind} {row['trace_id']} {row['record_id']}"


def _case(retest: Json, row: Json, kind: str) -> Case:
    return Case(
        case_id=_name(row, kind),
        question=row["question"],
        slices={ASKED_AS: (kind,)},
        service=retest["service"],
        environment=retest["environment"],
        route=row["route"],
    )


def _as_must_pass(case: Case) -> Case:
    return replace(
        case, case_id=f"{MUST_PASS} {case.case_id}", slices={**case.slices, ASKED_AS: (MUST_PASS,)}
    )
