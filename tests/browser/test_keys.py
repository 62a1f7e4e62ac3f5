"""What scripts add to pages: keys, renewal in place, the reader's own clock, values of a chart."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Enter, Serve
from tests.browser.world import FAULTY_ROUTE


def test_keys_lead_to_pages_and_the_search(serve: Serve, enter: Enter) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/?since=7d")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("a g i /")  # in a field, keys are text
    expect(page.get_by_role("searchbox")).to_have_value("a g i /")
    page.get_by_role("searchbox").blur()
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url(re.compile(r"/health\?since=7d$"))


def test_a_dialog_lists_the_keys_of_the_page_and_gives_the_focus_back(
    serve: Serve, enter: Enter
) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("acknowledge")
    expect(dialog).to_contain_text("issues")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_j_and_k_go_through_rows_and_o_opens_one(serve: Serve, enter: Enter) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/issues")
    rows = page.locator("[data-row]")
    for key in "jjk":
        page.keyboard.press(key)
    expect(rows.nth(0)).to_have_attribute("aria-current", "true")
    expect(page.locator("[data-row][aria-current]")).to_have_count(1)
    page.keyboard.press("o")
    page.wait_for_url(re.compile(r"/issues/\w+"))


def test_a_menu_closes_with_escape_and_brackets_change_the_time(serve: Serve, enter: Enter) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/issues")
    menu = page.locator("summary").filter(has_text="time")
    menu.first.click()
    expect(page.get_by_role("link", name="last 7 d")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="last 7 d")).to_be_hidden()
    page.keyboard.press("]")
    page.wait_for_url(re.compile("since=7d"))


def _renewed(page: Page) -> None:
    with page.expect_response(lambda reply: "hx-request" in reply.request.headers):
        page.evaluate("renew()")
    expect(page.locator("#page:not(.htmx-request)")).to_have_count(1)


def test_a_page_renews_itself_where_it_is_read(serve: Serve, enter: Enter) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/")
    link = page.get_by_role("main").get_by_role("link", name=FAULTY_ROUTE, exact=True)
    link.focus()
    before = page.evaluate("scrollY")
    page.evaluate("document.getElementById('routes').dataset.old = 'yes'")
    _renewed(page)
    expect(page.locator("[data-old]")).to_have_count(0)
    expect(link).to_be_focused()
    assert page.evaluate("scrollY") == before


def test_a_page_is_not_renewed_under_a_hand_that_fills_in_a_form(
    serve: Serve, enter: Enter
) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/")
    page.locator("summary").filter(has_text="Snooze").click()
    page.evaluate("document.getElementById('routes').dataset.old = 'yes'; renew()")
    expect(page.get_by_text("not again while you are in it")).to_be_visible()
    expect(page.locator("[data-old]")).to_have_count(1)


def test_times_are_shown_on_the_readers_clock(serve: Serve, enter: Enter) -> None:
    context = enter(serve("alarm"), "tess", timezone_id="Asia/Kathmandu")
    page = context.new_page()
    page.goto("/")
    there = page.locator("#updated time").inner_text()
    page.goto("/?clock=local")
    here = page.locator("#updated time").inner_text()
    assert there.endswith("UTC")
    assert here.endswith("local")
    hours, minutes = (int(there[place]) - int(here[place]) for place in (slice(0, 2), slice(3, 5)))
    assert abs((-(60 * hours + minutes) % 1440) - 345) <= 3  # five hours and three quarters


def test_a_chart_tells_single_values_under_the_pointer(serve: Serve, enter: Enter) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto(f"/routes?route={FAULTY_ROUTE}")
    chart = page.locator("[data-series]").first
    chart.scroll_into_view_if_needed()
    chart.locator(".uplot").hover()
    expect(chart.locator(".hover")).to_have_text(re.compile(r"from \d+ answers|no answer"))


def test_what_was_typed_outlives_the_renewal(serve: Serve, enter: Enter) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/")
    page.locator("summary").filter(has_text="Snooze").click()
    page.locator("#page [name=text]").first.fill("the vendor is told")
    page.evaluate("document.querySelector('#page details[open]').open = false")
    page.evaluate("document.activeElement.blur(); renew()")
    expect(page.get_by_text("not again while you are in it")).to_be_visible()


def test_what_was_done_is_said_once(serve: Serve, enter: Enter) -> None:
    page = enter(serve("alarm"), "tess").new_page()
    page.goto("/issues?since=7d&done=resolve")
    expect(page.get_by_role("status")).to_have_text("Resolved.")
    assert page.url.endswith("/issues?since=7d")
    _renewed(page)
    expect(page.get_by_role("status")).to_have_count(0)


def test_a_page_whose_session_ended_leads_to_the_sign_in(serve: Serve, enter: Enter) -> None:
    context = enter(serve("alarm"), "tess")
    page = context.new_page()
    page.goto("/issues?since=7d")
    context.clear_cookies()
    page.evaluate("renew()")
    page.wait_for_url(re.compile(r"/sign-in\?next="))
    expect(page.get_by_label("Token")).to_be_visible()
