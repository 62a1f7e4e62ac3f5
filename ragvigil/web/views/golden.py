"""Golden cases as the API shows them, and what people post about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ragvigil.model.golden import (
    CaseEvent,
    CaseRun,
    CaseState,
    CaseVerb,
    ExpectedFact,
    GoldenCase,
    QueryType,
)
from ragvigil.web.views.posts import Hex, Name, PersonalPost, Text
from ragvigil.web.views.values import view

MOST_AT_ONCE = 50
Line = dict[str, Any]
"""A case by the keys of the set's file; an imported one may have keys of its own."""


class FactForm(BaseModel):
    """A fact that a good answer states."""

    fact: Text
    importance: Literal["vital", "okay"] = "vital"


class CaseForm(BaseModel):
    """A question with what a good answer needs, and who approved it."""

    case_id: str
    state: CaseState
    question: str
    gold_chunk_ids: list[str]
    gold_texts: list[str]
    gold_answer: str
    expected_facts: list[FactForm]
    tags: list[str]
    query_type: QueryType
    failure_mode: str
    service: str
    environment: str
    route: str
    trace_id: str
    record_id: str
    issue_id: str
    revision: int
    proposed_by: str
    proposed: datetime | None
    edited_by: list[str] = Field(description="who else edited it since it was last signed")
    approved_by: str
    approved: datetime | None
    content_hash: str = Field(description="of what is asked and expected; sign with it")
    more: dict[str, Any] = Field(description="keys of an imported case that are not ours")


class PartForm(BaseModel):
    """One type of query in the set."""

    query_type: QueryType
    cases: int
    share: float | None
    aim: float
    missing: int = Field(description="cases that complete the mix without taking one away")


class MixForm(BaseModel):
    """The mix of signed cases, against 40 % canonical, 30 % adversarial, 30 % failure."""

    cases: int
    floor: int = Field(description="cases under which a set proves little")
    enough: int
    from_production: float | None = Field(description="share that broke in production; aim 0.5")
    parts: list[PartForm]


class BrokenForm(BaseModel):
    """A line that differs from what was signed, or a signed case that the file lacks."""

    case_id: str
    line: int = Field(description="0 where it has none")
    why: str


class SetForm(BaseModel):
    """The set as it is committed, line by line, and what is wrong with it."""

    cases: list[Line]
    unsigned: list[int] = Field(
        description="places in `cases`, from 0, of those that nobody signed as they stand"
    )
    broken: list[BrokenForm]
    problem: str = Field(description="why the set cannot be read or signed into; empty for nothing")
    mix: MixForm


Standing = Literal["steady", "flaky", "fails_again"]
"""Of a case that passed; `flaky` fails now and then, `fails_again` several times in a row."""


class CasesForm(BaseModel):
    """Golden cases, those changed last first."""

    cases: list[CaseForm]
    standings: dict[str, Standing] = Field(
        default={}, description="of the cases that passed, by id; run again after each change"
    )
    broken: list[BrokenForm]
    problem: str
    mix: MixForm


class RunForm(BaseModel):
    """One run of a case."""

    time: datetime | None
    against: str = Field(description="`target`: answered live; `stored`: its trace, scored again")
    is_pass: bool | None = Field(description="null where the run gave no result")
    why: str
    answer: str


class CaseEventForm(BaseModel):
    """One step of a case."""

    time: datetime | None
    verb: CaseVerb
    revision: int
    actor: str = Field(description="empty for the daemon")
    text: str = Field(description="of a signature, the commit")


class ChecksForm(BaseModel):
    """Checks of a case before it is signed."""

    blocking: list[str] = Field(description="why it cannot be signed as it is")
    warnings: list[str] = Field(description="near-duplicates, and leaks into the prompt")
    unseen: str = Field(description="why leaks could not be searched for; empty where they were")


class CaseStoryForm(CaseForm):
    """A case, its checks before signing, and everything that was done."""

    checks: ChecksForm
    events: list[CaseEventForm]
    runs: list[RunForm] = Field(description="newest first, at most 30")
    standing: Standing | None = Field(
        default=None, description="null where it has not passed; flaky: it fails now and then"
    )


class SignedCaseForm(CaseForm):
    """A signed case and its first run, which should fail."""

    run: RunForm


class ImportResultForm(BaseModel):
    """The result of a line: a case id, or why it was refused."""

    case_id: str
    refused: str


class ImportResultsForm(BaseModel):
    """The results of the lines, in their order."""

    cases: list[ImportResultForm]


class ProposePost(PersonalPost):
    """A stored record that should become a case."""

    trace_id: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{32}$")]
    record_id: Annotated[str, Field(max_length=16, pattern=Hex)] = Field(
        default="", description="needed where the trace has several records"
    )
    issue_id: Name = ""


class EditPost(PersonalPost):
    """New values of a case; fields left out keep theirs."""

    revision: int | None = Field(default=None, ge=0, description="the revision that the person saw")
    question: Text | None = None
    gold_chunk_ids: list[Name] | None = None
    gold_texts: list[Text] | None = None
    gold_answer: Text | None = None
    expected_facts: list[FactForm] | None = None
    tags: list[Name] | None = None
    query_type: QueryType | None = None
    failure_mode: Name | None = None
    service: Name | None = None
    environment: Name | None = None
    route: Name | None = None
    issue_id: Name | None = None


class SignPost(PersonalPost):
    """An approval of a case as the person saw it."""

    content_hash: Name = Field(description="of the case as the person saw it")
    despite_warnings: bool = Field(default=False, description="sign although there are warnings")


class RejectPost(PersonalPost):
    """Why a proposal is declined."""

    text: Text = ""


class ImportPost(PersonalPost):
    """Cases by the keys of the set's file; each becomes a proposal."""

    cases: list[Line] = Field(max_length=MOST_AT_ONCE)


def case_form(case: GoldenCase) -> CaseForm:
    """A case as the API shows it."""
    return view(CaseForm, case, expected_facts=[_fact(fact) for fact in case.expected_facts])


def run_form(run: CaseRun) -> RunForm:
    """A run as the API shows it."""
    return view(RunForm, run)


def signed_form(case: CaseForm, run: CaseRun) -> SignedCaseForm:
    """A signed case and its first run."""
    return SignedCaseForm(**dict(case), run=run_form(run))


def case_story(
    case: CaseForm,
    checks: ChecksForm,
    events: Sequence[CaseEvent],
    runs: Sequence[CaseRun],
    standing: Standing | None = None,
) -> CaseStoryForm:
    """Everything about one case."""
    return CaseStoryForm(
        **dict(case),
        standing=standing,
        checks=checks,
        events=[view(CaseEventForm, event) for event in events],
        runs=[run_form(run) for run in runs],
    )


def _fact(fact: ExpectedFact) -> FactForm:
    return FactForm(fact=fact.text, importance="vital" if fact.is_vital else "okay")
