"""The job of incidents over the embedded store: stored, rebuilt, changed by people."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from alerts.incidents.fold import fold
from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.verbs import UnknownIncident, VerbDoesNotFit
from ragvigil.model.deploy import Deploy
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import IncidentState, Verb
from ragvigil.model.notice import Cause, ChangeKind
from ragvigil.store.engine.erased import Subject, erased_hash
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import deploys, notices
from ragvigil.store.watch import incidents as stored
from ragvigil.store.watch.incidents import IncidentFilter, PageCounts
from tests.occupied import occupied
from tests.patience import PATIENCE_SECONDS
from tests.unit.alerts import incident_values as values

NOW = float(int(time.time()) - 7200)
SHIFT = int(NOW - values.START) * 10**9


def seconds(minutes: float) -> float:
    return NOW + 60 * minutes


def finding(name: str, since: float = 0.0, **more: object) -> Finding:
    made = values.finding(name, since, **more)
    return replace(
        made,
        since_unix_nano=made.since_unix_nano + SHIFT,
        seen_unix_nano=made.seen_unix_nano + SHIFT,
        traces=("a" * 32,),
        causes=(Cause.GENERATION,),
        words="naïve “words”",
    )


def over(finding: Finding, minutes: float) -> Finding:
    return replace(finding, cleared_unix_nano=int(seconds(minutes) * 1e9))


def job(store: Store, minutes: float = 0.0) -> IncidentJob:
    return IncidentJob(store, IncidentSettings(), "https://v", clock=lambda: seconds(minutes))


def test_what_is_folded_is_there_again_after_a_restart(store: Store) -> None:
    first = job(store)
    change = values.notice("n", -5, before="v1", after="v2", evidence={"share": 0.5})
    change = replace(
        change,
        since_unix_nano=change.since_unix_nano + SHIFT,
        noticed_unix_nano=change.noticed_unix_nano + SHIFT,
    )
    opened = first.run(seconds(3), [finding("a"), finding("b", 1)], [change])
    assert [suspect.notice_id for suspect in opened[0].suspects] == ["n"]
    again = job(store, 4)
    assert again.open_incidents() == opened
    assert {finding.finding_id for finding in again.open_findings()} == {"a", "b"}
    assert stored.find(store, IncidentFilter(service="desk", state="open")) == list(opened)
    assert again.run(seconds(3), [finding("a"), finding("b", 1)], []) == opened


def test_a_crash_between_findings_and_incident_loses_nothing(store: Store) -> None:
    incidents, _ = fold((), [finding("a")], (), seconds(1), IncidentSettings())
    lost = [(incidents[0].incident_id, finding("a"))]
    store.write(stored.batch([], lost, [], int(seconds(1) * 1e9)))
    again = job(store, 2)
    assert [finding.finding_id for finding in again.open_findings()] == ["a"]
    found = again.run(seconds(2), [over(finding("a"), 2)], [])
    assert [finding.finding_id for finding in again.find(incidents[0].incident_id).findings] == [
        "a"
    ]
    assert job(store, 3).open_incidents() == found


def test_new_numbers_alone_are_written_once_a_minute(store: Store) -> None:
    running = job(store)
    running.run(seconds(1), [finding("a", n=1)], [])
    running.run(seconds(1.5), [finding("a", n=2)], [])
    assert stored.find(store, IncidentFilter())[0].findings[0].n == 1
    running.run(seconds(2), [finding("a", n=3)], [])
    assert stored.find(store, IncidentFilter())[0].findings[0].n == 3


def test_a_deploy_mark_is_a_suspect(store: Store) -> None:
    mark = Deploy(
        deploy_id="d", service="desk", time_unix_nano=int(seconds(-9) * 1e9), version="7.1"
    )
    store.write(deploys.batch([mark], int(seconds(-9) * 1e9)))
    incident = job(store).run(seconds(1), [finding("a")], [])[0]
    assert [(suspect.kind, suspect.after) for suspect in incident.suspects] == [
        (ChangeKind.RELEASE, "7.1")
    ]


def test_changes_that_were_noticed_before_a_restart_are_still_known(store: Store) -> None:
    change = values.notice("n", -5)
    change = replace(
        change,
        since_unix_nano=change.since_unix_nano + SHIFT,
        noticed_unix_nano=change.noticed_unix_nano + SHIFT,
    )
    store.write(notices.batch([change], int(seconds(0) * 1e9)))
    incident = job(store).run(seconds(1), [finding("a")], [])[0]
    assert [suspect.notice_id for suspect in incident.suspects] == ["n"]


def test_verbs_are_kept_with_who_said_them(store: Store) -> None:
    running = job(store, 5)
    incident = running.run(seconds(1), [finding("a")], [])[0]
    running.act(incident.incident_id, Verb.ACKNOWLEDGE, "ada", "looking")
    after = job(store, 6).find(incident.incident_id)
    assert (after.state, after.assignee) == (IncidentState.ACKNOWLEDGED, "ada")
    events = stored.events(store, incident.incident_id)
    assert [(event.verb, event.actor, event.text) for event in events][1:] == [
        (Verb.ACKNOWLEDGE, "ada", "looking")
    ]


def test_an_unknown_incident_and_a_verb_that_does_not_fit_are_named_errors(store: Store) -> None:
    running = job(store, 5)
    with pytest.raises(UnknownIncident, match="no incident nope"):
        running.act("nope", Verb.RESOLVE)
    incident = running.run(seconds(1), [finding("a")], [])[0]
    running.act(incident.incident_id, Verb.RESOLVE)
    with pytest.raises(VerbDoesNotFit):
        running.act(incident.incident_id, Verb.ACKNOWLEDGE)


def test_expected_levels_are_handed_on_and_survive_a_restart(store: Store) -> None:
    running = job(store, 5)
    held = [
        finding("a", value=0.9, routes=("/ask",)),
        finding("m", value=80.0, kind=FindingKind.MOVED, routes=("/ask", "/chat")),
        finding("gone", value=0.5),
    ]
    running.run(seconds(1), held, [])
    incident = running.run(seconds(2), [*held[:2], over(held[2], 2)], [])[0]
    running.act(incident.incident_id, Verb.EXPECTED)
    levels = {
        ("desk", "prod", "signal_a", "/ask"): 0.9,
        ("desk", "prod", "signal_m", "*"): 80.0,
    }
    assert running.accepted() == levels
    assert job(store, 6).accepted() == levels
    running.act(incident.incident_id, Verb.FALSE_PAGE)
    assert running.accepted() == {}


def test_the_precision_of_pages_counts_what_people_judged(store: Store) -> None:
    running = job(store, 5)
    assert running.pages() == PageCounts()
    assert running.pages().precision is None
    found = [finding(name, service=name) for name in "abcd"]
    ticket = finding("t", service="t", kind=FindingKind.MOVED)
    incidents = running.run(seconds(1), [*found, ticket], [])
    by_service = {incident.service: incident.incident_id for incident in incidents}
    running.act(by_service["a"], Verb.FALSE_PAGE)
    running.act(by_service["b"], Verb.RESOLVE)
    running.act(by_service["c"], Verb.EXPECTED)
    running.act(by_service["d"], Verb.ACKNOWLEDGE)
    running.act(by_service["t"], Verb.FALSE_PAGE)
    counts = running.pages()
    assert (counts.pages, counts.judged, counts.false_pages) == (4, 3, 1)
    assert counts.precision == pytest.approx(2 / 3)


def test_the_message_links_to_the_daemons_address(store: Store) -> None:
    running = job(store, 5)
    incident = running.run(seconds(1), [finding("a")], [])[0]
    assert running.message(incident).link == f"https://v/incidents/{incident.incident_id}"


def test_what_a_person_called_false_stays_so_after_a_restart_days_later(store: Store) -> None:
    running = job(store, 5)
    (incident,) = running.run(seconds(1), [finding("a", value=0.3)], [])
    running.act(incident.incident_id, Verb.FALSE_PAGE)
    days = 3 * 24 * 60
    later = job(store, days)
    assert later.run(seconds(days), [finding("a", value=0.3)], []) == ()
    assert later.find(incident.incident_id).is_false_page
    assert later.pages().false_pages == 1


def test_the_names_of_erased_traces_do_not_come_back(store: Store) -> None:
    running = job(store, 5)
    store.erased.add([erased_hash(Subject.TRACE, "a" * 32)])
    (incident,) = running.run(seconds(1), [finding("a")], [])
    assert [each.traces for each in incident.findings] == [()]
    assert [each.traces for each in job(store, 6).open_findings()] == [()]


def test_open_incidents_are_read_while_a_verb_waits_for_the_store(store: Store) -> None:
    incidents = job(store, 4)
    opened = incidents.run(seconds(3), [finding("a")], [])
    name = opened[0].incident_id
    with ThreadPoolExecutor(2) as threads:
        with occupied(store, Priority.TICK):
            resolving = threads.submit(incidents.act, name, Verb.RESOLVE)
            reading = threads.submit(incidents.open_incidents)
            assert reading.result(PATIENCE_SECONDS / 2) == opened
            assert not resolving.done()
        assert resolving.result(PATIENCE_SECONDS).state is IncidentState.RESOLVED
    assert incidents.open_incidents() == ()
