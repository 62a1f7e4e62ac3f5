"""The verbs that people may apply to an incident, and when."""

from __future__ import annotations

import pytest

from alerts.incidents.verbs import Action, VerbDoesNotFit, act
from ragvigil.model.incident import Incident, IncidentState, Verb
from tests.unit.alerts.incident_values import START, at, finding, folded


def opened() -> Incident:
    return folded((), [finding("a")], 5)[0][0]


def done(verb: Verb, incident: Incident | None = None, **more: object) -> Incident:
    asked = Action(verb=verb, now=START + 600, actor="ada", **more)  # type: ignore[arg-type]
    return act(incident or opened(), asked)[0]


def test_acknowledging_names_who_does_it() -> None:
    incident = done(Verb.ACKNOWLEDGE)
    assert (incident.state, incident.assignee) == (IncidentState.ACKNOWLEDGED, "ada")


def test_a_snooze_needs_a_time_to_come() -> None:
    assert done(Verb.SNOOZE, until=START + 700).snoozed_until_unix_nano == (START + 700) * 10**9
    with pytest.raises(VerbDoesNotFit, match="in the future"):
        done(Verb.SNOOZE, until=START)


def test_expected_and_false_page_resolve_and_the_last_word_counts() -> None:
    expected = done(Verb.EXPECTED)
    assert (expected.state, expected.is_expected) == (IncidentState.RESOLVED, True)
    false = done(Verb.FALSE_PAGE, expected)
    assert (false.is_expected, false.is_false_page) == (False, True)
    assert false.resolved_unix_nano == at(10)


@pytest.mark.parametrize("verb", [Verb.ACKNOWLEDGE, Verb.SNOOZE, Verb.RESOLVE])
def test_what_is_resolved_takes_a_judgement_only(verb: Verb) -> None:
    with pytest.raises(VerbDoesNotFit, match="is resolved"):
        done(verb, done(Verb.RESOLVE), until=START + 700)


@pytest.mark.parametrize("verb", [Verb.OPENED, Verb.JOINED, Verb.ESCALATED, Verb.CLEARED])
def test_the_daemons_own_verbs_are_nobody_elses(verb: Verb) -> None:
    with pytest.raises(
        VerbDoesNotFit, match=r"only the daemon can say .*; use acknowledge, snooze"
    ):
        done(verb)


def test_handing_over_names_who_has_it_and_keeps_the_state() -> None:
    asked = Action(verb=Verb.ASSIGN, now=START + 600, actor="ada", text="her prompt", name="mara")
    incident, event = act(opened(), asked)
    assert (incident.assignee, incident.state) == ("mara", IncidentState.OPEN)
    assert (event.actor, event.text) == ("ada", "to mara: her prompt")
    assert done(Verb.ASSIGN, incident).assignee == ""
    with pytest.raises(VerbDoesNotFit, match="is resolved"):
        done(Verb.ASSIGN, done(Verb.RESOLVE), name="mara")


def test_a_note_needs_words_and_changes_nothing_whatever_the_state() -> None:
    for incident in (opened(), done(Verb.RESOLVE)):
        assert done(Verb.NOTE, incident, text="asking the owner") == incident
    with pytest.raises(VerbDoesNotFit, match="needs words"):
        done(Verb.NOTE, text=" ")
