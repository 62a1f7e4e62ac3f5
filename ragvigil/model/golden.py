"""Golden cases: questions whose right answers people signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class QueryType(StrEnum):
    """The kind of a question. Aim at 40 % canonical, 30 % adversarial, 30 % failure."""

    CANONICAL = "canonical"
    ADVERSARIAL = "adversarial"
    FAILURE = "failure"


class CaseState(StrEnum):
    """The state of a case on its way into the set."""

    PROPOSED = "proposed"
    SIGNED = "signed"
    """Committed; it is run until it passes."""
    PASSING = "passing"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFact:
    """A fact that a good answer states; an answer without a vital one is wrong."""

    text: str
    is_vital: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCase:
    """A question with what a good answer needs, where it came from, and who signed it.

    `content_hash` covers the question and what is expected, not who signed it: a case that was
    edited after the signature no longer has the signed hash.
    """

    case_id: str
    question: str
    gold_chunk_ids: tuple[str, ...] = ()
    gold_texts: tuple[str, ...] = ()
    gold_answer: str = ""
    expected_facts: tuple[ExpectedFact, ...] = ()
    tags: tuple[str, ...] = ()
    query_type: QueryType = QueryType.FAILURE
    failure_mode: str = ""
    service: str = ""
    environment: str = ""
    route: str = ""
    trace_id: str = ""
    record_id: str = ""
    issue_id: str = ""
    state: CaseState = CaseState.PROPOSED
    proposed_by: str = ""
    proposed_unix_nano: int = 0
    edited_by: tuple[str, ...] = ()
    """Everyone else who edited it since it was last signed; they may not approve it either."""
    approved_by: str = ""
    approved_unix_nano: int = 0
    content_hash: str = ""
    revision: int = 0
    more: Mapping[str, object] = field(default_factory=dict)
    """Unknown keys of an imported case; an export writes them back unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """One run of a case; `against` is `target` (its answer, live) or `stored` (its trace)."""

    case_id: str
    time_unix_nano: int
    against: str
    is_pass: bool | None
    """None if the run could not decide; `why` then says so."""
    why: str = ""
    answer: str = ""


class CaseVerb(StrEnum):
    """What is done to a case; FOUND, PASSED and FAILED by the daemon, the others by people."""

    PROPOSE = "propose"
    EDIT = "edit"
    SIGN = "sign"
    REJECT = "reject"
    FOUND = "found"
    """It was signed in the set's file and missing in the store."""
    PASSED = "passed"
    FAILED = "failed"
    """It had passed, and fails again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEvent:
    """One step of a case; `actor` is a person's name, or empty for the daemon."""

    case_id: str
    time_unix_nano: int
    verb: CaseVerb
    revision: int
    actor: str = ""
    text: str = ""
