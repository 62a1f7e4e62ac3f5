"""Pipeline and jobs pause for readers, and no number of them stops one."""

from __future__ import annotations

import threading
import time

from ragvigil.app.process.precedence import Precedence
from tests.patience import PATIENCE_SECONDS

MOST_SECONDS = 0.25


def test_nobody_waits_and_nothing_pauses() -> None:
    pause = Precedence().pauses(MOST_SECONDS)
    began = time.monotonic()
    for _ in range(1000):
        pause()
    assert time.monotonic() - began < MOST_SECONDS


def test_the_pipeline_goes_on_when_the_last_reader_is_served() -> None:
    precedence = Precedence()
    pause = precedence.pauses(MOST_SECONDS)
    goes_on = threading.Event()

    def pipeline() -> None:
        while not goes_on.is_set():
            pause()
            if not served.locked():
                goes_on.set()

    served = threading.Lock()
    with precedence.request(), served, precedence.request():
        thread = threading.Thread(target=pipeline)
        thread.start()
        assert not goes_on.wait(2 * MOST_SECONDS)
    assert goes_on.wait(PATIENCE_SECONDS)
    thread.join()


def test_after_a_pause_each_kind_of_work_goes_on_for_as_long() -> None:
    now = 0.0
    precedence = Precedence(lambda: now)
    pipeline, jobs = precedence.pauses(MOST_SECONDS), precedence.pauses(2 * MOST_SECONDS)
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        nonlocal now
        waits.append(seconds)
        now += seconds
        return False

    with precedence.request():
        precedence.nobody_waits.wait = wait  # type: ignore[method-assign,assignment]
        pipeline()
        now += MOST_SECONDS / 2
        pipeline()
        assert waits == [MOST_SECONDS]
        jobs()
        assert waits == [MOST_SECONDS, 2 * MOST_SECONDS]
        pipeline()
        jobs()
        assert waits == [MOST_SECONDS, 2 * MOST_SECONDS, MOST_SECONDS]
