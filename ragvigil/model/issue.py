"""Issues: named, lasting causes of failing records, with members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ragvigil.model.score import Kind, Layer, Stream

OTHER_CHUNKS = "answer_sources"
"""What an answer fails that draws on other chunks than its question's answers did before, or cites
them at other sentences."""
MEASURES: Mapping[str, Layer] = {"answer_words": Layer.GENERATION, "citations": Layer.GENERATION}
"""Measures of an answer as its user sees it, and whose they are."""
SHOWN_BY_INCIDENTS = frozenset({OTHER_CHUNKS, *MEASURES})
"""What no rubric scores: an answer fails it for the time of an incident."""


class FailureKind(StrEnum):
    """Why a record counts as failing; the first of these that holds."""

    ERROR = "error"
    """The request itself failed."""
    RUBRIC = "rubric"
    """The value of a rubric is below its `fails_below`."""
    THUMBS_DOWN = "thumbs_down"
    """A user rated it badly, and no rubric fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failing record: where it failed first, and why, in words.

    `rubric` and `label` are those of the most upstream failing rubric, empty if none failed;
    `family` is its layer; `rubrics` are all that failed, upstream first. `reason` is one sentence.
    `inclusion_probability` is the chance with which that rubric scored the record: 1 for scorers
    that run on every trace.
    """

    trace_id: str
    record_id: str
    time_unix_nano: int
    service: str
    environment: str
    route: str
    kind: FailureKind
    family: Layer
    reason: str
    rubric: str = ""
    label: str = ""
    rubrics: tuple[str, ...] = ()
    question: str | None = None
    scorer_kind: Kind = Kind.CODE
    stream: Stream = Stream.BASE
    inclusion_probability: float = 1.0
    service_version: str = ""
    prompt_version: str = ""
    index_epoch: str = ""
    llm_model: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Trace id and record id."""
        return (self.trace_id, self.record_id)


class IssueState(StrEnum):
    """The state of an issue."""

    NEW = "new"
    """In its first seven days."""
    ONGOING = "ongoing"
    ESCALATING = "escalating"
    """It gains more members than forecast."""
    ACKNOWLEDGED = "acknowledged"
    """Somebody owns it."""
    RESOLVED = "resolved"
    """As of now, or of a named release or index version."""
    REGRESSED = "regressed"
    """Back after it was resolved, from a later release."""
    IGNORED = "ignored"
    """Until a time, until a number of members, or for ever."""
    STALE = "stale"
    """It gained no member for long."""


class IssueVerb(StrEnum):
    """What is done to an issue; OPENED to CASE_PASSED by the daemon, the others by people."""

    OPENED = "opened"
    REFINED = "refined"
    """A provisional issue became a cluster."""
    SPLIT = "split"
    """The nightly clustering found several causes in it; the issue is not changed by that."""
    AGED = "aged"
    """From new to ongoing, or to stale, by time alone."""
    ESCALATED = "escalated"
    CALMED = "calmed"
    """No longer escalating, or no longer ignored."""
    REGRESSED = "regressed"
    NAMED = "named"
    EXPLAINED = "explained"
    """A root-cause report was written."""
    CASE_FAILED = "case_failed"
    """A golden case that was made of it had passed, and fails again."""
    CASE_PASSED = "case_passed"
    """Such a case passes once more."""
    ACKNOWLEDGE = "acknowledge"
    RESOLVE = "resolve"
    IGNORE = "ignore"
    REOPEN = "reopen"
    ASSIGN = "assign"
    RENAME = "rename"
    MERGE = "merge"
    UNMERGE = "unmerge"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueEvent:
    """One step in the life of an issue; `actor` is a person's name, or empty for the daemon."""

    issue_id: str
    time_unix_nano: int
    verb: IssueVerb
    actor: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One cause of failing records of one service, on any of its routes.

    `centroid` is the moving mean of its members' joint vectors, scaled to length 1, by the model
    `vector_model`; it is empty before any vector is computed. `members` counts the members that it
    was made of. A provisional issue has the members of one rubric and label; it keeps its id when
    clustering refines it. `resolved_in` names a release or index version, empty for "now". An
    issue is ignored until a time, until it has `ignored_members` members, or for ever if both are
    0. `merged_into` is the id of the issue that has its members now, empty for none. `incident_id`
    is that of the incident whose answers it holds, empty for an issue found without one.
    """

    issue_id: str
    service: str
    environment: str
    family: Layer
    rubric: str
    label: str
    name: str
    state: IssueState
    first_unix_nano: int
    last_unix_nano: int
    opened_unix_nano: int
    members: int = 0
    is_provisional: bool = True
    is_name_frozen: bool = False
    routes: tuple[str, ...] = ()
    centroid: tuple[float, ...] = ()
    vector_model: str = ""
    assignee: str = ""
    state_unix_nano: int = 0
    """When the state was entered."""
    resolved_in: str = ""
    resolved_unix_nano: int = 0
    ignored_until_unix_nano: int = 0
    ignored_members: int = 0
    merged_into: str = ""
    incident_id: str = ""

    @property
    def is_triaged(self) -> bool:
        """Whether a person has acted on it: such an issue is never dissolved."""
        return bool(self.assignee) or self.is_name_frozen or self.state in TRIAGED

    @property
    def is_emptied(self) -> bool:
        """Whether all answers left it, for an incident's issue or for none, and nobody acted."""
        return not (self.members or self.is_triaged)


