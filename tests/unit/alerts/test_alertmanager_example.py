"""The example for Alertmanager loads and routes alerts where they should go."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.monitoring import tool

CONFIG = Path(__file__).resolve().parents[3] / "deploy" / "alertmanager" / "alertmanager.yml"


def amtool(*arguments: str) -> str:
    done = subprocess.run([tool("amtool"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_alertmanager_takes_the_example() -> None:
    assert "1 templates" in amtool("check-config", str(CONFIG))


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (["alertname=RagQualityIncident", "severity=page"], "pager"),
        (["alertname=RagNotWatching", "severity=page"], "pager"),
        (["alertname=RagQualityTicket", "severity=ticket"], "tickets"),
        (["alertname=RagJudgeFailing", "severity=ticket"], "tickets"),
        (["alertname=RagIssueNew", "severity=ticket"], "tickets"),
        (["alertname=RagvigilTestAlert", "severity=info"], "pager"),
    ],
)
def test_pages_and_the_test_reach_the_pager_and_tickets_the_chat(
    labels: list[str], receiver: str
) -> None:
    told = amtool("config", "routes", "test", "--config.file", str(CONFIG), *labels)
    assert told == receiver
