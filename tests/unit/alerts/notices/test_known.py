"""What was usual in earlier days is known again after a restart, by stored counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from alerts.notices.known import HOUR, NANOS, Known, known_values
from alerts.notices.rare import Mark
from alerts.notices.template import Template
from ragvigil.model.notice import ChangeKind, Notice

PLACE = ("helpdesk", "prod", "/ask")
PROMPT = ChangeKind.PROMPT


@dataclass(frozen=True, kw_only=True)
class Came:
    value: str
    hours: Sequence[int]
    requests: Sequence[int]
    kind: str = PROMPT
    place: tuple[str, str, str] = PLACE


def came(value: str, hours: Mapping[int, int]) -> Came:
    return Came(value=value, hours=[hour * HOUR for hour in hours], requests=list(hours.values()))


def notice_at(hour: float, requests: int = 12) -> Notice:
    since = int(hour * HOUR * NANOS)
    return Notice(
        notice_id="n", kind=PROMPT, service="helpdesk", environment="prod", route="/ask",
        since_unix_nano=since, noticed_unix_nano=since + NANOS, requests=requests, share=1.0,
        before="a", after="b", evidence={},
    )  # fmt: skip


def known(
    values: Sequence[Came], notices: Sequence[Notice] = (), until: int | None = None
) -> dict[str, int]:
    ends = {} if until is None else {PLACE: until * HOUR * NANOS}
    found: Mapping[tuple[str, str, str], Known] = known_values(values, {PLACE: notices}, ends)
    return {value: at // NANOS // HOUR for value, at in found[PLACE].get(PROMPT, {}).items()}


DAY = [came("day", dict.fromkeys(range(10), 80)), came("batch", {3: 60})]


def test_what_was_usual_for_an_hour_is_known_with_its_time() -> None:
    assert known(DAY) == {"day": 10, "batch": 4}


def test_what_came_seldom_is_not() -> None:
    seldom = came("canary", dict.fromkeys(range(10), 1))
    busy = [came("day", dict.fromkeys(range(10), 40_000)), came("canary", {3: 900})]
    assert known([*DAY, seldom]) == {"day": 10, "batch": 4}
    assert known(busy) == {"day": 10}


def test_a_slow_route_is_summed_over_hours() -> None:
    assert known([came("day", dict.fromkeys(range(0, 60, 3), 2))]) == {"day": 58}


def test_values_without_a_name_are_none() -> None:
    assert known([*DAY, came("", {5: 1000})]) == known(DAY)


def test_what_is_learned_by_itself_does_not_count() -> None:
    assert known(DAY, until=3) == {"day": 3}


@pytest.mark.parametrize("back", [(), (8,)])
def test_what_a_change_replaced_is_forgotten_until_it_comes_back(back: Sequence[int]) -> None:
    """A tenant who slept while it changed stays known."""
    values = [
        came("old", dict.fromkeys((0, 1, 2, 3, 4, *back), 400)),
        came("new", dict.fromkeys((4, 5, 6, 7), 400)),
        came("tenant", {1: 60}),
    ]
    assert known(values, [notice_at(4.5)]) == {"new": 8, "tenant": 2} | ({"old": 9} if back else {})


def test_a_tenant_who_slept_is_known_by_the_sentences_of_the_template() -> None:
    """Both without and with knowledge of the past, the tenant's prompt gets a day to sleep."""
    common, own = (1, 2, 3), (1, 2, 3, 7, 8)

    def woken(template: Template) -> list[Mark]:
        found = []
        for number in range(1, 361):
            sentences = (*(own if number > 300 else common), 1_000 + number)
            mark = Mark(number=number, time_unix_nano=number * 60 * NANOS + 10 * HOUR * NANOS)
            first = template.push(sentences, mark)
            found += [first] if first is not None else []
        return found

    assert woken(Template())
    slept = {own: 8 * HOUR * NANOS, common: 10 * HOUR * NANOS}
    assert woken(Template(slept)) == []


def test_a_prompt_that_a_change_replaced_is_news_when_it_comes_back() -> None:
    old, new = (1, 2, 3), (1, 2, 4)
    template = Template({old: HOUR * NANOS})
    marks = [Mark(number=n, time_unix_nano=2 * HOUR * NANOS + n * NANOS) for n in range(1, 700)]
    for mark in marks[:200]:
        assert template.push(old, mark) is None
    first = next(filter(None, (template.push(new, mark) for mark in marks[200:215])))
    template = template.renewed(first)
    for mark in marks[215:415]:
        template.push(new, mark)
    assert any(template.push(old, mark) for mark in marks[415:430])


def test_a_notice_of_another_day_forgets_nothing() -> None:
    assert known(DAY, [replace(notice_at(400), requests=60)]) == known(DAY)
