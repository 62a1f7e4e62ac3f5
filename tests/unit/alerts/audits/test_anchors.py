"""Anchors: what starts an audit, in which order, and which changes share one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.audits.anchors import (
    HOUR,
    MINUTE,
    audit_of,
    covered_by,
    in_order,
    is_of_numbers,
    of_deploy,
    of_finding,
    of_notice,
)
from ragvigil.model.audit import Audit
from ragvigil.model.deploy import Deploy
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.model.score import Layer

T = 100 * HOUR


def notice(kind: ChangeKind = ChangeKind.PROMPT, *, route: str = "/ask", at: int = T) -> Notice:
    return Notice(
        notice_id=f"{kind}{route}{at}",
        kind=kind,
        service="desk",
        environment="prod",
        route=route,
        since_unix_nano=at,
        noticed_unix_nano=at + MINUTE,
        requests=9,
        before="v1",
        after="v2",
    )


def moved(
    *,
    kind: FindingKind = FindingKind.MOVED,
    at: int = T,
    cleared: int = 0,
    routes: tuple[str, ...] = ("/ask",),
) -> Finding:
    return Finding(
        finding_id="m",
        kind=kind,
        service="desk",
        environment="prod",
        routes=routes,
        signal="citations",
        layer=Layer.GENERATION,
        since_unix_nano=at,
        cleared_unix_nano=cleared,
    )


def deploy(at: int = T) -> Deploy:
    return Deploy(deploy_id="d", service="desk", time_unix_nano=at, version="1.4")


def audit(of: Notice | None = None, *, is_over: bool = False) -> Audit:
    made = audit_of(of_notice(of or notice()), T + 2 * MINUTE)
    return replace(made, ended_unix_nano=T + HOUR) if is_over else made


def test_a_notice_anchors_where_its_first_request_shows_it() -> None:
    made = audit()
    assert (made.anchor_unix_nano, made.routes, made.since_unix_nano) == (T, ("/ask",), (T,))
    assert (made.reason, made.causes) == ("prompt v1 -> v2", (Cause.GENERATION,))
    assert made.is_running


def test_the_same_change_makes_the_same_audit_again() -> None:
    assert audit().audit_id == audit().audit_id
    assert audit().audit_id != audit(notice(ChangeKind.TOP_K)).audit_id


def test_only_what_moved_and_still_does_starts_an_audit() -> None:
    assert of_finding(moved()) is not None
    assert of_finding(moved(kind=FindingKind.BROKEN)) is None
    assert of_finding(moved(cleared=T + HOUR)) is None


def test_changes_go_before_moves_and_the_earlier_first() -> None:
    move = of_finding(moved(at=T - HOUR))
    assert move is not None
    late, early = of_notice(notice(at=T)), of_notice(notice(at=T - MINUTE))
    mark = of_deploy(deploy(T - 2 * MINUTE), "prod")
    release = of_notice(notice(ChangeKind.RELEASE, at=T - 3 * MINUTE))
    assert in_order([move, late, mark, early, release]) == [release, mark, early, late, move]


def test_the_same_change_on_a_further_route_joins_from_its_own_time_on() -> None:
    other = of_notice(notice(route="/chat", at=T + 20 * MINUTE))
    joined = covered_by([audit()], other)
    assert joined is not None
    assert joined.routes == ("/ask", "/chat")
    assert joined.since_unix_nano == (T, T + 20 * MINUTE)
    assert joined.anchor_unix_nano == T
    assert joined.sources[-1] == other.source
    assert joined.reason == "prompt v1 -> v2"


@pytest.mark.parametrize(
    "other",
    [
        notice(route="/chat", at=T + 31 * MINUTE),
        notice(ChangeKind.RECHUNKED, route="/chat", at=T + MINUTE),
        replace(notice(route="/chat"), service="shop"),
        replace(notice(route="/chat"), environment="test"),
        notice(ChangeKind.RECHUNKED, at=T + MINUTE),
        notice(at=T + 31 * MINUTE),
        notice(at=T - HOUR),
    ],
)
def test_another_change_has_an_audit_of_its_own(other: Notice) -> None:
    assert covered_by([audit()], of_notice(other)) is None


def test_a_release_joins_any_change_of_its_minutes_and_adds_no_cause() -> None:
    joined = covered_by([audit()], of_notice(notice(ChangeKind.RELEASE, route="/chat")))
    assert joined is not None
    assert joined.causes == (Cause.GENERATION,)
    marked = covered_by([audit()], of_deploy(deploy(T - MINUTE), "prod"))
    assert marked is not None
    assert (marked.routes, marked.since_unix_nano) == ((), ())
    assert marked.reason == "prompt v1 -> v2; deploy 1.4"


@pytest.mark.parametrize("is_over", [False, True])
def test_what_moved_on_its_routes_soon_after_is_covered(is_over: bool) -> None:
    standing = audit(is_over=is_over)
    move = of_finding(moved(at=T + HOUR))
    assert move is not None
    covered = covered_by([standing], move)
    assert covered is not None
    assert (covered.audit_id, covered.routes) == (standing.audit_id, standing.routes)
    late = of_finding(moved(at=T + 3 * HOUR))
    assert late is not None
    assert covered_by([standing], late) is None
    may_be_earlier = replace(late, earliest_unix_nano=T - MINUTE)
    assert covered_by([standing], may_be_earlier) is not None
    much_later = replace(may_be_earlier, time_unix_nano=T + 5 * HOUR)
    assert covered_by([standing], much_later) is None


def test_a_number_that_moved_is_no_change_of_the_service() -> None:
    standing = audit()
    move = of_finding(moved(at=T + HOUR))
    assert move is not None
    assert is_of_numbers(audit_of(move, T))
    assert not is_of_numbers(standing)
    joined = covered_by([standing], move)
    assert joined is not None
    assert not is_of_numbers(joined)


def test_an_audit_that_ended_takes_in_no_further_route() -> None:
    assert covered_by([audit(is_over=True)], of_notice(notice(route="/chat"))) is None


def test_an_anchor_that_is_known_changes_nothing() -> None:
    standing = audit()
    assert covered_by([standing], of_notice(notice())) == standing


def test_what_happens_on_other_routes_alone_does_not_widen_an_audit() -> None:
    standing, later = audit(notice(ChangeKind.RECHUNKED)), T + 5 * MINUTE
    others = notice(ChangeKind.OTHER_CHUNKS, route="/chat", at=later)
    assert covered_by([standing], of_notice(others)) is None
    elsewhere = of_finding(moved(routes=("/chat",), at=later))
    assert elsewhere is not None
    assert covered_by([standing], elsewhere) is None


def test_a_number_that_moved_on_its_routes_and_others_widens_an_audit() -> None:
    pooled = of_finding(moved(routes=("/ask", "/chat"), at=T + 5 * MINUTE))
    assert pooled is not None
    joined = covered_by([audit()], pooled)
    assert joined is not None
    assert joined.routes == ("/ask", "/chat")
