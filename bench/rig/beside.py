"""Samples a value at intervals while something else is measured."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeatedly(look: Callable[[], None], *, every_seconds: float) -> Iterator[None]:
    """Samples at once, at intervals and at the end, in a thread of its own."""
    done = threading.Event()

    def looks() -> None:
        look()
        while not done.wait(every_seconds):
            look()
        look()

    thread = threading.Thread(target=looks)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
