"""What people do to incidents. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ragvigil.model.incident import Incident, IncidentEvent, IncidentState, Verb

NANOS = 10**9


class VerbDoesNotFit(ValueError):
    """An incident in this state does not take this verb; `str(error)` says why."""


class UnknownIncident(LookupError):
    """There is no incident of this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One act of a person; times in seconds since the epoch, `until` of a snooze only."""

    verb: Verb
    now: float
    actor: str = ""
    text: str = ""
    until: float = 0.0


def act(incident: Incident, done: Act) -> tuple[Incident, IncidentEvent]:
    """The incident afterwards, and what is written of it. Raises VerbDoesNotFit."""
    change = _CHANGES.get(done.verb)
    if change is None:
        raise VerbDoesNotFit(f"{done.verb} is the daemon's own; people say {', '.join(_CHANGES)}")
    changed = change(incident, done)
    event = IncidentEvent(
        incident_id=incident.incident_id,
        time_unix_nano=int(done.now * NANOS),
        verb=done.verb,
        actor=done.actor,
        text=done.text,
    )
    return changed, event


def _acknowledge(incident: Incident, done: Act) -> Incident:
    _must_last(incident, done)
    return replace(
        incident,
        state=IncidentState.ACKNOWLEDGED,
        assignee=done.actor or incident.assignee,
        snoozed_until_unix_nano=0,
    )


def _snooze(incident: Incident, done: Act) -> Incident:
    _must_last(incident, done)
    if done.until <= done.now:
        raise VerbDoesNotFit("snooze needs a time in the future: until")
    return replace(
        incident,
        state=IncidentState.SNOOZED,
        assignee=done.actor or incident.assignee,
        snoozed_until_unix_nano=int(done.until * NANOS),
    )


def _expected(incident: Incident, done: Act) -> Incident:
    return replace(_resolved(incident, done), is_expected=True, is_false_page=False)


def _false_page(incident: Incident, done: Act) -> Incident:
    return replace(_resolved(incident, done), is_false_page=True, is_expected=False)


def _resolve(incident: Incident, done: Act) -> Incident:
    _must_last(incident, done)
    return _resolved(incident, done)


def _resolved(incident: Incident, done: Act) -> Incident:
    """What was over already keeps the time at which it was."""
    return replace(
        incident,
        state=IncidentState.RESOLVED,
        assignee=incident.assignee or done.actor,
        resolved_unix_nano=incident.resolved_unix_nano or int(done.now * NANOS),
        snoozed_until_unix_nano=0,
    )


def _must_last(incident: Incident, done: Act) -> None:
    if incident.state is IncidentState.RESOLVED:
        raise VerbDoesNotFit(
            f"incident {incident.incident_id} is resolved: it takes expected and false_page, "
            f"not {done.verb}"
        )


_CHANGES: Mapping[Verb, Callable[[Incident, Act], Incident]] = {
    Verb.ACKNOWLEDGE: _acknowledge,
    Verb.SNOOZE: _snooze,
    Verb.EXPECTED: _expected,
    Verb.FALSE_PAGE: _false_page,
    Verb.RESOLVE: _resolve,
}
