"""Who sees only the first screen of Now knows the layer, the route, the change and the next act."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, expect

from ragvigil.store.engine.store import Store
from tests.browser.prepared import SCREEN, now_of
from tests.triage_watch import State

pytestmark = pytest.mark.world


@pytest.mark.parametrize(
    ("state", "route", "layer", "changed", "act"),
    [
        (State.ALARM, "/refunds/ask", "generation", "Prompt v3 → v5", "Put prompt v3 back"),
        (
            State.MISLED,
            "/shipping/ask",
            "retrieval",
            "Embedding model text-embedding-3-large → text-embedding-3-small",
            "Put embedding model text-embedding-3-large back",
        ),
        (State.EXPECTED, "/chat", "generation", "Release 1.5.0", "Nothing to mend"),
    ],
)
def test_the_first_screen_says_it(
    store: Store,
    chromium: Browser,
    state: State,
    route: str,
    layer: str,
    changed: str,
    act: str,
) -> None:
    with now_of(store, chromium, state) as page:
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_contain_text(route)
        assert is_in_sight(heading)
        for term, words in (("Layer", layer), ("Changed", changed), ("Do next", act)):
            fact = page.locator("dl > div").filter(has=page.get_by_text(term, exact=True)).first
            expect(fact).to_contain_text(words)
            assert is_in_sight(fact), term


def is_in_sight(part: Locator) -> bool:
    box = part.bounding_box()
    return box is not None and box["y"] + box["height"] <= SCREEN["height"]
