"""A real browser, and the world that it looks at; made once for all test processes."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser import world as made
from tests.browser.world import PEOPLE, Served, served
from tests.patience import PATIENCE_SECONDS

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
expect.set_options(timeout=60_000)
Serve = Callable[[str], Served]
Enter = Callable[..., BrowserContext]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs the world: it takes minutes to make."""
    for item in items:
        if "world" in getattr(item, "fixturenames", ()):
            item.add_marker("world")


def post_as_root(site: Served, path: str, body: Mapping[str, object]) -> httpx2.Response:
    """What the API answers to a post of somebody who may do everything."""
    return httpx2.post(
        f"{site.url}/api/v1/{path}",
        json=body,
        headers={"authorization": f"Bearer {PEOPLE['root'][1]}"},
        timeout=PATIENCE_SECONDS,
    )


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the states of the world; the first process to need it makes it.

    `TEST_WORLD` names one that is made already.
    """
    if given := os.environ.get("TEST_WORLD"):
        return Path(given)
    root = tmp_path_factory.getbasetemp().parent / "world"
    root.mkdir(exist_ok=True)
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "alarm" / "ended.json").exists():
            made.build(root)
    return root


@pytest.fixture(scope="module")
def serve(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Serves a state of the world by name, once for all tests of a module."""
    known: dict[str, Served] = {}
    with ExitStack() as stack:

        def of(state: str) -> Served:
            if state not in known:
                folder = tmp_path_factory.mktemp(state)
                known[state] = stack.enter_context(served(world, state, folder))
            return known[state]

        yield of


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("no browser: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def enter(chromium: Browser) -> Iterator[Enter]:
    """Opens a browser of their own for a person, who signs in; everything is closed at the end."""
    contexts: list[BrowserContext] = []

    def of(site: Served, person: str, **options: object) -> BrowserContext:
        context = chromium.new_context(base_url=site.url, **options)  # type: ignore[arg-type]
        context.set_default_timeout(60_000)
        contexts.append(context)
        sign_in(context, person)
        return context

    yield of
    for context in contexts:
        context.close()


def sign_in(context: BrowserContext, person: str) -> None:
    """Signs a person in, by the form."""
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("Token").fill(PEOPLE[person][1])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    page.close()
