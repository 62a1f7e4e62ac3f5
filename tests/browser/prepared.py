"""The page Now of three prepared incidents: two are true, in two layers, the third was meant.

    python -m tests.browser.prepared FOLDER

takes a picture of each, for somebody who has never seen the pages.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings
from tests.browser.conftest import CHROMIUM
from tests.conftest import emptied
from tests.served_api import port_of
from tests.triage_store import desk
from tests.triage_watch import State

INCIDENTS = (State.ALARM, State.MISLED, State.EXPECTED)
SCREEN = {"width": 1440, "height": 900}


@contextmanager
def now_of(store: Store, browser: Browser, state: State) -> Iterator[Page]:
    """The page Now of a state, on an empty store."""
    with port_of(desk(store, state, allowed_hosts=("127.0.0.1",)).app) as port:
        context = browser.new_context(
            base_url=f"http://127.0.0.1:{port}",
            viewport=SCREEN,  # type: ignore[arg-type]
            color_scheme="light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto("/", wait_until="networkidle")
        yield page
        context.close()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        store = Store.open(StoreSettings(threads=1), Path(data))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for number, state in enumerate(INCIDENTS, 1):
            with now_of(emptied(store), browser, state) as page:
                page.screenshot(path=folder / f"{number}.png", full_page=True)
        browser.close()
        store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
