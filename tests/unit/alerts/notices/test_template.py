"""Another prompt is noticed by its sentences; what varies among requests is no template."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from alerts.notices.detect import RouteNotices
from alerts.notices.rare import Mark
from alerts.notices.settings import NoticeSettings
from alerts.notices.template import Template
from ragvigil.model.notice import ChangeKind, Notice
from tests.unit.alerts.fingerprints import PLACE, Setup, noticed, request, traffic

PROMPT = list(range(100, 112))
OTHER_TENANT = list(range(200, 208))
EDITED = [999 if sentence == 104 else sentence for sentence in PROMPT]
Sends = Callable[[int], Iterable[int]]
HOUR = 3600 * 10**9


def fires(*phases: tuple[int, Sends], template: Template | None = None) -> list[tuple[int, int]]:
    """Each request after which a change is certain, with the first of the change."""
    template = template or Template()
    found, number = [], 0
    for count, sends in phases:
        for _ in range(count):
            number += 1
            mark = Mark(number=number, time_unix_nano=number * HOUR // 100)
            first = template.push(tuple(sends(number)), mark)
            if first is not None:
                found.append((number, first.number))
    return found


def always(sentences: list[int]) -> Sends:
    return lambda _: sentences


def with_a_name(sentences: list[int]) -> Sends:
    """A sentence that is another one at every request."""
    return lambda number: [*sentences[:3], 10_000 + number, *sentences[3:]]


@pytest.mark.parametrize(
    "after", [EDITED, PROMPT[:-1], [*PROMPT, 999]], ids=["edit", "removal", "addition"]
)
@pytest.mark.parametrize("sends", [always, with_a_name])
def test_one_sentence_is_noticed_within_ten_requests(
    after: list[int], sends: Callable[[list[int]], Sends]
) -> None:
    found = fires((300, sends(PROMPT)), (30, sends(after)))
    certain, first = found[0]
    assert first == 301
    assert certain <= 310


def test_retrieved_chunks_in_the_prompt_hide_no_edit_and_are_none() -> None:
    chance = random.Random(4)

    def around(sentences: list[int]) -> Sends:
        return lambda _: [*sentences[:6], *chance.sample(range(10**4, 10**5), 30), *sentences[6:]]

    assert fires((1500, around(PROMPT))) == []
    assert fires((300, around(PROMPT)), (30, around(EDITED)))[0][1] == 301


def test_customers_who_come_in_turns_are_no_edit() -> None:
    def of_turn(length: int, names: int) -> Sends:
        return lambda number: [*PROMPT, 5_000 + number // length % names]

    assert fires((1500, of_turn(60, 3))) == []
    assert fires((3000, of_turn(70, 1000))) == []


def test_prompts_of_two_tenants_are_no_change_even_if_one_sleeps_at_night() -> None:
    chance = random.Random(4)

    def by_day(number: int) -> list[int]:
        is_night = number % 2400 > 1400
        return PROMPT if is_night or chance.random() < 0.6 else OTHER_TENANT

    assert fires((20_000, by_day)) == []


def test_an_edit_of_one_tenants_prompt_is_noticed() -> None:
    chance = random.Random(4)
    found = fires(
        (500, lambda _: PROMPT if chance.random() < 0.5 else OTHER_TENANT),
        (60, lambda _: EDITED if chance.random() < 0.5 else OTHER_TENANT),
    )
    assert 500 < found[0][1] <= 505


def prompts(*phases: tuple[int, str, list[int]]) -> list[tuple[int, Notice]]:
    """The notices of requests with a stated version and a prompt."""
    requests = traffic(
        *[(count, Setup().but(ChangeKind.PROMPT, version)) for count, version, _ in phases]
    )
    texts = [tuple(text) for count, _, text in phases for _ in range(count)]
    return noticed(
        replace(request, template=text) for request, text in zip(requests, texts, strict=True)
    )


def test_an_edit_under_the_same_version_is_a_change_and_going_back_undoes_it() -> None:
    (_, there), (_, back) = prompts((250, "v3", PROMPT), (80, "v3", EDITED), (40, "v3", PROMPT))
    assert (there.kind, there.evidence["sentences"]) == (
        ChangeKind.PROMPT, {"new": 1, "gone": 1},
    )  # fmt: skip
    assert (there.before, there.after) == (back.after, back.before)


def test_another_version_of_the_same_prompt_is_a_release() -> None:
    ((number, notice),) = prompts((250, "v3", PROMPT), (40, "v4", PROMPT))
    assert (number, notice.kind) == (261, ChangeKind.RELEASE)
    assert (notice.before, notice.after) == ("prompt v3", "prompt v4")


@pytest.mark.parametrize("share", [0.15, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_a_canary_of_the_same_prompt_is_a_release_though_prompts_hold_what_is_asked(
    share: float, seed: int
) -> None:
    """Several of its few requests ask the same and so have the same chunks."""
    chance, detector, found = random.Random(seed), RouteNotices(PLACE, NoticeSettings()), []
    for number in range(500):
        version = "v4" if number >= 250 and chance.random() < share else "v3"
        question = chance.randrange(30)
        chunks = range(1000 + 3 * question, 1005 + 3 * question)
        asked = request(number, question, Setup().but(ChangeKind.PROMPT, version))
        found += detector.step(replace(asked, template=(*PROMPT, *chunks)))
    assert [(notice.kind, notice.after) for notice in found] == [(ChangeKind.RELEASE, "prompt v4")]


@pytest.mark.parametrize(
    ("versions", "count"), [(("v4",), 3), (("v4",), 8), (("v3",) * 9 + ("v4",), 58)]
)
def test_a_sentence_added_to_few_prompts_is_another_prompt_if_its_version_says_so(
    versions: tuple[str, ...], count: int
) -> None:
    """On a route with few requests a change is named by three; a canary has a tenth of them."""
    texts = {"v3": tuple(PROMPT), "v4": (*PROMPT, 999)}
    stated = ["v3"] * 250 + [versions[number % len(versions)] for number in range(count)]
    detector, setup = RouteNotices(PLACE, NoticeSettings()), Setup()
    found = [
        notice
        for number, version in enumerate(stated)
        for notice in detector.step(
            replace(
                request(number, number % 30, setup.but(ChangeKind.PROMPT, version)),
                template=texts[version],
            )
        )
    ]
    (notice,) = (*found, *detector.settle())
    assert (notice.kind, notice.before, notice.after) == (ChangeKind.PROMPT, "v3", "v4")


def test_another_version_with_another_text_is_one_change_by_its_version() -> None:
    ((_, notice),) = prompts((250, "v3", PROMPT), (40, "v4", EDITED))
    assert (notice.kind, notice.before, notice.after) == (ChangeKind.PROMPT, "v3", "v4")
