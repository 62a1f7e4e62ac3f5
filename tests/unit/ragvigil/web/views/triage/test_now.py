"""What the page Now says first, where no incident is open."""

from __future__ import annotations

from ragvigil.model.incident import IncidentState
from ragvigil.web.views.triage.now import Known, now_form
from tests.unit.ragvigil.web.views.triage.test_layers import FELL, NOON, delta
from tests.unit.ragvigil.web.views.triage.test_sentences import finding, incident


def known(*, signal: str, is_expected: bool, **changes: object) -> Known:
    ended = incident(
        finding(signal=signal, **changes),
        state=IncidentState.RESOLVED,
        resolved=NOON,
        is_expected=is_expected,
    )
    return Known(now=NOON, deltas=[delta(**FELL)], incidents=[ended], last_answer=NOON)


def test_a_drop_that_somebody_called_expected_is_no_news() -> None:
    said = now_form(known(signal="groundedness", is_expected=True))
    assert said.sentence == "Groundedness is lower, as expected"
    assert said.is_worse


def test_what_was_expected_of_all_routes_is_expected_of_each() -> None:
    said = now_form(known(signal="groundedness", is_expected=True, routes=[]))
    assert said.sentence == "Groundedness is lower, as expected"


def test_a_drop_of_which_nobody_said_so_is() -> None:
    for signal, is_expected in (("groundedness", False), ("citation_coverage", True)):
        said = now_form(known(signal=signal, is_expected=is_expected))
        assert said.sentence.startswith("No incident is open, but groundedness")


def test_nothing_is_worse_where_no_route_is() -> None:
    said = now_form(Known(now=NOON, deltas=[delta()], last_answer=NOON))
    assert (said.sentence, said.is_worse) == ("Nothing is wrong", False)
