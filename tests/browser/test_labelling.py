"""Answers are labelled by keys, one after the other; without scripts by buttons."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from ragvigil.app.sources.judges import judge_source
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import labels
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.judged import keep_judged, verdict
from tests.served_api import port_of

pytestmark = pytest.mark.slow


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    """Pages over a store with four judged answers; everybody is `local`."""
    keep_judged(store, {number: [verdict(0.9)] for number in range(1, 5)})
    judging = judge_source(store, lambda: ("groundedness",), {"groundedness": 0.8}, time.time)
    with port_of(api(store, Quiet(), WebSettings(), judging=judging)) as port:
        yield f"http://127.0.0.1:{port}"


def given(store: Store) -> list[tuple[float | None, str]]:
    """The labels in the order in which they were given: value and comment."""
    found = labels.find(store, labels.LabelFilter())
    return [(label.value, label.comment) for label in reversed(found)]


def place(page: Page, words: str) -> None:
    expect(page.get_by_text(words, exact=True)).to_be_visible()


def test_keys_give_verdicts_and_take_them_back(
    chromium: Browser, address: str, store: Store
) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/label/sampled")
    place(page, "1 of 4")
    page.keyboard.press("1")
    place(page, "2 of 4")
    page.keyboard.press("2")
    place(page, "3 of 4")
    page.keyboard.press("u")
    place(page, "2 of 4")
    page.get_by_label("Why, if you like").fill("1 of 2 claims stands")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("1")
    place(page, "3 of 4")
    page.keyboard.press("3")
    place(page, "4 of 4")
    page.keyboard.press("2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("labelled all four answers")
    page.close()
    assert given(store) == [
        (0.0, ""),
        (0.0, "1 of 2 claims stands"),
        (None, ""),
        (1.0, ""),
    ]


def test_a_digit_that_is_typed_is_no_verdict(chromium: Browser, address: str, store: Store) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/label/sampled")
    page.get_by_label("Why, if you like").press_sequentially("123")
    place(page, "1 of 4")
    page.close()
    assert given(store) == []


def test_labels_are_given_without_scripts(chromium: Browser, address: str, store: Store) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/label")
    page.get_by_role("link", name="Label sampled").click()
    for number, name in enumerate(("Pass", "Fail", "Unsure", "Pass"), start=1):
        place(page, f"{number} of 4")
        page.get_by_role("button", name=name).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("labelled all four answers")
    page.get_by_role("button", name="Take back").click()
    place(page, "4 of 4")
    context.close()
    assert [value for value, _ in given(store)] == [1.0, 0.0, None]