TRIAGED = frozenset({IssueState.ACKNOWLEDGED, IssueState.RESOLVED, IssueState.IGNORED})


class MemberBy(StrEnum):
    """How a record became a member of an issue."""

    KEY = "key"
    """It has the rubric and label of a provisional issue."""
    ASSIGNED = "assigned"
    """Its vector is near the issue's centroid, and nearer than to any other."""
    CLUSTERED = "clustered"
    INCIDENT = "incident"
    """An incident of its route and time harmed it."""
    GUARD = "guard"
    """It fails a check that a person accepted for the issue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The issue of a failing record. `strength` is 0..1; `others` are the next issues."""

    trace_id: str
    record_id: str
    issue_id: str
    by: MemberBy
    strength: float
    others: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Trace id and record id."""
        return (self.trace_id, self.record_id)


class Likeness(StrEnum):
    """How a passing record was chosen to stand beside a failing one."""

    SAME = "same"
    """It asks the same, word for word."""
    MEANING = "meaning"
    """By the vectors of the questions."""
    WORDS = "words"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRecord:
    """The part of a record that a search for a root cause compares with that of others.

    `dimensions` holds those that are known, as texts.
    """

    trace_id: str
    record_id: str
    time_unix_nano: int
    route: str
    question: str | None = None
    dimensions: Mapping[str, str] = field(default_factory=dict)


class PairVerdict(StrEnum):
    """The relation of two issues that look alike."""

    PROPOSED = "proposed"
    MERGED = "merged"
    """Confirmed by a person, or certain without one."""
    APART = "apart"
    """A merge was declined or undone: they are never proposed again (cannot-link)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuePair:
    """Two issues, the older first.

    `likeness` is the cosine of their centroids, `shared` the share of their members that fell into
    one cluster.
    """

    kept: str
    merged: str
    verdict: PairVerdict
    likeness: float
    shared: float
    time_unix_nano: int
    actor: str = ""


LEAST_TOLD = 8
"""A new issue of fewer answers is no news unless it is an incident's: three of one kind open one,
and young services have many such kinds. So many would be a cluster by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueLine:
    """What a line about an issue says; the fields are those of `Issue`."""

    issue_id: str
    service: str
    environment: str
    family: Layer
    state: IssueState
    rubric: str
    label: str
    name: str
    routes: tuple[str, ...]
    first_unix_nano: int
    last_unix_nano: int
    members: int
    incident_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words that occur in a stored span."""

    text: str
    trace_id: str
    span_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RootCause:
    """A report on why an issue happens. `cause` is empty if it could not be determined.

    `by` is `code` for the deterministic report, else the model's name. `grades` are severity,
    frequency, confidence and effort, each 1..5 with its reason. `ended` says how the agent's run
    ended, in words. `transcript` is JSON.
    """

    issue_id: str
    time_unix_nano: int
    by: str
    cause: str
    ended: str
    layer: Layer | None = None
    fix: str = ""
    quotes: tuple[Quote, ...] = ()
    grades: tuple[tuple[str, int, str], ...] = ()
    text: str = ""
    transcript: str = "[]"
    turns: int = 0
    cost_usd: float | None = None
