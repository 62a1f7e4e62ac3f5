"""A fault that comes back: from the deploy mark to the ticket of its golden case, on a daemon."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.model.clock import VARIABLE, Pace
from tests.flow.test_golden import RIGHT, WRONG, Service
from tests.golden_sets import work_tree
from tests.patience import PATIENCE_SECONDS
from tests.replayed import wait_for

pytestmark = pytest.mark.slow

FACTOR = 5.0
MOST_SECONDS = 600.0
"""Of the daemon's time, from the deploy mark to the ticket."""
PEOPLE = {"ann": ("triager", "ann-0123456789abcdef0123456789"),
          "bob": ("approver", "bob-0123456789abcdef0123456789"),
          "pipe": ("ingest", "pipe-0123456789abcdef012345678")}  # fmt: skip
CASE = {
    "question": "How long do refunds take?", "gold_chunk_ids": ["refund-02"],
    "gold_answer": "5 to 7 days.", "service": "desk", "environment": "prod", "route": "/refunds",
    "query_type": "canonical",
}  # fmt: skip
GAUGE = re.compile(r"^ragvigil_golden_failing_again\{[^}]*\} ([\d.]+)$", re.MULTILINE)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    made.reply = RIGHT
    yield made
    made.server.shutdown()


def post(daemon: ChildDaemon, person: str, path: str, body: dict[str, Any]) -> Any:
    headers = {"authorization": f"Bearer {PEOPLE[person][1]}"}
    url = f"http://{daemon.web}/api/v1/{path}"
    reply = httpx2.post(url, json=body, headers=headers, timeout=PATIENCE_SECONDS)
    assert reply.is_success, reply.text
    return reply.json()


def case_of(daemon: ChildDaemon, case_id: str) -> Any:
    headers = {"authorization": f"Bearer {PEOPLE['bob'][1]}"}
    url = f"http://{daemon.web}/api/v1/golden/{case_id}"
    return httpx2.get(url, headers=headers, timeout=PATIENCE_SECONDS).raise_for_status().json()


def failing_again(daemon: ChildDaemon) -> float:
    text = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS).text
    return sum(map(float, GAUGE.findall(text)))


def test_a_fault_that_comes_back_is_a_ticket_within_ten_minutes_of_the_mark(
    service: Service, tmp_path: Path
) -> None:
    people = tmp_path / "people"
    people.write_text("".join(f"{role} {token} {name}\n" for name, (role, token) in PEOPLE.items()))
    people.chmod(0o600)
    start = time.time()
    clock = Pace(factor=FACTOR, origin=start)
    settings = {
        VARIABLE: f"{FACTOR}@{start}",
        "RAGVIGIL_WEB__TOKENS_FILE": str(people),
        "RAGVIGIL_GOLDEN__REPOSITORY": str(work_tree(tmp_path / "set")),
        "RAGVIGIL_GOLDEN__TARGET__URL": service.url,
        "RAGVIGIL_GOLDEN__TARGET__ANSWER": "reply.text",
        "RAGVIGIL_GOLDEN__TARGET__CHUNK_IDS": "reply.chunks[*].id",
        "RAGVIGIL_INFERENCE__ENABLED": "false",
        "RAGVIGIL_SCORERS__STALL_SECONDS": "900",
    }
    with running(tmp_path / "data", settings=settings) as daemon:
        (made,) = post(daemon, "ann", "golden-import", {"cases": [CASE]})["cases"]
        case_id = made["case_id"]
        seen = {"content_hash": case_of(daemon, case_id)["content_hash"], "despite_warnings": True}
        assert post(daemon, "bob", f"golden/{case_id}/sign", seen)["run"]["is_pass"]
        assert case_of(daemon, case_id)["state"] == "passing"
        service.reply = WRONG
        marked = clock.now()
        post(daemon, "pipe", "deploys", {"service": "desk", "version": "1.4.1"})
        wait_for(lambda: failing_again(daemon) == 1)
        took = clock.now() - marked
    print(f"ticket {took:.0f} s of the daemon's time after the mark")
    assert took <= MOST_SECONDS
