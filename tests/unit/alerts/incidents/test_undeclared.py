"""A change that no release declared is a ticket until it is put back, audited or usual."""

from __future__ import annotations

from dataclasses import replace

from alerts.incidents.settings import IncidentSettings
from alerts.incidents.undeclared import undeclared
from ragvigil.model.audit import Audit, AuditState
from ragvigil.model.finding import PAGES, Finding, FindingKind
from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.model.score import Layer

MINUTE = 60 * 10**9
NOON = 1_790_000_000 * 10**9
SETTINGS = IncidentSettings()
GONE = Notice(
    notice_id="n1",
    kind=ChangeKind.RERANKER,
    service="desk",
    environment="production",
    route="/ask",
    since_unix_nano=NOON,
    noticed_unix_nano=NOON + 5 * MINUTE,
    requests=6,
    before="fusion",
    after="none",
)
BACK = replace(
    GONE,
    notice_id="n2",
    since_unix_nano=NOON + 60 * MINUTE,
    noticed_unix_nano=NOON + 65 * MINUTE,
    before="none",
    after="fusion",
)
RELEASE = replace(
    GONE, notice_id="n3", kind=ChangeKind.RELEASE, before="1.4.0", after="1.5.0", route=""
)
AUDIT = Audit(
    audit_id="a",
    service="desk",
    environment="production",
    anchor_unix_nano=NOON,
    started_unix_nano=NOON + 5 * MINUTE,
    ended_unix_nano=NOON + 40 * MINUTE,
    state=AuditState.STEADY,
)
SOON = NOON + 10 * MINUTE


def only(*notices: Notice, audits: tuple[Audit, ...] = (), now: int = SOON) -> Finding:
    (found,) = undeclared(notices, audits, now, SETTINGS)
    return found


def test_a_change_without_a_release_is_a_ticket_that_says_what_changed() -> None:
    found = only(GONE)
    assert found.kind is FindingKind.CHANGED
    assert found.kind not in PAGES
    assert (found.routes, found.layer, found.is_open) == (("/ask",), Layer.RETRIEVAL, True)
    assert found.words == "reranker without a release: fusion -> none"
    assert found.since_unix_nano == NOON


def test_a_release_declares_what_changes_beside_it() -> None:
    assert undeclared((GONE, RELEASE), (), SOON, SETTINGS) == ()
    before = replace(RELEASE, since_unix_nano=NOON - 20 * MINUTE)
    assert undeclared((GONE, before), (), SOON, SETTINGS) == ()


def test_a_change_that_came_with_a_release_is_declared_by_it() -> None:
    """The notice of a change names the release in its evidence: it has no notice of its own."""
    released = replace(GONE, evidence={"release": ["1.4.0", "1.5.0"]})
    assert undeclared((released,), (), SOON, SETTINGS) == ()


def test_a_mark_of_any_kind_declares_and_is_no_ticket_itself() -> None:
    mark = replace(GONE, notice_id="deploy-7", kind=ChangeKind.PROMPT, route="", requests=0)
    assert undeclared((mark,), (), SOON, SETTINGS) == ()
    assert undeclared((GONE, mark), (), SOON, SETTINGS) == ()


def test_a_release_of_another_service_route_or_time_declares_nothing() -> None:
    others = (
        replace(RELEASE, service="shop"),
        replace(RELEASE, route="/other"),
        replace(RELEASE, environment="staging"),
        replace(RELEASE, since_unix_nano=NOON - 31 * MINUTE),
    )
    for release in others:
        assert only(GONE, release).is_open


def test_what_is_put_back_is_over_and_putting_it_back_is_no_other_ticket() -> None:
    found = only(GONE, BACK, now=NOON + 70 * MINUTE)
    assert found.finding_id == only(GONE).finding_id
    assert found.cleared_unix_nano == BACK.noticed_unix_nano


def test_an_audit_of_the_change_ends_the_ticket() -> None:
    audit = replace(AUDIT, sources=("n0", GONE.notice_id))
    assert only(GONE, audits=(audit,)).cleared_unix_nano == audit.ended_unix_nano


def test_an_audit_of_another_change_of_the_same_minute_leaves_the_ticket() -> None:
    other = replace(AUDIT, sources=("n0",))
    assert only(GONE, audits=(other,)).is_open


def test_after_hours_it_is_the_usual_state() -> None:
    usual = NOON + SETTINGS.undeclared_hours * 60 * MINUTE
    assert only(GONE, now=usual - 1).is_open
    assert only(GONE, now=usual).cleared_unix_nano == usual
