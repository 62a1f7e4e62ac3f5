"""The pipeline pauses for readers, and no number of them stops it."""

from __future__ import annotations

import threading
import time

from ragvigil.app.process.precedence import MOST_SECONDS, Precedence
from tests.patience import PATIENCE_SECONDS


def test_nobody_waits_and_nothing_pauses() -> None:
    precedence = Precedence()
    began = time.monotonic()
    for _ in range(1000):
        precedence.pause()
    assert time.monotonic() - began < MOST_SECONDS


def test_the_pipeline_goes_on_when_the_last_reader_is_served() -> None:
    precedence = Precedence()
    goes_on = threading.Event()

    def pipeline() -> None:
        while not goes_on.is_set():
            precedence.pause()
            if not served.locked():
                goes_on.set()

    served = threading.Lock()
    with precedence.request(), served, precedence.request():
        thread = threading.Thread(target=pipeline)
        thread.start()
        assert not goes_on.wait(2 * MOST_SECONDS)
    assert goes_on.wait(PATIENCE_SECONDS)
    thread.join()


def test_after_a_pause_the_pipeline_works_for_as_long() -> None:
    now = 0.0
    precedence = Precedence(lambda: now)
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        nonlocal now
        waits.append(seconds)
        now += seconds
        return False

    with precedence.request():
        precedence._nobody_waits.wait = wait  # type: ignore[method-assign]
        precedence.pause()
        now += MOST_SECONDS / 2
        precedence.pause()
        assert waits == [MOST_SECONDS]
        now += MOST_SECONDS / 2
        precedence.pause()
        assert waits == [MOST_SECONDS, MOST_SECONDS]
