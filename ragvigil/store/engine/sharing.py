"""What a store does because other daemons use the same server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ragvigil.store.engine.errors import StoreUnusable
from ragvigil.store.engine.guarded import Guard

if TYPE_CHECKING:
    from ragvigil.store.engine.engine import Engine

READY_SECONDS = 0.1
"""How often one who waits for the tables looks."""


class Sharing:
    """Waits for a server, guards what only a leader writes, tells others what has changed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def wait_ready(self, stop: threading.Event) -> bool:
        """Waits until the tables are ready; False if `stop` is set before.

        Raises StoreUnusable where they never will be.
        """
        while not (status := self._engine.status()).is_ready:
            if status.stopped:
                raise StoreUnusable(status.stopped)
            if stop.wait(READY_SECONDS):
                return False
        return True

    def guard(self, guard: Guard) -> None:
        """From now on rows of a table are written under `guard(table)`, an SQL condition.

        A batch that it refuses raises Fenced. For a server only: the embedded engine has one
        daemon. Set it before anything is written.
        """
        self._engine.guard = guard

    def announce(self) -> None:
        """From now on each batch says which minutes it changed, for an analyst elsewhere."""
        self._engine.is_announcing = True
