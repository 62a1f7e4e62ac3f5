"""The pictures of README and `docs/pages.md`, made from the help desk's days.

    python -m tests.browser.screenshots [--world FOLDER]

`docs/images/made_from.txt` holds a hash of what they show: templates, styles, drawings, data. A
house test compares it, so that a picture of how pages looked once is noticed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.addresses import addresses
from tests.browser.conftest import CHROMIUM, sign_in
from tests.browser.world import Served, build, judged_by, served
from tests.content_judge import ContentJudge
from tests.llm_server import serving

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
MADE_FROM = IMAGES / "made_from.txt"
SOURCES = (
    "ragvigil/web/templates", "ragvigil/web/static", "ragvigil/web/drawings",
    "ragvigil/web/pages", "examples/helpdesk/recorded", "tests/browser/world.py",
)  # fmt: skip
WIDE, PHONE = {"width": 1440, "height": 1000}, {"width": 375, "height": 800}
ON_THE_PHONE = ("now", "incident", "answer")
NOT_SHOWN = (
    "missing", "search", "trace", "answer", "sign-in", "addresses", "runbook", "routes",
    "no-route", "members", "label-answer",
)  # fmt: skip
"""Of the two answers, the failing one is shown."""
IN_THE_DARK = ("now", "incident", "answer")
"""What the front page shows."""
MOST_HEIGHT = 2600
"""Pixels of a picture; what follows on a longer page is more of the same."""


def source_hash() -> str:
    """The SHA-256 of everything that a picture depends on."""
    digest = sha256()
    for source in SOURCES:
        path = ROOT / source
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def pictured(site: Served) -> Mapping[str, str]:
    """The path of each page by the name of its picture."""
    found = {name: path for name, path in addresses(site).items() if name not in NOT_SHOWN}
    return {name.removeprefix("failing-"): path for name, path in found.items()}


def take(site: Served, browser: Browser) -> Iterator[Path]:
    """Takes every picture; yields their files."""
    for scheme in ("light", "dark"):
        for size, names in ((WIDE, None), (PHONE, ON_THE_PHONE)):
            context = browser.new_context(
                base_url=site.url, viewport=size, color_scheme=scheme, reduced_motion="reduce"
            )  # type: ignore[arg-type]
            sign_in(context, "okafor")
            page = context.new_page()
            for name, path in pictured(site).items():
                is_phone = names is not None
                if (name in IN_THE_DARK or scheme == "light") and name in (names or (name,)):
                    file = IMAGES / f"{name}{'-375' * is_phone}-{scheme}.png"
                    page.goto(path, wait_until="networkidle")
                    _shoot(page, file, size["width"])
                    yield file
            context.close()


def _shoot(page: Page, file: Path, width: int) -> None:
    height = min(page.evaluate("document.documentElement.scrollHeight"), MOST_HEIGHT)
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    page.screenshot(path=file, full_page=True, clip=clip)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--world", type=Path, help="a folder that tests.browser.world has made")
    options = parser.parse_args()
    IMAGES.mkdir(exist_ok=True)
    # Not in a folder that is emptied at boot: the page of health would say so.
    with tempfile.TemporaryDirectory(dir=ROOT) as folder, ExitStack() as stack:
        world, shown = options.world or Path(folder) / "world", Path(folder) / "shown"
        shown.mkdir()
        if options.world is None:
            build(world)
        judge = stack.enter_context(serving(ContentJudge().answer))
        settings = judged_by(judge.openai)
        site = stack.enter_context(served(world, "alarm", shown, **settings))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for file in take(site, browser):
                print(file.relative_to(ROOT))
            browser.close()
    MADE_FROM.write_text(f"{source_hash()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
