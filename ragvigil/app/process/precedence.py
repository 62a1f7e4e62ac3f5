"""Readers go first: pipeline and jobs pause while a page or an answer of the API is being made.

Spans wait in the spool meanwhile, where nobody waits for them; somebody waits for the page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PIPELINE_SECONDS, JOB_SECONDS = 0.25, 0.5
"""The longest pauses: what takes longer to make mostly waits for the store. A query of a job may
take both cores for as long as a whole page."""


class Precedence:
    """Requests that are being made, and the pauses that others take for them.

    `clock` gives seconds that never run backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.nobody_waits = threading.Event()
        self.nobody_waits.set()
        self._requests = 0

    @contextmanager
    def request(self) -> Iterator[None]:
        """For as long as the block runs, a reader waits. Safe from any thread."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def pauses(self, most_seconds: float) -> Callable[[], None]:
        """The pause of one kind of work: it returns once no reader waits, or after `most_seconds`.

        After a pause that work goes on for at least as long as it has paused, so that any number of
        readers costs it half of its time at most. Safe from any thread.
        """
        works_until = float("-inf")

        def pause() -> None:
            nonlocal works_until
            if self.nobody_waits.is_set() or (began := self._clock()) < works_until:
                return
            self.nobody_waits.wait(most_seconds)
            now = self._clock()
            works_until = now + (now - began)

        return pause

    def _change(self, by: int) -> None:
        with self._lock:
            self._requests += by
            if self._requests:
                self.nobody_waits.clear()
            else:
                self.nobody_waits.set()
