"""An answer that stops or ends the core costs itself alone, also across restarts."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from bench.rig.one_answer import SPANS, one_answer, trace_id_of
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.patience import PATIENCE_SECONDS
from tests.poison import HOLD, SEGFAULT, poisonous

pytestmark = pytest.mark.slow

OTHERS = 40


def post(daemon: ChildDaemon, body: bytes) -> None:
    headers = {"content-type": "application/x-protobuf"}
    url = f"http://{daemon.http}/v1/traces"
    httpx2.post(url, content=body, headers=headers, timeout=PATIENCE_SECONDS).raise_for_status()


def send(daemon: ChildDaemon, poison: str) -> str:
    """Sends others, an answer with `poison`, and others; returns the trace id of the poison."""
    for number in range(OTHERS):
        if number == OTHERS // 2:
            post(daemon, one_answer(trace_id_of(poison), answer=f"It is {poison}."))
        post(daemon, one_answer(trace_id_of(f"{poison} {number}")))
    return trace_id_of(poison).hex()


def metric(daemon: ChildDaemon, sample: str) -> float:
    """The value of a sample of /metrics; 0 if it has none."""
    text = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS).text
    match = re.search(rf"^{re.escape(sample)} (\S+)$", text, re.MULTILINE)
    return float(match[1]) if match else 0.0


def wait_for(condition: Callable[[], bool], daemon: ChildDaemon) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, daemon.last_lines()
        time.sleep(0.2)


def is_drained(daemon: ChildDaemon, spans: int) -> bool:
    """Whether so many spans were acknowledged, and each has its place in the store's books."""
    try:
        books = daemon.get("ledger")["spans"]
    except httpx2.HTTPError:  # the core is down
        return False
    return bool(books["acknowledged"] == spans and not books["in_spool"])


@contextmanager
def health(daemon: ChildDaemon) -> Iterator[list[tuple[int, str]]]:
    """Collects what `/healthz` says, whenever it says something new."""
    answers: list[tuple[int, str]] = []
    done = threading.Event()

    def ask() -> None:
        while not done.wait(0.1):
            reply = httpx2.get(f"http://{daemon.metrics}/healthz", timeout=PATIENCE_SECONDS)
            answer = (reply.status_code, reply.text)
            if answer not in answers[-1:]:
                answers.append(answer)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        done.set()
        thread.join()


def assert_only_the_poison_is_missing(daemon: ChildDaemon, poison: str, trace_id: str) -> None:
    spans = daemon.get("ledger")["spans"]
    assert spans["quarantined"] == SPANS
    assert spans["stored"] == SPANS * OTHERS
    for number in range(0, OTHERS, OTHERS // 4):
        other = daemon.get(f"traces/{trace_id_of(f'{poison} {number}').hex()}")
        assert len(other["records"][0]["scores"]) > 5
    missing = httpx2.get(f"http://{daemon.web}/api/v1/traces/{trace_id}", timeout=PATIENCE_SECONDS)
    assert missing.status_code == 404


def test_an_answer_that_ends_the_core_is_quarantined(tmp_path: Path) -> None:
    # `bench/hostile.py` has the others: one that exits, one that sleeps.
    poison = SEGFAULT
    daemon = start(tmp_path / "data", settings=poisonous(tmp_path))
    try:
        daemon.wait_ready()
        trace_id = send(daemon, poison)
        wait_for(lambda: is_drained(daemon, SPANS * (OTHERS + 1)), daemon)
        assert_only_the_poison_is_missing(daemon, poison, trace_id)
        # The engine's own handler of a broken process may hang: then it has stalled.
        for name, count in (("restarts_total{", 2), ('quarantined_total{kind="trace",', 1)):
            samples = (f'ragvigil_core_{name}reason="{end}"}}' for end in ("crashed", "stalled"))
            assert sum(metric(daemon, sample) for sample in samples) == count
        assert f"trace={trace_id}" in (daemon.data_dir / "daemon.log").read_text()
        assert len(list((daemon.data_dir / "spool" / "quarantine").glob("*.otlp"))) == 1
    finally:
        daemon.stop()


def test_an_answer_that_stalls_the_core_is_quarantined_across_restarts(tmp_path: Path) -> None:
    poison = HOLD
    settings = poisonous(tmp_path)
    daemon = start(tmp_path / "data", settings=settings)
    try:
        daemon.wait_ready()
        with health(daemon) as answers:
            trace_id = send(daemon, poison)
            stalled = 'ragvigil_core_restarts_total{reason="stalled"}'
            wait_for(lambda: metric(daemon, stalled) == 1, daemon)
            wait_for(lambda: len(answers) == 3, daemon)
        assert answers == [(200, ""), (503, "the core got no further for 5 s\n"), (200, "")]
        assert daemon.stop() == 0
        daemon = start(tmp_path / "data", settings=settings)
        wait_for(lambda: is_drained(daemon, SPANS * (OTHERS + 1)), daemon)
        assert_only_the_poison_is_missing(daemon, poison, trace_id)
        assert daemon.stop() == 0
        daemon = start(tmp_path / "data", settings=settings)
        daemon.wait_ready()
        post(daemon, one_answer(trace_id_of("afterwards")))
        wait_for(lambda: is_drained(daemon, SPANS * (OTHERS + 2)), daemon)
        assert metric(daemon, stalled) == 0
    finally:
        daemon.stop()


def test_a_stuck_core_does_not_hold_up_the_stop_and_ends_with_its_intake(tmp_path: Path) -> None:
    settings = poisonous(tmp_path) | {"RAGVIGIL_SCORERS__STALL_SECONDS": "600"}
    daemon = start(tmp_path / "data", settings=settings)
    try:
        daemon.wait_ready()
        send(daemon, HOLD)
        wait_for(lambda: not daemon.is_ready(), daemon)
        core = int((daemon.data_dir / "core.lock").read_text())
        os.kill(daemon.process.pid, signal.SIGKILL)
        daemon.process.wait()
        wait_for(lambda: not Path(f"/proc/{core}").exists(), daemon)
        daemon = start(tmp_path / "data", settings=settings)
        daemon.wait_ready()
        wait_for(lambda: not daemon.is_ready(), daemon)
        assert daemon.stop(PATIENCE_SECONDS) == 0
        assert "core is stuck and is killed" in (daemon.data_dir / "daemon.log").read_text()
    finally:
        daemon.stop()
