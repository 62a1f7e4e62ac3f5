"""Findings are folded into incidents, one per cause."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incidents.fold import fold
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.verbs import Action, act
from ragvigil.model.audit import Audit, AuditResult
from ragvigil.model.finding import PAGES, Finding, FindingKind
from ragvigil.model.incident import Incident, IncidentState, Severity, Verb
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.model.score import Layer
from tests.unit.alerts.incident_values import (
    START,
    at,
    cleared,
    finding,
    folded,
    moved,
    notice,
)


def the_one(incidents: tuple[Incident, ...]) -> Incident:
    assert len(incidents) == 1, [incident.findings for incident in incidents]
    return incidents[0]


def test_follow_on_damage_of_one_fault_is_one_incident() -> None:
    low = finding("a", 0, layer=Layer.RETRIEVAL, signal="context_relevance")
    refusals = finding("b", 6, causes=tuple(Cause), signal="refusal:refused")
    shorter = moved("c", 9, causes=(Cause.GENERATION,), signal="answer_words")
    incidents, events = folded((), [refusals, shorter, low], 20)
    incident = the_one(incidents)
    assert [held.finding_id for held in incident.findings] == ["a", "b", "c"]
    assert incident.since_unix_nano == at(0)
    assert [event.verb for event in events] == [Verb.OPENED, Verb.JOINED, Verb.JOINED]


def test_onsets_further_apart_are_two_incidents() -> None:
    incidents, _ = folded((), [finding("a", 0), finding("b", 11)], 40)
    assert len(incidents) == 2


def test_the_onset_of_a_small_change_may_lie_further_off() -> None:
    small = finding("b", 20, low=0.01, high=0.09, seen_unix_nano=at(40))
    the_one(folded((), [finding("a", 0), small], 40)[0])
    large = replace(small, low=0.3, high=0.4)
    assert len(folded((), [finding("a", 0), large], 40)[0]) == 2


def test_a_sure_onset_beside_an_unsure_one_tells_that_of_the_incident() -> None:
    sure, unsure = finding("a", 0), finding("u", 4, low=0.01, high=0.09, seen_unix_nano=at(40))
    later = finding("b", 30)
    assert len(folded((), [unsure, later], 40)[0]) == 1
    assert len(folded((), [sure, unsure, later], 40)[0]) == 2


def test_faults_on_other_routes_are_two_incidents_however_near() -> None:
    found = [finding("a", 0), finding("b", 1, routes=("/chat",))]
    incidents, events = folded((), found, 10)
    assert len(incidents) == 2
    assert events[1].text.endswith(f"; also open: {events[0].incident_id}")
    everywhere = finding("c", 1, routes=())
    the_one(folded((), [found[0], everywhere], 10)[0])


def test_a_fault_that_shows_on_each_route_alone_is_one_incident() -> None:
    low = {"signal": "context_relevance", "layer": Layer.RETRIEVAL, "reference": 0.6}
    first = moved("a", 0, value=0.45, **low)
    second = moved("b", 4, value=0.5, routes=("/chat",), **low)
    the_one(folded((), [first, second], 30)[0])
    assert len(folded((), [first, replace(second, value=0.55)], 30)[0]) == 2
    assert len(folded((), [first, replace(second, value=0.7)], 30)[0]) == 2
    assert len(folded((), [first, replace(second, since_unix_nano=at(15))], 30)[0]) == 2


def test_what_a_share_of_requests_shows_is_one_change_however_each_route_names_it() -> None:
    kinds = (ChangeKind.OTHER_CHUNKS, ChangeKind.OTHER_CHUNKS, ChangeKind.REEMBEDDED)
    retrieval = {"kind": FindingKind.CHANGED, "causes": (Cause.RETRIEVAL,)}
    changes, found = [], []
    for place, (kind, since) in enumerate(zip(kinds, (3, 5, 22), strict=True)):
        route, late = f"/{place}", at(since + (20 if since == 22 else 6))
        partial = {"share": 0.3, "route": route, "noticed_unix_nano": late}
        changes.append(notice(f"n{place}", since, kind, after=f"{place}", **partial))
        found.append(finding(f"c{place}", since, signal=str(kind), routes=(route,), **retrieval))
    the_one(folded((), found, 50, tuple(changes))[0])
    # What all requests show is named as what it is, and its beginning is known.
    whole = tuple(replace(change, share=1.0) for change in changes)
    assert len(folded((), found, 50, whole)[0]) > 1
    stated = tuple(replace(change, kind=ChangeKind.PROMPT) for change in changes)
    other = [replace(each, causes=(Cause.GENERATION,)) for each in found]
    assert len(folded((), other, 50, stated)[0]) > 1


def test_answers_copied_from_a_context_of_another_language_are_its_damage() -> None:
    junk = finding("a", 3, layer=Layer.RETRIEVAL, signal="context_relevance:none_relevant")
    change = notice("n", 3, ChangeKind.OTHER_CHUNKS)
    opened, _ = folded((), [junk], 7, (change,))
    copied = finding("b", 4, signal="answer_language:failed", causes=(Cause.GENERATION,))
    incident = the_one(folded(opened, [junk, copied], 50, (change,))[0])
    assert incident.paged_unix_nano == at(7)
    # Without anything wrong in the context it is of the generation, as ever.
    alone = the_one(folded((), [copied], 50)[0])
    assert alone.cause is Cause.GENERATION
    assert len(folded(opened, [junk, replace(copied, routes=("/chat",))], 50, (change,))[0]) == 2


def test_faults_that_no_one_cause_explains_are_two_incidents() -> None:
    empty = finding("a", 0, causes=(Cause.RETRIEVAL, Cause.CORPUS), layer=Layer.RETRIEVAL)
    cut_off = finding("b", 2, causes=(Cause.GENERATION,), layer=Layer.GENERATION)
    assert len(folded((), [empty, cut_off], 10)[0]) == 2


def test_a_refusal_with_a_change_of_its_own_is_no_damage_of_the_retrieval() -> None:
    low = finding("a", 0, layer=Layer.RETRIEVAL, signal="context_relevance")
    refusals = finding("b", 6, causes=tuple(Cause), signal="refusal:refused")
    prompt = notice("p", 6)
    assert len(folded((), [low, refusals], 20, (prompt,))[0]) == 2


def test_other_services_and_environments_have_incidents_of_their_own() -> None:
    found = [finding("a"), finding("b", service="shop"), finding("c", environment="staging")]
    incidents, _ = folded((), found, 5)
    assert len(incidents) == 3


def test_a_confirmed_audit_joins_the_ticket_of_the_change_and_pages_once() -> None:
    change = notice("n", 0, ChangeKind.RECHUNKED)
    ticket, _ = folded((), [moved("m", 8)], 40, (change,))
    assert the_one(ticket).severity is Severity.TICKET
    audit = finding("x", 0, kind=FindingKind.AUDIT, seen_unix_nano=at(75))
    paged, events = folded(ticket, [moved("m", 8), audit], 75, (change,))
    incident = the_one(paged)
    assert incident.severity is Severity.PAGE
    assert incident.paged_unix_nano == at(75)
    assert {event.verb for event in events} == {Verb.JOINED, Verb.ESCALATED}
    later, events = folded(paged, [moved("m", 8), audit], 80, (change,))
    assert the_one(later).paged_unix_nano == at(75)
    assert not events


def confirmed_drop(after: float, minutes: float = 75) -> Finding:
    numbers = {"value": after, "reference": 0.9, "n": 120}
    return finding("x", kind=FindingKind.AUDIT, seen_unix_nano=at(minutes), **numbers)


def test_the_drops_of_one_audit_are_one_incident_whatever_their_causes() -> None:
    def drop(rubric: str, cause: Cause, audit: str = "a") -> Finding:
        name = f"audit-{audit}-{rubric}"
        made = finding(name, 0, kind=FindingKind.AUDIT, signal=rubric, causes=(cause,))
        return replace(made, seen_unix_nano=at(40))

    prompt = drop("prompt_relevance", Cause.RETRIEVAL)
    answers = drop("groundedness", Cause.GENERATION)
    opened, _ = folded((), [prompt], 40)
    incident = the_one(folded(opened, [prompt, answers], 60)[0])
    assert len(incident.findings) == 2
    the_one(folded((), [answers, prompt], 60)[0])
    of_another = drop("groundedness", Cause.GENERATION, "b")
    assert len(folded(opened, [prompt, of_another], 60)[0]) == 2


def test_a_small_confirmed_drop_is_a_ticket_and_pages_once_where_it_proves_larger() -> None:
    ticket, events = folded((), [confirmed_drop(0.81)], 75)
    assert the_one(ticket).severity is Severity.TICKET
    assert [event.verb for event in events] == [Verb.OPENED]
    paged, events = folded(ticket, [confirmed_drop(0.79, 95)], 95)
    incident = the_one(paged)
    assert (incident.severity, incident.paged_unix_nano) == (Severity.PAGE, at(95))
    assert incident.findings == (confirmed_drop(0.79, 95),)
    assert [event.verb for event in events] == [Verb.ESCALATED]
    assert folded(paged, [confirmed_drop(0.79, 95)], 96) == (paged, ())


def test_a_confirmed_drop_of_exactly_ten_points_pages() -> None:
    assert the_one(folded((), [confirmed_drop(0.8)], 75)[0]).severity is Severity.PAGE


@pytest.mark.parametrize(
    ("signal", "severity"),
    [("rerank_gain", Severity.TICKET), ("prompt_relevance", Severity.PAGE)],
)
def test_a_confirmed_drop_of_what_only_orders_chunks_is_a_ticket(
    signal: str, severity: Severity
) -> None:
    drop = replace(confirmed_drop(0.5), signal=signal)
    assert the_one(folded((), [drop], 75)[0]).severity is severity


def test_newer_numbers_of_an_audit_that_is_over_open_nothing() -> None:
    opened, _ = folded((), [finding("a", 10), confirmed_drop(0.85, 60)], 60)
    done, _ = folded(opened, [cleared(finding("a", 10), 90), confirmed_drop(0.85, 60)], 101)
    later, events = folded(done, [confirmed_drop(0.79, 102)], 102)
    assert later == done
    assert not events


@given(after=st.floats(0, 0.9))
def test_without_a_page_drop_every_confirmed_drop_pages(after: float) -> None:
    every = IncidentSettings(page_drop=0)
    incidents, _ = fold((), [confirmed_drop(after)], (), START + 75 * 60, every)
    assert the_one(incidents).severity is Severity.PAGE


def test_one_change_on_several_routes_is_one_incident() -> None:
    versions = {"before": "v1", "after": "v2"}
    changes = (notice("n", 0, **versions), notice("n2", 45, route="/chat", **versions))
    found = [finding("a", 4), finding("b", 50, routes=("/chat",))]
    the_one(folded((), found, 110, changes)[0])
    assert len(folded((), found, 110)[0]) == 2
    other = (changes[0], replace(changes[1], after="v3"))
    assert len(folded((), found, 110, other)[0]) == 2


def test_a_release_of_several_kinds_of_change_is_one_incident() -> None:
    changes = (
        notice("release", 0, ChangeKind.RELEASE, route=""),
        notice("prompt", 1),
        notice("chunks", 2, ChangeKind.RECHUNKED, route="/chat"),
    )
    found = [
        finding("a", 3, causes=(Cause.GENERATION,)),
        finding("b", 4, causes=(Cause.RETRIEVAL,), routes=("/chat",)),
    ]
    the_one(folded((), found, 20, changes)[0])
    assert len(folded((), found, 20, changes[1:])[0]) == 2


def test_what_follows_a_change_late_shares_it_only_where_its_onset_is_uncertain() -> None:
    change = notice("n", 0)
    late = finding("b", 60, n=200)
    assert len(folded((), [finding("a", 2), late], 70, (change,))[0]) == 2
    drift = replace(late, kind=FindingKind.DRIFT)
    the_one(folded((), [finding("a", 2), drift], 70, (change,))[0])
    rolling = replace(change, share=0.4)
    the_one(folded((), [finding("a", 2), late], 70, (rolling,))[0])


@pytest.mark.parametrize(("minutes", "expected"), [(20, 30), (300, -270)])
def test_a_drift_dates_an_incident_only_if_nothing_surer_does(minutes: int, expected: int) -> None:
    change = notice("n", 30)
    drift = finding("d", 30 - minutes, kind=FindingKind.DRIFT)
    broken = finding("b", 30, earliest_unix_nano=at(30 - minutes), latest_unix_nano=at(30))
    incident = the_one(folded((), [broken, drift], 60, (change,))[0])
    assert incident.since_unix_nano == at(expected)


def test_a_later_change_has_an_incident_of_its_own() -> None:
    changes = (notice("n", 0), notice("later", 80))
    incidents, _ = folded((), [finding("a", 5), finding("b", 85)], 90, changes)
    assert len(incidents) == 2


def test_nothing_open_for_five_minutes_resolves_by_itself() -> None:
    opened, _ = folded((), [finding("a")], 5)
    waiting, _ = folded(opened, [cleared(finding("a"), 20)], 20)
    assert the_one(waiting).state is IncidentState.OPEN
    still, _ = folded(waiting, [], 24)
    assert the_one(still).state is IncidentState.OPEN
    done, events = folded(still, [], 25)
    assert the_one(done).state is IncidentState.RESOLVED
    assert the_one(done).resolved_unix_nano == at(25)
    assert [event.verb for event in events] == [Verb.CLEARED]


def test_a_resolved_incident_takes_back_nothing_but_the_same_again() -> None:
    opened, _ = folded((), [finding("a", value=0.4, reference=0.2)], 5)
    done, _ = folded(opened, [cleared(finding("a"), 20)], 40)
    again = finding("a2", 70, signal="signal_a", value=0.5, reference=0.2)
    the_one(folded(done, [again], 75)[0])
    for other in (
        replace(again, routes=("/chat",)),
        replace(again, signal="signal_b"),
        replace(again, value=0.1),
        replace(again, since_unix_nano=at(101)),
    ):
        assert len(folded(done, [other], 101)[0]) == 2, other


def test_a_late_symptom_of_a_resolved_incident_is_no_second_page() -> None:
    opened, _ = folded((), [finding("a")], 5)
    done, _ = folded(opened, [cleared(finding("a"), 20)], 40)
    found_late = finding("b", 4)
    incident = the_one(folded(done, [found_late], 45)[0])
    assert incident.state is IncidentState.OPEN
    assert incident.paged_unix_nano == at(5)


def test_answers_that_are_halved_hours_after_a_cleared_incident_are_news() -> None:
    longer = moved("long", 0, signal="answer_words", value=300.0, reference=200.0)
    opened, _ = folded((), [longer], 20)
    done, _ = folded(opened, [cleared(longer, 90)], 110)
    assert the_one(done).state is IncidentState.RESOLVED
    halved = moved("half", 390, signal="answer_words", value=100.0, reference=200.0)
    assert len(folded(done, [halved], 400)[0]) == 2
    # Back at the level of before, but long after the incident: no way back of it, either.
    back = replace(halved, value=200.0, reference=300.0)
    assert len(folded(done, [back], 400)[0]) == 2


def test_a_way_back_that_is_found_late_belongs_to_the_incident_in_which_it_began() -> None:
    longer = moved("long", 0, signal="answer_words", value=300.0, reference=200.0)
    opened, _ = folded((), [longer], 20)
    done, _ = folded(opened, [cleared(longer, 90)], 110)
    back = moved("back", 80, signal="answer_words", value=200.0, reference=300.0)
    assert the_one(folded(done, [back], 130)[0]).state is IncidentState.RESOLVED


def test_what_comes_back_within_an_hour_opens_the_same_incident_without_a_second_page() -> None:
    opened, _ = folded((), [finding("a")], 5)
    done, _ = folded(opened, [cleared(finding("a"), 20)], 40)
    again = finding("a2", 70, signal="signal_a")
    back, events = folded(done, [again], 75)
    incident = the_one(back)
    assert incident.state is IncidentState.OPEN
    assert incident.paged_unix_nano == at(5)
    assert [event.verb for event in events] == [Verb.JOINED, Verb.OPENED]


def test_what_comes_back_later_is_a_new_incident() -> None:
    opened, _ = folded((), [finding("a")], 5)
    done, _ = folded(opened, [cleared(finding("a"), 20)], 40)
    incidents, _ = folded(done, [finding("a", 200)], 200)
    assert [incident.state for incident in incidents] == [
        IncidentState.RESOLVED,
        IncidentState.OPEN,
    ]


def test_numbers_that_go_back_after_the_fix_open_nothing() -> None:
    change = notice("n", 0, before="small", after="large")
    opened, _ = folded((), [moved("down", 5)], 10, (change,))
    fix = notice("fix", 90, before="large", after="small")
    up = moved("up", 95, signal="signal_down", value=500.0, reference=130.0)
    both = (change, fix)
    fixed, _ = folded(opened, [cleared(moved("down", 5), 97), up], 100, both)
    assert the_one(fixed).state is IncidentState.OPEN
    done, _ = folded(fixed, [up], 110, both)
    incident = the_one(done)
    assert incident.state is IncidentState.RESOLVED, "a number on its way back keeps nothing open"
    assert [suspect.notice_id for suspect in incident.suspects] == ["n", "fix"]
    much_later, _ = folded(done, [up], 600)
    the_one(much_later)


def test_a_neutral_move_after_the_fix_opens_nothing_but_a_worse_one_does() -> None:
    chunks = ChangeKind.RECHUNKED
    change = notice("n", 0, chunks, before="chunks of 500", after="chunks of 120")
    fix = notice("fix", 90, chunks, before="chunks of 121", after="chunks of 498")
    opened, _ = folded((), [finding("a", 5)], 10, (change,))
    neutral = moved("t", 130, signal="answer_words", value=90.0, reference=60.0)
    fixed, _ = folded(opened, [neutral, finding("a", 5)], 135, (change, fix))
    the_one(fixed)
    worse = moved("w", 130, signal="citation_coverage", value=0.4, reference=0.8)
    two, _ = folded(opened, [worse, finding("a", 5)], 135, (change, fix))
    assert len(two) == 2


def test_a_signal_that_falls_again_after_it_rose_is_worse_again() -> None:
    down = moved("1", 0, signal="citations")
    up = moved("2", 20, signal="citations", value=500.0, reference=120.0)
    again = moved("3", 40, signal="citations")
    opened, _ = folded((), [down], 1)
    back, _ = folded(opened, [cleared(down, 20), up], 21)
    incidents, _ = folded(back, [cleared(up, 40), again], 60)
    assert the_one(incidents).state is IncidentState.OPEN


def test_an_audit_ends_with_the_signals_beside_it() -> None:
    audit = finding("x", 0, kind=FindingKind.AUDIT, seen_unix_nano=at(60))
    opened, _ = folded((), [finding("a", 10), audit], 60)
    done, _ = folded(opened, [cleared(finding("a", 10), 90), audit], 101)
    assert the_one(done).state is IncidentState.RESOLVED
    later, events = folded(done, [audit], 102)
    assert the_one(later).state is IncidentState.RESOLVED
    assert not events


def test_an_audit_of_a_number_that_ends_after_the_number_is_back_keeps_nothing_open() -> None:
    number = moved("m", 0)
    audit = Audit(
        audit_id="a",
        service="desk",
        environment="prod",
        anchor_unix_nano=at(0),
        started_unix_nano=at(20),
        ended_unix_nano=at(110),
        sources=("m",),
    )
    opened, _ = folded((), [number], 20)
    back, _ = folded(opened, [cleared(number, 100)], 100)
    drop = finding("audit-a-completeness", 0, kind=FindingKind.AUDIT, signal="completeness")
    late = replace(drop, seen_unix_nano=at(110))
    done, _ = folded(back, [late], 110, audits=(audit,))
    assert the_one(done).state is IncidentState.RESOLVED
    # Of a change, nothing but its fix tells the end.
    of_change = replace(audit, sources=("m", "n"))
    open_still, _ = folded(back, [late], 110, audits=(of_change,))
    assert the_one(open_still).state is IncidentState.OPEN


def test_an_audit_alone_ends_with_the_fix_or_after_a_day() -> None:
    change = notice("n", 0, before="v1", after="v2")
    audit = finding("x", 0, kind=FindingKind.AUDIT, seen_unix_nano=at(60))
    opened, _ = folded((), [audit], 60, (change,))
    fix = notice("fix", 90, before="v2", after="v1")
    fixed, _ = folded(opened, [audit], 103, (change, fix))
    done, events = folded(fixed, [audit], 109, (change, fix))
    assert the_one(done).state is IncidentState.RESOLVED
    assert events[-1].text == "fixed at 13:30 by prompt v1, no audit confirmed it"
    lasting, _ = folded(opened, [audit], 60 + 23 * 60)
    assert the_one(lasting).state is IncidentState.OPEN
    old, _ = folded(lasting, [audit], 61 + 24 * 60)
    over, _ = folded(old, [audit], 80 + 24 * 60)
    assert the_one(over).state is IncidentState.RESOLVED
    again, _ = folded((), [audit], 80 + 24 * 60)
    assert again == ()


def test_a_drop_lasts_until_the_audit_of_its_fix_has_ended() -> None:
    change, fix = notice("n", 0, before="v1", after="v2"), notice("f", 90, before="v2", after="v1")
    dropped = finding("x", 0, kind=FindingKind.AUDIT, seen_unix_nano=at(60))
    opened, _ = folded((), [dropped], 60, (change,))
    audit = Audit(
        audit_id="a",
        service="desk",
        environment="prod",
        anchor_unix_nano=at(90),
        started_unix_nano=at(92),
        sources=("f",),
    )
    running, _ = folded(opened, [dropped], 125, (change, fix), audits=(audit,))
    assert the_one(running).findings[0].is_open
    gain = AuditResult(rubric="signal_x", layer=Layer.CROSS_CUTTING, low=0.05, high=0.2)
    ended = replace(audit, ended_unix_nano=at(131), results=(gain,))
    over, _ = folded(running, [dropped], 131, (change, fix), audits=(ended,))
    done, events = folded(over, [], 136, (change, fix), audits=(ended,))
    assert the_one(done).state is IncidentState.RESOLVED
    assert events[-1].text == "fixed at 13:30 by prompt v1, confirmed 14:11"


def test_a_change_that_is_undone_waits_45_minutes_for_the_audit_of_its_fix() -> None:
    change, fix = notice("n", 0, before="v1", after="v2"), notice("f", 90, before="v2", after="v1")
    dropped = finding("x", 0, kind=FindingKind.AUDIT, seen_unix_nano=at(60))
    opened, _ = folded((), [dropped], 60, (change,))
    slow = Audit(
        audit_id="a",
        service="desk",
        environment="prod",
        anchor_unix_nano=at(90),
        started_unix_nano=at(92),
        sources=("f",),
    )
    waiting, _ = folded(opened, [dropped], 136, (change, fix), audits=(slow,))
    assert the_one(waiting).findings[0].is_open
    over, _ = folded(waiting, [dropped], 137, (change, fix), audits=(slow,))
    done, events = folded(over, [], 142, (change, fix), audits=(slow,))
    assert the_one(done).state is IncidentState.RESOLVED
    assert events[-1].text == "fixed at 13:30 by prompt v1, no audit confirmed it"


def test_a_sustained_drop_keeps_nothing_open_once_all_else_is_back_after_the_fix() -> None:
    change, fix = notice("n", 0, before="v1", after="v2"), notice("f", 60, before="v2", after="v1")
    drift = finding("d", 5, kind=FindingKind.DRIFT, value=0.93, reference=0.98)
    opened, _ = folded((), [finding("a", 1), drift], 50, (change,))
    both = [cleared(finding("a", 1), 70), drift]
    lasting, _ = folded(opened, both, 80, (change,))
    assert the_one(lasting).state is IncidentState.OPEN, "nobody mended anything"
    over, _ = folded(opened, both, 80, (change, fix))
    assert the_one(over).state is IncidentState.RESOLVED
    later, events = folded(over, [drift], 300, (change, fix))
    assert the_one(later).state is IncidentState.RESOLVED
    assert not events
    worse, _ = folded(later, [drift], 90 + 24 * 60, (change, fix))
    incident = the_one(worse)
    assert incident.state is IncidentState.OPEN, "a day later it is no past any more"
    assert incident.paged_unix_nano == the_one(opened).paged_unix_nano


def test_the_fix_of_another_change_ends_no_drop() -> None:
    changes = (
        notice("n", 0, before="v1", after="v2"),
        notice("model", -60, ChangeKind.LLM_MODEL, before="small", after="large"),
        notice("fix", 90, ChangeKind.LLM_MODEL, before="large", after="small"),
    )
    dropped = finding("x", 0, kind=FindingKind.AUDIT, seen_unix_nano=at(60))
    opened, _ = folded((), [dropped], 60, changes)
    later, _ = folded(opened, [dropped], 200, changes)
    assert the_one(later).findings[0].is_open


def test_the_end_names_the_release_after_which_the_numbers_came_back() -> None:
    release = notice("r", 60, ChangeKind.RELEASE, route="", before="2.4.1", after="2.4.2")
    opened, _ = folded((), [finding("a")], 5)
    over, _ = folded(opened, [cleared(finding("a"), 75)], 75, (release,))
    _, events = folded(over, [], 80, (release,))
    assert events[-1].text == "fixed at 13:00 by release 2.4.2, confirmed 13:15"
    _, events = folded(over, [], 80, (replace(release, since_unix_nano=at(-5)),))
    assert events[-1].text == "nothing is worse any more"


def test_a_finding_that_nobody_confirms_any_more_is_over() -> None:
    opened, _ = folded((), [finding("a")], 5)
    quiet, _ = folded(opened, [], 30)
    assert the_one(quiet).findings[0].is_open
    over, _ = folded(quiet, [], 36)
    assert not the_one(over).findings[0].is_open


def test_a_snooze_ends_and_a_page_ends_it_early() -> None:
    opened, _ = folded((), [moved("m")], 1)
    snoozed, _ = act(the_one(opened), Action(verb=Verb.SNOOZE, now=START + 120, until=START + 3600))
    asleep, events = folded((snoozed,), [moved("m")], 30)
    assert the_one(asleep).state is IncidentState.SNOOZED
    assert not events
    awake, _ = folded(asleep, [moved("m")], 60)
    assert the_one(awake).state is IncidentState.OPEN
    paged, _ = folded(asleep, [moved("m"), finding("b", 5)], 31)
    assert the_one(paged).state is IncidentState.OPEN
    assert the_one(paged).severity is Severity.PAGE


def test_what_people_call_expected_or_false_stays_shut_while_it_lasts() -> None:
    opened, _ = folded((), [finding("a")], 5)
    for verb in (Verb.EXPECTED, Verb.FALSE_PAGE):
        shut, _ = act(the_one(opened), Action(verb=verb, now=START + 600))
        later, events = folded((shut,), [finding("a")], 300)
        assert the_one(later).state is IncidentState.RESOLVED
        assert not events


@pytest.mark.parametrize("verb", [Verb.EXPECTED, Verb.FALSE_PAGE])
@pytest.mark.parametrize(("value", "incidents"), [(0.32, 1), (0.5, 2), (0.02, 2)])
def test_what_goes_beyond_the_expected_level_is_news(
    verb: Verb, value: float, incidents: int
) -> None:
    """A rate that a person expects at 30 %, at once again: about as high, higher, or gone."""
    first = finding("a", value=0.3, reference=0.1, low=0.15, high=0.25)
    second = replace(first, finding_id="b", value=value, since_unix_nano=at(15))
    opened, _ = folded((), [first], 5)
    shut, _ = act(the_one(opened), Action(verb=verb, now=START + 600))
    later, _ = folded((shut,), [cleared(first, 11), second], 20)
    assert len(later) == incidents
    again = replace(first, value=value, since_unix_nano=at(15), seen_unix_nano=at(20))
    gone, _ = folded((shut,), [cleared(first, 11)], 12)
    same_id, _ = folded(gone, [again], 20)
    assert len(same_id) == incidents


def test_what_a_person_called_none_and_gets_worse_without_an_end_is_news() -> None:
    first = finding("a", value=0.2, reference=0.15, low=0.0, high=0.1)
    opened, _ = folded((), [first], 5)
    shut, _ = act(the_one(opened), Action(verb=Verb.FALSE_PAGE, now=START + 600))
    # Closer numbers of the same level are no news, and small steps do not move what was judged.
    same, _ = folded((shut,), [replace(first, value=0.24, low=0.08, high=0.1)], 60)
    assert the_one(same).state is IncidentState.RESOLVED
    assert the_one(same).findings[0].value == 0.2
    worse = replace(first, value=0.9, low=0.7, high=0.8)
    later, _ = folded(same, [worse], 120)
    assert [each.state for each in later] == [IncidentState.RESOLVED, IncidentState.OPEN]
    assert folded(later, [worse], 120) == (later, ())


def test_what_was_resolved_but_lasts_opens_again_after_an_hour() -> None:
    opened, _ = folded((), [finding("a")], 5)
    shut, _ = act(the_one(opened), Action(verb=Verb.RESOLVE, now=START + 600))
    quiet, _ = folded((shut,), [finding("a")], 60)
    assert the_one(quiet).state is IncidentState.RESOLVED
    open_again, events = folded(quiet, [finding("a")], 71)
    assert the_one(open_again).state is IncidentState.OPEN
    assert "still worse" in events[0].text


def test_a_finding_that_came_and_went_unseen_opens_nothing() -> None:
    assert folded((), [cleared(finding("a"), 3)], 5) == ((), ())


def test_suspects_are_those_whose_kind_fits_then_the_nearest() -> None:
    low = finding("a", 30, layer=Layer.RETRIEVAL, signal="context_relevance")
    changes = (
        notice("prompt", 29),
        notice("release", 28, ChangeKind.RELEASE, route="", environment=""),
        notice("chunks", 20, ChangeKind.RECHUNKED),
        notice("model", 10, ChangeKind.EMBEDDING_MODEL),
        notice("too_old", -100, ChangeKind.RECHUNKED),
        notice("other_route", 25, ChangeKind.RECHUNKED, route="/chat"),
        notice("after", 45, ChangeKind.RECHUNKED),
    )
    incidents, _ = folded((), [low], 40, changes)
    named = [incident.notice_id for incident in the_one(incidents).suspects]
    assert named == ["chunks", "model", "release", "prompt"]


def test_a_cause_needs_findings_and_changes_that_agree() -> None:
    low = finding("a", 10, layer=Layer.RETRIEVAL, signal="context_relevance")
    with_prompt, _ = folded((), [low], 12, (notice("n", 8),))
    assert the_one(with_prompt).cause is None
    with_chunks, _ = folded((), [low], 12, (notice("n", 8, ChangeKind.RECHUNKED),))
    assert the_one(with_chunks).cause is Cause.RETRIEVAL


names = st.sampled_from("abcdefg")
kinds = st.sampled_from(list(FindingKind))
found = st.builds(
    lambda name, since, kind, routes, value, over, length: finding(
        f"{name}{kind}",
        since,
        kind=kind,
        routes=tuple(sorted(routes)),
        signal=f"signal_{name}",
        value=value,
        reference=0.5,
        layer=list(Layer)[ord(name) % 3],
        cleared_unix_nano=at(since + length) if over else 0,
        seen_unix_nano=at(since + 1),
    ),
    names,
    st.integers(0, 200),
    kinds,
    st.sets(st.sampled_from(["/ask", "/chat"]), min_size=1),
    st.sampled_from([0.3, 0.8]),
    st.booleans(),
    st.integers(1, 30),
)
changed = st.builds(
    lambda name, since, kind, back: notice(
        f"{name}{since}", since, kind, before="b" if back else "a", after="a" if back else "b"
    ),
    names,
    st.integers(-60, 200),
    st.sampled_from(list(ChangeKind)),
    st.booleans(),
)
turns = st.lists(
    st.tuples(
        st.lists(found, max_size=6, unique_by=lambda finding: finding.finding_id),
        st.lists(changed, max_size=4, unique_by=lambda change: change.notice_id),
        st.integers(1, 90),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=80, deadline=None)
@given(turns=turns, order=st.randoms(use_true_random=False))
def test_folding_is_idempotent_and_blind_to_order_and_pages_at_most_once_an_incident(
    turns: list[tuple[list[Finding], list[Notice], int]], order: object
) -> None:
    incidents: tuple[Incident, ...] = ()
    escalations = 0
    minutes = 200
    for findings, notices, pause in turns:
        minutes += pause
        before = incidents
        incidents, events = folded(before, findings, minutes, tuple(notices))
        assert folded(incidents, findings, minutes, tuple(notices)) == (incidents, ())
        order.shuffle(findings)  # type: ignore[attr-defined]
        order.shuffle(notices)  # type: ignore[attr-defined]
        assert folded(before, findings, minutes, tuple(notices)) == (incidents, events)
        escalations += sum(event.verb is Verb.ESCALATED for event in events)
    pages = [incident for incident in incidents if incident.paged_unix_nano]
    assert escalations <= len(pages) <= len(incidents)
    for page in pages:
        assert any(held.kind in PAGES for held in page.findings)
    for incident in incidents:
        ids = [held.finding_id for held in incident.findings]
        assert len(ids) == len(set(ids))


@settings(max_examples=40, deadline=None)
@given(findings=st.lists(found, max_size=8, unique_by=lambda finding: finding.finding_id))
def test_every_open_finding_is_in_one_incident(findings: list[Finding]) -> None:
    incidents, _ = folded((), findings, 230)
    held = [finding.finding_id for incident in incidents for finding in incident.findings]
    assert sorted(held) == sorted(finding.finding_id for finding in findings if finding.is_open)


def test_the_same_first_finding_makes_the_same_incident_after_a_crash() -> None:
    first, _ = folded((), [finding("a")], 5)
    second, _ = folded((), [replace(finding("a"), n=9)], 9)
    assert first[0].incident_id == second[0].incident_id


def test_a_page_ends_though_the_change_before_it_was_never_declared() -> None:
    change = notice("n", 0)
    told = finding("c", 0, kind=FindingKind.CHANGED, signal="prompt")
    opened, _ = folded((), [told], 2, (change,))
    assert the_one(opened).severity is Severity.TICKET
    paged, _ = folded(opened, [told, finding("a", 5)], 8, (change,))
    assert the_one(paged).severity is Severity.PAGE
    done, _ = folded(paged, [told, cleared(finding("a", 5), 40)], 51, (change,))
    assert the_one(done).state is IncidentState.RESOLVED
    later, events = folded(done, [told], 200, (change,))
    assert the_one(later).state is IncidentState.RESOLVED
    assert not events


def test_a_resolved_ticket_of_a_change_stays_shut() -> None:
    told = finding("c", 0, kind=FindingKind.CHANGED, signal="prompt")
    opened, _ = folded((), [told], 2)
    assert the_one(opened).state is IncidentState.OPEN
    shut, _ = act(the_one(opened), Action(verb=Verb.RESOLVE, now=START + 600))
    later, events = folded((shut,), [told], 300)
    assert the_one(later).state is IncidentState.RESOLVED
    assert not events


def test_a_change_that_is_made_again_after_its_fix_is_a_suspect_again() -> None:
    changes = (
        notice("first", 0, before="v1", after="v2"),
        notice("fix", 60, before="v2", after="v1"),
        notice("again", 300, before="v1", after="v2"),
    )
    incidents, _ = folded((), [finding("a", 310)], 320, changes)
    assert [incident.notice_id for incident in the_one(incidents).suspects] == ["again"]
