"""A store whose connections are busy for as long as a block runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from tests.patience import PATIENCE_SECONDS


@contextmanager
def occupied(store: Store, priority: Priority) -> Iterator[None]:
    """All connections that serve this priority are busy: no write begins while a tick runs."""
    connections = store.settings.page_connections if priority is Priority.PAGE else 1
    busy, done = threading.Barrier(connections + 1), threading.Event()

    def occupy(_: object) -> None:
        busy.wait(PATIENCE_SECONDS)
        done.wait(PATIENCE_SECONDS)

    with ThreadPoolExecutor(connections) as callers:
        for _ in range(connections):
            callers.submit(store._ask, "occupy", occupy, priority)
        busy.wait(PATIENCE_SECONDS)
        try:
            yield
        finally:
            done.set()
