"""The runbook's page has an anchor for each alert."""

from __future__ import annotations

import re
from pathlib import Path

from ragvigil.web.pages.runbook import rendered

ROOT = Path(__file__).resolve().parents[5]


def test_every_alert_has_an_anchor_on_the_page() -> None:
    rules = "".join(path.read_text() for path in (ROOT / "alerts" / "rules").glob("*.yml"))
    anchors = set(re.findall(r"runbook_url: \S+#(\w+)", rules))
    assert len(anchors) > 25
    assert anchors <= set(re.findall(r'<h2 id="(\w+)">', rendered()))


def test_tables_are_tables() -> None:
    assert "<table>" in rendered()
    assert "|---|" not in rendered()
