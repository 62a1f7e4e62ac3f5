"""The verbs by which people change incidents. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ragvigil.model.incident import Incident, IncidentEvent, IncidentState, Verb

NANOS = 10**9


class VerbDoesNotFit(ValueError):
    """The incident's state does not allow the verb; `str(error)` says why."""


class UnknownIncident(LookupError):
    """There is no incident of this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action of a person; times in seconds since the epoch, `until` for a snooze only.

    `name` is who has the incident after ASSIGN, empty for nobody.
    """

    verb: Verb
    now: float
    actor: str = ""
    text: str = ""
    until: float = 0.0
    name: str = ""


def act(incident: Incident, action: Action) -> tuple[Incident, IncidentEvent]:
    """Returns the changed incident and the event. Raises VerbDoesNotFit."""
    change = _CHANGES.get(action.verb)
    if change is None:
        raise VerbDoesNotFit(f"only the daemon can say {action.verb}; use {', '.join(_CHANGES)}")
    changed = change(incident, action)
    event = IncidentEvent(
        incident_id=incident.incident_id,
        time_unix_nano=int(action.now * NANOS),
        verb=action.verb,
        actor=action.actor,
        text=_text(action),
    )
    return changed, event


def _text(action: Action) -> str:
    """The words of the event; those of a handing over begin with who has it now."""
    if action.verb is not Verb.ASSIGN:
        return action.text
    return ": ".join(part for part in (f"to {action.name or 'nobody'}", action.text) if part)


def _acknowledge(incident: Incident, action: Action) -> Incident:
    _must_last(incident, action)
    return replace(
        incident,
        state=IncidentState.ACKNOWLEDGED,
        assignee=action.actor or incident.assignee,
        snoozed_until_unix_nano=0,
    )


def _snooze(incident: Incident, action: Action) -> Incident:
    _must_last(incident, action)
    if action.until <= action.now:
        raise VerbDoesNotFit("snooze needs a time in the future: until")
    return replace(
        incident,
        state=IncidentState.SNOOZED,
        assignee=action.actor or incident.assignee,
        snoozed_until_unix_nano=int(action.until * NANOS),
    )


def _expected(incident: Incident, action: Action) -> Incident:
    return replace(_resolved(incident, action), is_expected=True, is_false_page=False)


def _false_page(incident: Incident, action: Action) -> Incident:
    return replace(_resolved(incident, action), is_false_page=True, is_expected=False)


def _resolve(incident: Incident, action: Action) -> Incident:
    _must_last(incident, action)
    return _resolved(incident, action)


def _assign(incident: Incident, action: Action) -> Incident:
    _must_last(incident, action)
    return replace(incident, assignee=action.name)


def _note(incident: Incident, action: Action) -> Incident:
    if not action.text.strip():
        raise VerbDoesNotFit("a note needs words: text")
    return incident


def _resolved(incident: Incident, action: Action) -> Incident:
    """Resolves the incident; one that was resolved before keeps its time."""
    return replace(
        incident,
        state=IncidentState.RESOLVED,
        assignee=incident.assignee or action.actor,
        resolved_unix_nano=incident.resolved_unix_nano or int(action.now * NANOS),
        snoozed_until_unix_nano=0,
    )


def _must_last(incident: Incident, action: Action) -> None:
    if incident.state is IncidentState.RESOLVED:
        raise VerbDoesNotFit(
            f"incident {incident.incident_id} is resolved: it takes expected, false_page and "
            f"note, not {action.verb}"
        )


_CHANGES: Mapping[Verb, Callable[[Incident, Action], Incident]] = {
    Verb.ACKNOWLEDGE: _acknowledge,
    Verb.SNOOZE: _snooze,
    Verb.EXPECTED: _expected,
    Verb.FALSE_PAGE: _false_page,
    Verb.RESOLVE: _resolve,
    Verb.ASSIGN: _assign,
    Verb.NOTE: _note,
}
