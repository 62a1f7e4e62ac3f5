"""After a restart with a long spool the daemon says what it reads back, wherever one looks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from bench.rig import otlp_requests
from collector.spool.spool import SpoolWriter
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from ragvigil.model.span import Signal
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

REQUESTS, TRACES = 60, 100
SPANS = REQUESTS * TRACES * otlp_requests.SPANS_A_TRACE


@pytest.fixture
async def left_over(tmp_path: Path) -> Path:
    """The folder of a daemon that ended before it read anything of its spool."""
    spool = await SpoolWriter.open(tmp_path / "spool")
    for body in otlp_requests.make(REQUESTS * TRACES, seed=9, per_request=TRACES):
        await spool.append(
            body,
            signal=Signal.TRACES,
            items=TRACES * otlp_requests.SPANS_A_TRACE,
            received_unix_nano=time.time_ns(),
        )
    await spool.close()
    return tmp_path


@pytest.fixture
def daemon(left_over: Path) -> Iterator[ChildDaemon]:
    started = start(left_over, settings={"RAGVIGIL_INFERENCE__ENABLED": "false"})
    yield started
    started.process.kill()
    started.process.wait()


def test_a_ready_daemon_says_what_it_reads_back_and_for_how_long(daemon: ChildDaemon) -> None:
    daemon.wait_ready()
    announced = httpx2.get(f"http://{daemon.metrics}/readyz", timeout=PATIENCE_SECONDS)
    assert announced.status_code == 200
    assert announced.text.startswith("ready, reading back: ")
    assert "spans to go" in announced.text
    api = f"http://{daemon.web}/api/v1"
    unknown = httpx2.get(f"{api}/traces/{'0' * 31}1", timeout=PATIENCE_SECONDS)
    assert unknown.status_code == 404
    assert "it may still come, reading back: " in unknown.json()["error"]["message"]
    assert daemon.get("status")["daemon"]["behind"].startswith("reading back: ")
    assert any("reading back: " in line for line in daemon.get("why")["lines"])
    give_up = time.monotonic() + PATIENCE_SECONDS
    while "about" not in daemon.get("status")["daemon"]["behind"]:
        assert time.monotonic() < give_up, "no time was told"
        time.sleep(0.1)
