"""From an alert's link to a named cause, a signed golden case and a resolved issue: by two people,
with accessible names only, in eight clicks.
"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.conftest import Enter, Serve
from tests.browser.world import FAULTY_ROUTE

MOST_CLICKS = 8


class Finger:
    """Counts clicks."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, target: Locator) -> None:
        """Clicks on the first of what is named."""
        target.first.click()
        self.clicks += 1


def test_a_page_becomes_a_cause_a_signed_case_and_a_resolved_issue(
    serve: Serve, enter: Enter
) -> None:
    site, finger = serve("alarm"), Finger()
    (incident,) = site.get("incidents")["incidents"]
    mara, okafor = enter(site, "mara").new_page(), enter(site, "okafor").new_page()

    mara.goto(f"/incidents/{incident['incident_id']}")
    expect(mara.get_by_role("heading", level=1)).to_contain_text(FAULTY_ROUTE)
    finger.click(mara.get_by_role("main").get_by_role("link", name=re.compile("in no chunk")))
    expect(mara.get_by_role("heading", level=1)).to_contain_text("quot")
    issue_address = mara.url
    expect(mara.get_by_role("heading", name="Why it happens")).to_be_visible()

    finger.click(mara.get_by_role("button", name=re.compile("^Propose as golden case")))
    case_address = mara.url
    assert "/golden/" in case_address
    finger.click(mara.locator("summary").filter(has_text=re.compile("^Edit")))
    mara.get_by_label("Fact 1").fill("The answer must not promise what no article says.")
    finger.click(mara.get_by_role("button", name="Save"))

    okafor.goto(case_address)
    seen = okafor.get_by_label(re.compile("I have seen the warning"))
    if seen.count():
        finger.click(seen)
    finger.click(okafor.get_by_role("button", name=re.compile("^Sign")))
    expect(okafor.get_by_role("main")).to_contain_text("signed by okafor")

    okafor.goto(issue_address)
    finger.click(okafor.locator("summary").filter(has_text=re.compile("^Resolve")))
    finger.click(okafor.get_by_role("button", name="Resolve", exact=True))
    expect(okafor.get_by_role("main")).to_contain_text("resolved")

    assert finger.clicks <= MOST_CLICKS
    (case,) = site.get("golden")["cases"]
    assert (case["proposed_by"], case["approved_by"]) == ("mara", "okafor")
    issue = site.get(f"issues/{issue_address.rsplit('/', 1)[-1].partition('?')[0]}")
    assert issue["state"] == "resolved"
    assert [event["actor"] for event in issue["events"] if event["verb"] == "resolve"] == ["okafor"]
