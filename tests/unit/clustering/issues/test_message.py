"""The message about an issue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.issues.counts import Count
from clustering.issues.message import MOST_CHARACTERS, Message, count_text, lines, message
from ragvigil.model.issue import IssueState
from tests.issues import DAY, NANOS, issue

MARCH = 1_772_366_400  # Sun 1 Mar 2026 12:00 UTC
COUNT = Count(seen=22, about=22, low=22, high=22)


def text_of(count: Count = COUNT, url: str = "", **fields: object) -> Message:
    times = {"first_unix_nano": (MARCH - DAY) * NANOS, "state_unix_nano": MARCH * NANOS}
    return message(issue(**(times | fields)), count, url)


def test_a_message_is_six_lines_at_most() -> None:
    parts = text_of(Count(seen=22, about=314.3, low=201.7, high=469.8))
    assert lines(parts) == (
        "groundedness: another number of days (/refunds)",
        "22 seen, about 310 [200, 470]",
        "Since Sat 28 Feb 12:00 UTC on /refunds (desk prod)",
        "Layer: generation (groundedness: contradicted)",
        "ragvigil issues show i1",
    )
    assert text_of(url="https://watch.example/").link == "https://watch.example/issues/i1"


@pytest.mark.parametrize("state", [IssueState.REGRESSED, IssueState.ESCALATING])
def test_what_came_back_or_grows_says_since_when_it_does(state: IssueState) -> None:
    expected = "Sun 01 Mar 12:00 UTC (first seen Sat 28 Feb 12:00 UTC)"
    assert text_of(state=state).since == expected


def test_many_routes_are_counted_and_a_missing_name_is_said() -> None:
    assert (
        text_of(routes=("/a", "/b", "/c", "/d", "/e")).routes == "/a, /b, /c and 2 more (desk prod)"
    )
    nowhere = text_of(routes=("",), service="", environment="")
    assert nowhere.routes == "a route without a name (a service without a name)"


def test_an_issue_of_errors_has_the_layer_and_its_label() -> None:
    assert text_of(rubric="", label="error").layer == "generation (error)"
    assert text_of(rubric="", label="").layer == "generation"


@given(st.text(), st.text(), st.lists(st.text()))
def test_whatever_a_service_sends_is_one_bounded_line(
    name: str, label: str, routes: list[str]
) -> None:
    for line in lines(text_of(name=name, label=label, routes=tuple(routes))):
        assert len(line) <= 2 * MOST_CHARACTERS
        assert all(c.isprintable() for c in line)
        line.encode()


def test_a_growing_number_is_seldom_a_new_label() -> None:
    counts = (Count(seen=n, about=n, low=n, high=n) for n in range(1000, 10_000))
    assert len(set(map(count_text, counts))) == 180


def test_an_issue_of_a_retired_judge_says_so_beside_its_layer() -> None:
    parts = message(issue(), COUNT, retired={"groundedness"})
    assert parts.layer == "generation (groundedness: contradicted; its judge is retired)"
    assert message(issue(), COUNT, retired={"completeness"}).layer == text_of().layer
