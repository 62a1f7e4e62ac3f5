"""A stop at any moment, under traffic, logs no error: jobs end before the store closes."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from bench.rig.one_answer import one_answer, trace_id_of
from ragvigil.app.demo.child_daemon import ChildDaemon, running

pytestmark = pytest.mark.slow

SEED, STOPS, LONGEST_SECONDS = 20261122, 4, 5.0
WRONG = ("level=error", "Traceback", "Error", "ERROR", "CRITICAL")


@contextlib.contextmanager
def traffic(daemon: ChildDaemon, name: str) -> Iterator[None]:
    """Spans come in and pages are read until the end of the block."""
    done = threading.Event()

    def send() -> None:
        with httpx2.Client(timeout=60) as client:
            for number in range(10_000):
                with contextlib.suppress(httpx2.HTTPError):  # it is being stopped
                    body = one_answer(trace_id_of(f"{name} {number}"))
                    headers = {"content-type": "application/x-protobuf"}
                    client.post(f"http://{daemon.http}/v1/traces", content=body, headers=headers)
                    if not number % 10:
                        client.get(f"http://{daemon.web}/api/v1/status")
                if done.wait(0.02):
                    return

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_a_stop_at_any_moment_logs_no_error(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for stop in range(STOPS):
        with running(tmp_path) as daemon, traffic(daemon, f"life {stop}"):
            time.sleep(chance.uniform(0.0, LONGEST_SECONDS))
            assert daemon.stop(100) == 0
    lines = (tmp_path / "daemon.log").read_text().splitlines()
    assert sum("event=stopped" in line for line in lines) == STOPS
    assert [line for line in lines if any(word in line for word in WRONG)] == []
