"""Readers go first: the pipeline pauses while a page or an answer of the API is being made.

Spans wait in the spool meanwhile, where nobody waits for them; somebody waits for the page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST_SECONDS = 0.25
"""The longest pause: what takes longer to make mostly waits for the store."""


class Precedence:
    """Requests that are being made, and the pause that the pipeline takes for them.

    After a pause the pipeline works for at least as long as it has paused, so that any number of
    readers costs it half of its time at most. `clock` gives seconds that never run backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._nobody_waits = threading.Event()
        self._nobody_waits.set()
        self._requests = 0
        self._works_until = float("-inf")

    @contextmanager
    def request(self) -> Iterator[None]:
        """For as long as the block runs, a reader waits. Safe from any thread."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def pause(self) -> None:
        """Returns once no reader waits, after MOST_SECONDS at most; for the pipeline's thread."""
        if self._nobody_waits.is_set() or (began := self._clock()) < self._works_until:
            return
        self._nobody_waits.wait(MOST_SECONDS)
        now = self._clock()
        self._works_until = now + (now - began)

    def _change(self, by: int) -> None:
        with self._lock:
            self._requests += by
            if self._requests:
                self._nobody_waits.clear()
            else:
                self._nobody_waits.set()
