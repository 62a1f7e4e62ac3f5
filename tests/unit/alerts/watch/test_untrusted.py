"""What rests on a retired judge is shown, and pages nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.incidents.lasting import pages
from alerts.watch.untrusted import marked
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Severity
from tests.unit.alerts.incident_values import SETTINGS, at, finding, folded

RETIRED = frozenset({"groundedness"})


def dropped(name: str = "x", kind: FindingKind = FindingKind.AUDIT, **more: object) -> Finding:
    usual = {"signal": "groundedness", "value": 0.5, "reference": 0.9, "n": 120}
    words = "groundedness fell by 40 points"
    return finding(name, kind=kind, seen_unix_nano=at(75), words=words, **{**usual, **more})


@pytest.mark.parametrize("kind", [FindingKind.AUDIT, FindingKind.DRIFT])
def test_a_drop_by_a_retired_judge_is_a_ticket_that_says_why(kind: FindingKind) -> None:
    trusted, untrusted = dropped(kind=kind), marked(dropped(kind=kind), RETIRED)
    assert pages(trusted, SETTINGS)
    assert not pages(untrusted, SETTINGS)
    assert untrusted.words == "groundedness fell by 40 points; its judge is retired"
    ((incident,), _) = folded((), [untrusted], 75)
    assert incident.severity is Severity.TICKET


def test_a_limit_of_ones_own_on_a_retired_judge_is_a_ticket() -> None:
    over = dropped("limit-7", FindingKind.BROKEN, signal="groundedness:failed")
    assert pages(over, SETTINGS)
    assert not pages(marked(over, RETIRED), SETTINGS)


def test_what_no_judge_scores_still_pages() -> None:
    local = dropped(kind=FindingKind.BROKEN, signal="groundedness:failed")
    other = dropped(signal="context_relevance")
    assert [marked(each, RETIRED) for each in (local, other)] == [local, other]


def test_of_a_judge_and_a_local_model_only_a_trusted_judge_pages() -> None:
    local = dropped(kind=FindingKind.DRIFT, is_local=True)
    (route,) = local.routes
    place = frozenset({(local.service, local.environment, route, "groundedness")})
    beside = marked(local, frozenset(), place)
    assert not pages(beside, SETTINGS)
    assert beside.words.endswith("; the judge's sample pages for it")
    assert pages(marked(beside, RETIRED, place), SETTINGS), "nobody else would"
    assert marked(beside, frozenset(), frozenset()) == local
    elsewhere = replace(local, routes=(route, "/other"))
    assert pages(marked(elsewhere, frozenset(), place), SETTINGS)


def test_marked_again_it_says_so_once_and_a_judge_trusted_again_pages() -> None:
    untrusted = marked(dropped(), RETIRED)
    assert marked(untrusted, RETIRED) == untrusted
    ((ticket,), _) = folded((), [untrusted], 75)
    again = marked(replace(ticket.findings[0]), frozenset())
    assert again == dropped()
    ((page,), _) = folded((ticket,), [again], 80)
    assert page.severity is Severity.PAGE
