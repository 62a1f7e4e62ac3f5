"""What is no longer sent is one finding of its own: never a change, never audited, of no layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from alerts.audits.anchors import of_finding
from alerts.incidents.fold import fold
from alerts.incidents.message import message
from alerts.incidents.settings import IncidentSettings
from alerts.notices.blind import Mending, findings, lack_of
from alerts.notices.detect import RouteNotices
from alerts.notices.fingerprint import Fingerprint
from alerts.notices.settings import NoticeSettings
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import IncidentState, Severity
from ragvigil.model.notice import Notice
from ragvigil.model.record import Absent
from tests.unit.alerts.fingerprints import PLACE, SECOND, START, Setup, traffic
from tests.unit.alerts.incident_values import finding as finding_of

LACKS = {"document_texts": Absent.HIDDEN}
MENDING = Mending(
    needs={"groundedness": ["answer", "document_texts"], "refusal": ["answer"]},
    remedy=lambda scope, field, reason: f"export {scope}_{field}_{reason}=false  # see there",
)


def sent(requests: Iterable[Fingerprint]) -> list[Fingerprint]:
    return [replace(request, lacks={}) for request in requests]


def without_texts(requests: Iterable[Fingerprint]) -> list[Fingerprint]:
    """Their chunks are named by ids, as no text can be hashed."""
    return [
        replace(
            request,
            by_text=False,
            chunks=tuple(
                chunk._replace(text=chunk.text + 7_000_000, length=None)
                for chunk in request.chunks or ()
            ),
            lacks=LACKS,
            scopes=("llm", "retriever"),
        )
        for request in requests
    ]


def seen(requests: Iterable[Fingerprint]) -> tuple[RouteNotices, list[Notice]]:
    detector = RouteNotices(PLACE, NoticeSettings())
    return detector, [notice for request in requests for notice in detector.step(request)]


def blind(detector: RouteNotices, now: int = START) -> tuple[Finding, ...]:
    lacks = (*detector.sight.open, *detector.sight.take_over())
    return findings([(PLACE, lack) for lack in lacks], MENDING, now)


def test_texts_that_are_no_longer_sent_are_a_finding_and_no_change() -> None:
    requests = traffic((500, Setup()))
    detector, notices = seen([*sent(requests[:300]), *without_texts(requests[300:])])
    assert notices == []
    (finding,) = blind(detector)
    assert (finding.kind, finding.signal, finding.routes) == (
        FindingKind.BLIND, "document_texts", ("/ask",),
    )  # fmt: skip
    assert finding.since_unix_nano == requests[300].time_unix_nano
    assert (finding.causes, finding.value, finding.n) == ((), 1.0, 200)
    assert finding.words == (
        "the texts of chunks: no longer sent on 100 % of requests; to mend it: export "
        "retriever_document_texts_hidden=false; off without it: groundedness"
    )
    assert of_finding(finding) is None


def test_it_is_said_after_twelve_requests_and_over_with_the_first_that_carries_it_again() -> None:
    requests = traffic((400, Setup()))
    detector, _ = seen([*sent(requests[:300]), *without_texts(requests[300:311])])
    assert blind(detector) == ()
    detector.step(without_texts(requests[311:312])[0])
    assert len(blind(detector)) == 1
    for request in sent(requests[312:345]):
        detector.step(request)
    (finding,) = blind(detector)
    assert finding.cleared_unix_nano == requests[312].time_unix_nano
    assert blind(detector) == ()


@pytest.mark.parametrize("between", range(30, 46, 3))
def test_what_is_lacking_again_soon_after_it_was_sent_again_is_seen(between: int) -> None:
    requests = traffic((312 + between + 12, Setup()))
    again = 312 + between
    detector, _ = seen([
        *sent(requests[:300]), *without_texts(requests[300:312]),
        *sent(requests[312:again]), *without_texts(requests[again:]),
    ])  # fmt: skip
    (finding,) = blind(detector)
    assert (finding.is_open, finding.value) == (True, 1.0)
    assert finding.since_unix_nano == requests[again].time_unix_nano


def test_a_share_of_requests_is_enough_and_is_said() -> None:
    requests = traffic((600, Setup()))
    mixed = [
        without_texts([request])[0] if number % 10 < 3 else sent([request])[0]
        for number, request in enumerate(requests[300:])
    ]
    detector, notices = seen([*sent(requests[:300]), *mixed])
    (finding,) = blind(detector)
    assert notices == []
    assert finding.value is not None
    assert abs(finding.value - 0.3) < 0.02
    assert "on 30 % of requests" in finding.words


def test_what_was_never_sent_is_not_missed_nor_what_failed_requests_lack() -> None:
    requests = traffic((600, Setup()))
    assert blind(seen(without_texts(requests))[0]) == ()
    failed = [replace(request, lacks=None) for request in requests[300:]]
    assert blind(seen([*sent(requests[:300]), *failed])[0]) == ()
    now_and_then = [
        (without_texts if number % 25 == 0 else sent)([request])[0]
        for number, request in enumerate(requests)
    ]
    assert blind(seen(now_and_then)[0]) == ()


def test_what_changes_while_texts_are_not_sent_is_seen_by_ids() -> None:
    requests = traffic((600, Setup()))
    other = [
        replace(request, chunks=tuple(chunk._replace(text=chunk.text + 1) for chunk in request.chunks or ()))  # noqa: E501
        for request in without_texts(requests[500:])
    ]  # fmt: skip
    _, notices = seen([*sent(requests[:200]), *without_texts(requests[200:500]), *other])
    assert len(notices) == 1


def test_a_restart_goes_on_with_it() -> None:
    requests = traffic((400, Setup()))
    detector, _ = seen([*sent(requests[:300]), *without_texts(requests[300:])])
    (before,) = blind(detector)
    again, _ = seen(without_texts(requests[100:140]))
    again.sight.resume(lack_of(before))
    (after,) = blind(again)
    assert (after.finding_id, after.since_unix_nano) == (before.finding_id, before.since_unix_nano)


def test_it_ends_with_its_route() -> None:
    requests = traffic((400, Setup()))
    detector, _ = seen([*sent(requests[:300]), *without_texts(requests[300:])])
    last = requests[-1].time_unix_nano
    detector.sight.end_silent(last + 23 * 3600 * SECOND)
    assert [each.is_open for each in blind(detector)] == [True]
    detector.sight.end_silent(last + 24 * 3600 * SECOND)
    assert [each.cleared_unix_nano for each in blind(detector)] == [last]
    assert blind(detector) == ()


def test_it_is_a_ticket_of_its_own_and_joins_no_incident_of_quality() -> None:
    requests = traffic((400, Setup()))
    detector, _ = seen([*sent(requests[:300]), *without_texts(requests[300:])])
    now = requests[-1].time_unix_nano
    (lacking,) = blind(detector, now)
    worse = finding_of("worse", signal="refusal")
    worse = replace(
        worse, service=PLACE[0], environment=PLACE[1], since_unix_nano=lacking.since_unix_nano,
        seen_unix_nano=now, cleared_unix_nano=0,
    )  # fmt: skip
    for order in ([lacking, worse], [worse, lacking]):
        incidents, _ = fold([], order, [], now / SECOND, IncidentSettings())
        by_kind = {incident.findings[0].kind: incident for incident in incidents}
        assert [len(incident.findings) for incident in incidents] == [1, 1]
        ticket = by_kind[FindingKind.BLIND]
        assert (ticket.severity, ticket.cause, ticket.state) == (
            Severity.TICKET, None, IncidentState.OPEN,
        )  # fmt: skip
        assert by_kind[FindingKind.BROKEN].severity is Severity.PAGE
        text = message(ticket, IncidentSettings())
        assert text.worse.startswith("the texts of chunks: no longer sent")
        assert text.cause.startswith("none")
