"""Incidents: all findings of one cause, reported once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ragvigil.model.finding import Finding
from ragvigil.model.notice import Cause, Notice

RERANKER = "reranker"
"""The part of retrieval that ranks what was found."""


class IncidentState(StrEnum):
    """The state of an incident, set by a person or the daemon."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"
    RESOLVED = "resolved"


class Verb(StrEnum):
    """What is done to an incident; OPENED, JOINED, ESCALATED and CLEARED by the daemon."""

    OPENED = "opened"
    JOINED = "joined"
    """Another finding or notice belongs to it."""
    ESCALATED = "escalated"
    """From a ticket to a page."""
    CLEARED = "cleared"
    """None of its findings lasts; it resolves by itself."""
    ACKNOWLEDGE = "acknowledge"
    SNOOZE = "snooze"
    EXPECTED = "expected"
    """The new level is intended: it is the reference from now on."""
    FALSE_PAGE = "false_page"
    """Nothing was wrong; counts against the precision of pages."""
    RESOLVE = "resolve"
    ASSIGN = "assign"
    """Somebody else has it now."""
    NOTE = "note"
    """Words alone; changes nothing."""


class Severity(StrEnum):
    """Whether it pages somebody."""

    PAGE = "page"
    TICKET = "ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEvent:
    """One step in the life of an incident; `actor` is a person's name, or empty for the daemon."""

    incident_id: str
    time_unix_nano: int
    verb: Verb
    actor: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyLayer:
    """A layer with how likely it is: `share` is 0..1, those of a verdict add up to 1.

    `part` is the part of the layer that fits best, empty where that is open.
    """

    cause: Cause
    share: float
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerVerdict:
    """The layer of an incident, and what it rests on.

    `cause` is None while undetermined; `part` narrows it (`reranker`). `likely` are the layers
    with a share, the likeliest first; empty without evidence. `supports`, `contradicts` and
    `missing` are lines of evidence on the likeliest layer. `settles` says what would settle an
    undetermined verdict. `is_blind`: what changed is what the spans show, so no layer is at fault.
    `goes_with` are the values of dimensions that the drop goes with, in lines.
    """

    cause: Cause | None = None
    part: str = ""
    likely: tuple[LikelyLayer, ...] = ()
    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    settles: str = ""
    is_blind: bool = False
    goes_with: tuple[str, ...] = ()


NO_VERDICT = LayerVerdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """One cause, whatever the number of rubrics and routes.

    `since_unix_nano` is the earliest onset of its findings. `suspects` are the changes that
    precede it, the likeliest first. `cause` is None while undetermined, `verdict` says why.
    `paged_unix_nano` is 0 if it never paged; `is_false_page` and `is_expected` are people's
    verdicts.
    """

    incident_id: str
    service: str
    environment: str
    state: IncidentState
    severity: Severity
    opened_unix_nano: int
    since_unix_nano: int
    findings: tuple[Finding, ...]
    suspects: tuple[Notice, ...] = ()
    cause: Cause | None = None
    paged_unix_nano: int = 0
    resolved_unix_nano: int = 0
    snoozed_until_unix_nano: int = 0
    assignee: str = ""
    is_false_page: bool = False
    is_expected: bool = False
    verdict: LayerVerdict = NO_VERDICT
