"""Everybody can use every page: axe-core finds nothing, whatever its impact."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext

from tests.browser.addresses import addresses
from tests.browser.conftest import Enter, Serve

OPTIONS = {"runOnly": {"type": "tag", "values": [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice",
]}}  # fmt: skip


def violations(context: BrowserContext, path: str) -> list[str]:
    """What axe finds on a page, a line each."""
    page = context.new_page()
    page.goto(path)
    page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate("options => axe.run(options)", OPTIONS)[
        "violations"
    ]
    page.close()
    return [
        f"{path}: {violation['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for violation in found
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "blocked"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("state", ["alarm", "quiet", "empty"])
def test_axe_finds_nothing(
    serve: Serve, enter: Enter, state: str, width: int, scheme: str, scripts: bool
) -> None:
    site = serve(state)
    size = {"width": width, "height": 900}
    context = enter(site, "root", viewport=size, color_scheme=scheme, bypass_csp=True)
    if not scripts:
        context.route("**/*.js*", lambda route: route.abort())
    found = [line for path in addresses(site).values() for line in violations(context, path)]
    assert not found, "\n".join(found)
