"""The demo's story on a real daemon: two days of traffic, and the route that went wrong."""

from __future__ import annotations

import io
import time
from pathlib import Path

from rich.console import Console

from ragvigil.app.demo.child_daemon import running
from ragvigil.app.demo.run import Demo
from ragvigil.app.demo.schedule import Plan


def test_the_demo_names_the_rubric_the_route_and_the_reason(tmp_path: Path) -> None:
    said = io.StringIO()
    plan = Plan(ends_unix_nano=time.time_ns(), days=2, traces_per_hour=60)
    with running(tmp_path) as daemon:
        Demo(Console(file=said, width=200), daemon, plan, time.sleep).tell()
    text = said.getvalue()
    moved = [line for line in text.splitlines() if " fell by " in line]
    assert moved[0].startswith("citation_validity on /refunds/ask fell by ")
    assert "% of the failures are quote_not_found" in moved[0]
    assert "quote not found in chunk" in text
    assert not any("citation_validity on" in line for line in moved[1:])
