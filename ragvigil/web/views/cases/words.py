"""Golden cases in sentences: what waits for a person, how good the set is, what a case lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragvigil.model.figures import count, counted, listed, sentence, share, spelled
from ragvigil.model.golden import CaseState, CaseVerb
from ragvigil.model.text import is_same_name
from ragvigil.web.identity import Person
from ragvigil.web.views.golden import (
    CaseEventForm,
    CaseForm,
    CasesForm,
    CaseStoryForm,
    ChecksForm,
    MixForm,
    RunForm,
)

KINDS = {
    "canonical": "canonical questions",
    "adversarial": "adversarial questions",
    "failure": "real failures",
}
"""What pages call the types of query."""


PARTS = {
    "question": "question",
    "gold_answer": "good answer",
    "expected_facts": "facts",
    "gold_chunk_ids": "chunks",
    "gold_texts": "texts of chunks",
    "tags": "tags",
    "query_type": "kind",
    "failure_mode": "failure mode",
    "service": "service",
    "environment": "environment",
    "route": "route",
    "issue_id": "issue",
}
"""The parts of a case that its file holds, and what pages call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A person as somebody who may sign cases; `two_people`: not what they wrote themselves."""

    person: Person
    may_approve: bool
    two_people: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Proposals, those that this person may sign first, and why the others are not theirs."""

    mine: tuple[CaseForm, ...]
    others: tuple[tuple[CaseForm, str], ...]

    @property
    def first(self) -> CaseForm | None:
        """The case to look at next."""
        return (*self.mine, *(case for case, _ in self.others), None)[0]


def waiting(proposals: Iterable[CaseForm], signer: Signer) -> Waiting:
    """Sorts proposals by whether this person may sign them."""
    mine: list[CaseForm] = []
    others: list[tuple[CaseForm, str]] = []
    for case in proposals:
        if why := why_not_sign(case, signer):
            others.append((case, why))
        else:
            mine.append(case)
    return Waiting(mine=tuple(mine), others=tuple(others))


def why_not_sign(case: CaseForm, signer: Signer) -> str:
    """Why a person may not sign a proposal, in a sentence; empty where they may."""
    person = signer.person
    if not signer.may_approve:
        return f"A {person.role} edits. An approver signs."
    if signer.two_people and is_same_name(person.name, case.proposed_by):
        return "You proposed it: somebody else signs."
    if signer.two_people and any(is_same_name(person.name, name) for name in case.edited_by):
        return "You edited it: somebody else signs."
    of_case = {*case.tags, f"route:{case.route}", f"service:{case.service}"}
    if person.tags and not person.tags & of_case:
        return f"You sign {listed(sorted(person.tags))}, and it is none of these."
    return ""


def golden_heading(found: Waiting, mix: MixForm) -> str:
    """What waits for this person, and whether the set is good, in two sentences."""
    return f"{_waits(found)}. {_good(mix)}."


def _waits(found: Waiting) -> str:
    if found.mine:
        return f"{_cases(len(found.mine))} for your signature"
    if found.others:
        return f"{_cases(len(found.others))} for somebody else's signature"
    return "No case waits"


def _cases(number: int) -> str:
    words = spelled(number)
    return f"{words[:1].upper()}{words[1:]} case{' waits' if number == 1 else 's wait'}"


def _good(mix: MixForm) -> str:
    """Of several gaps the largest is named.

    >>> _good(MixForm(cases=41, floor=50, enough=200, from_production=0.2, parts=[]))
    'The set has 41 of the 50 cases that it needs at least'
    """
    if not mix.cases:
        return "The set is empty"
    if mix.cases < mix.floor:
        return f"The set has {count(mix.cases)} of the {mix.floor} cases that it needs at least"
    short = [part for part in mix.parts if (part.share or 0) < part.aim - 0.05]
    if short:
        least = max(short, key=lambda part: part.aim - (part.share or 0))
        return f"The set needs more {KINDS[least.query_type]}"
    if mix.cases < mix.enough:
        return f"The set has {count(mix.cases)} cases in a good mix; {mix.enough} are enough"
    return f"The set of {count(mix.cases)} cases is in a good mix"


