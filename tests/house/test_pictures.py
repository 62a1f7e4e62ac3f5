"""Pictures show how pages look now."""

from __future__ import annotations

import re

from tests.browser.screenshots import IMAGES, MADE_FROM, ROOT, source_hash


def test_pictures_are_made_from_these_templates_styles_and_data() -> None:
    assert MADE_FROM.read_text(encoding="utf-8").strip() == source_hash(), "run `make pictures`"


def test_every_picture_that_is_shown_exists() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "pages.md"):
        shown = re.findall(r"images/([\w.-]+\.png)", page.read_text(encoding="utf-8"))
        assert shown
        assert [name for name in shown if not (IMAGES / name).exists()] == []
