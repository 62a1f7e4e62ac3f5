"""`/docs` in a real browser: the policy of the page forbids nothing that it needs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.served_api import port_of
from tests.unit.ragvigil.web.test_guard import Quiet

pytestmark = pytest.mark.slow

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""


@pytest.mark.skipif(not BROWSER, reason="no browser: apt-get install chromium")
@pytest.mark.parametrize(
    "tokens", [{}, {"reader_token": "0123456789abcdef0123"}], ids=["open", "token"]
)
def test_the_page_shows_every_route_and_the_browser_refuses_nothing(
    tmp_path: Path, tokens: dict[str, str]
) -> None:
    served = api(None, Quiet(), WebSettings.model_validate(tokens))  # type: ignore[arg-type]
    with port_of(served) as port:
        seen = subprocess.run(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             f"--user-data-dir={tmp_path}", "--virtual-time-budget=30000", "--dump-dom",
             f"http://127.0.0.1:{port}/docs"],
            capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
    console = [line for line in seen.stderr.splitlines() if "CONSOLE" in line]
    assert console == []
    for path in ("/api/v1/records", "/api/v1/incidents/{incident_id}"):
        assert f'data-path="{path}"' in seen.stdout
    assert "Authorize" in seen.stdout