def set_lead(mix: MixForm) -> str:
    """What the set is made of, under the heading."""
    if not mix.cases:
        return f"{mix.floor} cases are the least that prove anything, {mix.enough} are enough."
    broke = share(mix.from_production)
    size = "enough to start" if mix.cases >= mix.floor else f"{mix.floor} are the least"
    return (
        f"{counted(mix.cases, 'signed case')}; {size}, {mix.enough} serve most services. "
        f"{broke} come from answers that failed here; half is a good share."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """Whether what passed still passes: counts of cases by standing.

    `failing` are signed and have not passed yet.
    """

    steady: int
    fails_again: int
    flaky: int
    failing: int

    @property
    def passed(self) -> int:
        """Cases that passed once."""
        return self.steady + self.fails_again + self.flaky


def contract(listed: CasesForm) -> Contract:
    """The standings of a set, counted."""
    counts = Counter(listed.standings.values())
    return Contract(
        steady=counts["steady"],
        fails_again=counts["fails_again"],
        flaky=counts["flaky"],
        failing=sum(case.state is CaseState.SIGNED for case in listed.cases),
    )


def contract_says(found: Contract) -> str:
    """Whether the set still holds, in a sentence.

    >>> contract_says(Contract(steady=40, fails_again=1, flaky=2, failing=3))
    'One case that passed fails again'
    """
    if found.fails_again:
        words, verb = spelled(found.fails_again), "s" if found.fails_again == 1 else ""
        noun = "case" if found.fails_again == 1 else "cases"
        return f"{sentence(words)} {noun} that passed fail{verb} again"
    if not found.passed:
        return "No case has passed yet" if found.failing else "No case is signed yet"
    flaky = f"; {spelled(found.flaky)} {'is' if found.flaky == 1 else 'are'} flaky"
    return f"Every case that passed still passes{flaky if found.flaky else ''}"


def case_heading(case: CaseStoryForm, why_not: str) -> str:
    """Where a case stands: what keeps it from being signed, or whether it passes."""
    if case.state is CaseState.PROPOSED:
        return _proposal(case.checks, why_not)
    if case.state is CaseState.REJECTED:
        return "This case was declined"
    if case.state is CaseState.PASSING:
        return f"Signed by {case.approved_by}, and it passes"
    return f"Signed by {case.approved_by}, and {_outcome(case.runs)}"


def _proposal(checks: ChecksForm, why_not: str) -> str:
    if checks.blocking:
        things = spelled(len(checks.blocking))
        keep = "thing keeps" if len(checks.blocking) == 1 else "things keep"
        return f"{things[:1].upper()}{things[1:]} {keep} this case from being signed"
    if why_not:
        return "This case waits for somebody else's signature"
    if checks.warnings:
        return f"Look at {counted(len(checks.warnings), 'warning')}, then sign this case"
    return "This case is ready for your signature"


def _outcome(runs: Sequence[RunForm]) -> str:
    if not runs:
        return "it has not run yet"
    if runs[0].is_pass is None:
        return "its last run could not tell"
    return "it passes" if runs[0].is_pass else "it still fails"


def event_text(event: CaseEventForm) -> str:
    """What is said of a step: the parts that were edited, a reason, a commit; empty for nothing."""
    if event.verb is not CaseVerb.EDIT:
        return event.text
    return listed([PARTS.get(name, name) for name in event.text.split(", ")], most=len(PARTS))


def composition_says(mix: MixForm) -> str:
    """The missing cases in a sentence, empty where the mix is complete."""
    lacks = [f"{part.missing} {KINDS[part.query_type]}" for part in mix.parts if part.missing]
    return f"Missing for the mix: {listed(lacks)}." if lacks else ""


def is_match(each: CaseForm, chosen: Mapping[str, str]) -> bool:
    """Whether a case has all that is chosen; an empty choice is none."""
    values: Mapping[str, set[str]] = {
        "state": {each.state},
        "kind": {each.query_type},
        "issue": {each.issue_id},
        "tag": {*each.tags},
        "service": {each.service},
        "environment": {each.environment},
        "route": {each.route},
    }
    return all(not value or value in values[name] for name, value in chosen.items())
