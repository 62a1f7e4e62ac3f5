"""Everybody can use every page: axe-core finds nothing, whatever its impact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext

from ragvigil.web.site.parts import PARTS
from tests.browser.addresses import addresses
from tests.browser.conftest import Enter, Serve, post_as_root
from tests.browser.world import Served

OPTIONS = {"runOnly": {"type": "tag", "values": [
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice",
]}}  # fmt: skip
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
NOT_OURS = frozenset({"/labels.csv", "/golden.jsonl", "/api/v1/openapi.json", "/docs"})
"""Files, and the page of Swagger UI, whose content others make."""


def violations(context: BrowserContext, path: str) -> Iterator[str]:
    """What axe finds on a page, a line each: in the light, and then in the dark.

    The page is loaded once for both: which of them it is, only its style sheet asks.
    """
    page = context.new_page()
    page.goto(path)
    page.evaluate(AXE_SCRIPT)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found: dict[str, Any] = page.evaluate("options => axe.run(options)", OPTIONS)
        for violation in found["violations"]:
            for node in violation["nodes"]:
                why = node.get("failureSummary", "")[:200]
                yield f"{path} ({scheme}): {violation['id']}: {node['html'][:160]} {why}"
    page.close()


def every_page(site: Served) -> Mapping[str, str]:
    """The addresses, that of a golden case among them: the world has answers alone."""
    if not site.get("golden")["cases"]:
        for record in site.get("records", limit=1)["records"]:
            ids = {"trace_id": record["trace_id"], "record_id": record["record_id"]}
            post_as_root(site, "golden", ids).raise_for_status()
    return addresses(site)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "blocked"])
@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("state", ["alarm", "quiet", "empty"])
def test_axe_finds_nothing(
    serve: Serve, enter: Enter, state: str, width: int, scripts: bool
) -> None:
    site = serve(state)
    size = {"width": width, "height": 900}
    context = enter(site, "root", viewport=size, bypass_csp=True)
    if not scripts:
        context.route("**/*.js*", lambda route: route.abort())
    found = [line for path in every_page(site).values() for line in violations(context, path)]
    assert not found, "\n".join(found)


def test_every_page_of_the_route_table_is_looked_at(serve: Serve) -> None:
    paths = [urlsplit(address).path for address in every_page(serve("alarm")).values()]
    pages = {
        route.path
        for part in PARTS if not part.router.prefix
        for route in part.router.routes if "GET" in route.methods
    } - NOT_OURS  # fmt: skip
    assert pages
    left_out = {
        page
        for page in pages
        if not any(re.fullmatch(re.sub(r"{\w+}", "[^/]+", page), path) for path in paths)
    }
    assert not left_out
