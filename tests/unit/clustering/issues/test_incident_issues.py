"""An incident's answers become one issue, before any other grouping."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from clustering.issues.incident_group import (
    IncidentWindow,
    RouteTraffic,
    commonest,
    own_failures,
)
from clustering.issues.incident_job import IncidentIssues
from clustering.issues.metrics import ExposedIssue, is_worth_a_ticket
from clustering.issues.provisional import key_of
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident, IncidentState, Severity
from ragvigil.model.issue import Failure, MemberBy
from ragvigil.model.notice import Cause
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import incidents
from tests.outcomes import NOW, SECOND, outcome_of
from tests.unit.clustering.issue_examples import HOUR, START, failure
from tests.unit.clustering.issues.test_job import Works, keep, many, placed, where

MINUTE = 60 * SECOND


def refusing(number: int, **more: object) -> Outcome:
    """An answer that refuses and fails nothing else."""
    outcome = outcome_of(number, value=1.0, **more)  # type: ignore[arg-type]
    (scored,) = outcome.records
    *rest, refusal = scored.scores
    refused = replace(refusal, value=0.0, label="refused", explanation="it says that it cannot")
    return replace(outcome, records=(replace(scored, scores=(*rest, refused)),))


def using(number: int, share: float, **more: object) -> Outcome:
    """An answer that uses this share of its chunks and fails nothing."""
    outcome = outcome_of(number, value=1.0, **more)  # type: ignore[arg-type]
    (scored,) = outcome.records
    *rest, last = scored.scores
    used = replace(last, rubric="chunk_utilization", value=share, label="")
    return replace(outcome, records=(replace(scored, scores=(*rest, used)),))


def incident_of(signal: str, *, routes: tuple[str, ...] = ("/ask",), since: int = 0) -> Incident:
    finding = Finding(
        finding_id="f1",
        kind=FindingKind.BROKEN,
        service="helpdesk",
        environment="prod",
        routes=routes,
        signal=signal,
        layer=Layer.GENERATION,
        since_unix_nano=since or NOW - 5 * MINUTE,
        words="answers refuse",
    )
    return Incident(
        incident_id="i1",
        service="helpdesk",
        environment="prod",
        state=IncidentState.OPEN,
        severity=Severity.PAGE,
        opened_unix_nano=NOW,
        since_unix_nano=finding.since_unix_nano,
        findings=(finding,),
        cause=Cause.GENERATION,
    )


def open_incident(store: Store, incident: Incident) -> None:
    own = [(incident.incident_id, finding) for finding in incident.findings]
    store.write(incidents.batch([incident], own, [], NOW))


@pytest.fixture
def works(store: Store) -> Works:
    return Works(store=store)


def test_refusals_fail_for_the_time_of_an_incident_and_are_its_issue(works: Works) -> None:
    late = NOW - 3600 * SECOND
    keep(works.store, *(refusing(n) for n in range(1, 6)))
    keep(works.store, refusing(9, time_unix_nano=late), refusing(8, route="/chat"))
    works.turn()
    assert where(works.store) == {}
    open_incident(works.store, incident_of("refusal:refused"))
    works.turn()
    (issue,) = works.issues()
    assert (issue.incident_id, issue.members, issue.rubric) == ("i1", 5, "refusal")
    since = r"since \d+ \w+ \d\d:\d\d UTC, with the chunks as before"
    assert re.fullmatch(f"Answers refuse to answer · {since} · on /ask", issue.name)
    assert sorted(where(works.store)) == [1, 2, 3, 4, 5]
    assert {row.membership.by for row in placed(works.store).values() if row.membership} == {
        MemberBy.INCIDENT
    }
    works.turn()
    works.next_life().turn()
    assert [issue.members for issue in works.issues()] == [5]


def test_what_an_incident_shows_later_is_looked_for_in_the_minutes_read_before(
    works: Works,
) -> None:
    keep(works.store, *(refusing(n) for n in range(1, 6)))
    incident = incident_of("missing_citations:uncited")
    open_incident(works.store, incident)
    works.turn()
    assert where(works.store) == {}
    later = replace(incident.findings[0], finding_id="f2", signal="refusal:refused")
    open_incident(works.store, replace(incident, findings=(*incident.findings, later)))
    works.turn()
    assert sorted(where(works.store)) == [1, 2, 3, 4, 5]


def test_a_route_that_the_incident_does_not_name_joins_where_it_shows_as_clearly(
    works: Works,
) -> None:
    before = NOW - 3 * 3600 * SECOND
    for place, route in enumerate(("/ask", "/chat", "/fees")):
        first = 100 * (place + 1)
        healthy = [
            outcome_of(first + n, value=1.0, route=route, time_unix_nano=before) for n in range(40)
        ]
        # On /fees as many refused before: there it is nothing new.
        usual = [refusing(first + 50 + n, route=route, time_unix_nano=before) for n in range(8)]
        keep(works.store, *healthy, *(usual if route == "/fees" else []))
        keep(works.store, *(refusing(10 * (place + 1) + n, route=route) for n in range(6)))
    keep(works.store, *(outcome_of(40 + n, value=1.0, route="/fees") for n in range(20)))
    open_incident(works.store, incident_of("refusal:refused"))
    works.turn()
    (issue,) = works.issues()
    assert (issue.members, issue.routes) == (12, ("/ask", "/chat"))
    assert sorted(where(works.store)) == [*range(10, 16), *range(20, 26)]


def test_usual_answers_of_the_minutes_before_an_onset_are_in_no_issue_and_no_background(
    works: Works,
) -> None:
    def at(minutes: int) -> int:
        return NOW - minutes * MINUTE

    for first, minutes, refused, answered in ((1000, 180, 9, 110), (2000, 20, 5, 60)):
        keep(
            works.store, *(refusing(first + n, time_unix_nano=at(minutes)) for n in range(refused))
        )
        passing = range(first + 100, first + 100 + answered)
        keep(works.store, *(outcome_of(n, value=1.0, time_unix_nano=at(minutes)) for n in passing))
    keep(works.store, *(refusing(n) for n in range(1, 21)))
    incident = incident_of("refusal:refused")
    early = replace(incident.findings[0], earliest_unix_nano=at(30))
    open_incident(works.store, replace(incident, findings=(early,)))
    works.turn()
    works.next_life().turn()
    (issue,) = works.issues()
    assert (issue.incident_id, issue.members) == ("i1", 20)
    assert works.job.background() == []


def test_refusals_of_questions_that_were_always_refused_are_none_of_the_incident(
    works: Works,
) -> None:
    before = NOW - 3 * 3600 * SECOND

    def asking(outcome: Outcome, question: str) -> Outcome:
        (scored,) = outcome.records
        record = replace(scored.record, query=question)
        return replace(outcome, records=(replace(scored, record=record),))

    past = [
        *(asking(refusing(100 + n, time_unix_nano=before), "Who won?") for n in range(4)),
        asking(refusing(110, time_unix_nano=before), "Once refused?"),
        *(asking(outcome_of(120 + n, value=1.0, time_unix_nano=before), "When?") for n in range(9)),
    ]
    keep(works.store, *past)
    for first, question in ((1, "when? "), (11, " who WON?"), (21, "Once refused?")):
        keep(works.store, *(asking(refusing(first + n), question) for n in range(4)))
    open_incident(works.store, incident_of("refusal:refused"))
    for _ in range(2):
        works.turn()
        (issue,) = works.issues()
        assert issue.members == 8
        own = [number for number, home in where(works.store).items() if home]
        assert sorted(own) == [1, 2, 3, 4, 21, 22, 23, 24]


def test_of_two_findings_of_one_signal_the_higher_usual_share_counts(works: Works) -> None:
    before = NOW - 3 * 3600 * SECOND
    for place, (route, refused) in enumerate((("/fees", 100), ("/ask", 0))):
        first = 1000 * (place + 1)
        kept = [
            (refusing if n < refused else outcome_of)(  # type: ignore[operator]
                first + n, route=route, time_unix_nano=before
            )
            for n in range(120)
        ]
        keep(works.store, *kept)
        keep(works.store, *(refusing(first + 200 + n, route=route) for n in range(6)))
    incident = incident_of("refusal:refused", routes=("/fees",))
    other = replace(incident.findings[0], finding_id="f2", routes=("/ask",))
    open_incident(works.store, replace(incident, findings=(*incident.findings, other)))
    (window,) = IncidentIssues(works.store).read(NOW / SECOND).windows
    assert window.usual["refusal", "refused"] >= 100 / 240


@pytest.mark.parametrize(("low_before", "joins"), [(2, 6), (40, 0)])
def test_values_of_code_fail_for_the_time_of_an_incident_where_they_are_lower_than_usual(
    works: Works, low_before: int, joins: int
) -> None:
    before = NOW - 3 * 3600 * SECOND
    past = [using(100 + n, 0.8, time_unix_nano=before) for n in range(120)]
    low = [using(300 + n, 0.1, time_unix_nano=before) for n in range(low_before)]
    keep(works.store, *past, *low, *(using(n, 0.1) for n in range(6)), using(9, 0.8))
    incident = incident_of("chunk_utilization")
    (finding,) = incident.findings
    moved = replace(finding, kind=FindingKind.MOVED)
    open_incident(works.store, replace(incident, findings=(moved,)))
    works.turn()
    assert sum(issue.members for issue in works.issues() if issue.incident_id) == joins


def test_answers_that_were_in_another_issue_come_into_that_of_the_incident(works: Works) -> None:
    keep(works.store, *many(1, 6, "the quoted words stand in no chunk"))
    works.turn()
    (before,) = works.issues()
    assert before.members == 6
    open_incident(works.store, incident_of("citation_validity:failed"))
    works.turn()
    assert {issue.incident_id: issue.members for issue in works.issues()} == {"": 0, "i1": 6}
    keep(works.store, *many(11, 2, "the quoted words stand in no chunk"))
    works.turn()
    assert {issue.incident_id: issue.members for issue in works.issues()} == {"": 0, "i1": 8}


def test_an_issue_of_an_incident_is_no_ticket_of_its_own(works: Works) -> None:
    keep(works.store, *(refusing(n) for n in range(1, 30)))
    open_incident(works.store, incident_of("refusal:refused"))
    works.turn()
    (issue,) = works.issues()
    assert issue.members == 29
    assert issue.name.startswith("Answers refuse to answer")
    shown = ExposedIssue(issue=issue, days=[29], message=None)  # type: ignore[arg-type]
    assert not is_worth_a_ticket(shown)
    assert is_worth_a_ticket(replace(shown, issue=replace(issue, incident_id="")))
    assert not is_worth_a_ticket(
        replace(shown, issue=replace(issue, incident_id=""), is_of_first_day=True)
    )


@pytest.mark.parametrize(
    ("count", "before", "signal", "joins"),
    [
        (20, 0, "answer_language:failed", 20),
        (20, 2000, "answer_language:failed", 0),
        (20, 1000, "citation_validity:failed", 20),
        (20, 2000, "citation_validity:failed", 0),
        (2, 0, "citation_validity:failed", 0),
    ],
)
def test_only_kinds_that_are_more_frequent_than_before_join(
    count: int, before: int, signal: str, joins: int
) -> None:
    failures = [
        replace(failure(n), rubric="citation_validity", label="quote_not_found")
        for n in range(count)
    ]
    first = failures[0]
    times = [each.time_unix_nano / SECOND for each in failures]
    window = IncidentWindow(
        incident_id="i1",
        service=first.service,
        environment=first.environment,
        routes=frozenset(),
        signals=frozenset({signal}),
        first=min(times) - 1,
        last=max(times) + 1,
    )
    traffic = RouteTraffic(
        failed_before={key_of(first): before}, requests_before=20_000, requests=200
    )
    assert len(own_failures(window, failures, traffic)) == joins


@pytest.mark.parametrize(
    ("refusing", "signals", "expected"),
    [
        (8, {"answer_words", "refusal:refused"}, "refusal"),  # a rate of most of them
        (2, {"answer_words", "refusal:refused"}, "answer_words"),  # not of most
        (0, {"answer_words", "chunk_utilization"}, "answer_words"),  # what most fail, be it last
        (0, {"chunk_utilization"}, "chunk_utilization"),  # only one is named
        (8, set(), "answer_words"),
    ],
)
def test_an_issue_is_named_by_what_most_of_its_answers_fail(
    refusing: int, signals: set[str], expected: str
) -> None:
    def made(first: int, count: int, rubric: str, label: str) -> list[Failure]:
        rubrics = tuple(dict.fromkeys((rubric, "answer_words")))
        return [
            replace(failure(str(first + n)), rubric=rubric, label=label, rubrics=rubrics)
            for n in range(count)
        ]

    failures = [
        *made(0, refusing, "refusal", "refused"),
        *made(20, 5, "chunk_utilization", ""),
        *made(40, 3, "answer_words", "short"),
    ]
    assert commonest(failures, signals).rubric == expected


def unsupported_window(**times: Any) -> IncidentWindow:
    """That of an incident of unsupported answers, on all routes."""
    return IncidentWindow(
        incident_id="i1",
        service="desk",
        environment="prod",
        routes=frozenset(),
        signals=frozenset({"groundedness:unsupported"}),
        **times,
    )


def test_an_answer_that_fails_in_a_further_way_is_of_the_incident_all_the_same() -> None:
    def labelled(first: int, count: int, label: str) -> list[Failure]:
        return [failure(str(first + n), hours=0.01 * n, label=label) for n in range(count)]

    failures = [
        *labelled(0, 6, "unsupported"),
        *labelled(10, 1, "unsupported,contradicted"),
        *labelled(20, 2, "contradicted"),
    ]
    window = unsupported_window(
        first=START,
        last=START + HOUR,
    )
    traffic = RouteTraffic(
        failed_before={key_of(failures[-1]): 500}, requests_before=20_000, requests=200
    )
    own = own_failures(window, failures, traffic)
    assert {each.label: each for each in own}.keys() == {"unsupported", "unsupported,contradicted"}
    assert len(own) == 7


@pytest.mark.parametrize(
    ("before", "shown", "early", "joins"),
    [
        (0, 0.0, (-20, -7, -6, -5, -4), 15),  # all, as none failed so before
        (400, 0.0, (-20, -7, -6, -5, -4), 14),  # the stretch, without the one that fails anyhow
        (400, 0.0, (-25, -20, -15), 10),  # they fail as often as before
        (0, 0.02, (-25, -20, -15), 10),  # the same of what fails for the incident's time only
    ],
)
def test_answers_of_before_the_likeliest_onset_join_where_they_lead_up_to_it(
    before: int, shown: float, early: tuple[int, ...], joins: int
) -> None:
    minutes = [*early, *range(10)]
    failures = [failure(str(minute), hours=minute / 60) for minute in minutes]
    window = unsupported_window(
        first=START - HOUR / 2,
        onset=START,
        last=START + HOUR,
        usual={("groundedness", "unsupported"): shown},
    )
    traffic = RouteTraffic(
        failed_before={key_of(failures[0]): before},
        requests_before=20_000,
        requests=100,
        early={int(START) + 60 * minute: 10 for minute in range(-30, 0)},
    )
    assert len(own_failures(window, failures, traffic)) == joins
