"""The queries of one request: they leave the queue together once nobody waits for its answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ragvigil.store.engine.priority import Priority


class QueryScope:
    """Follows the reads that a request has queued. Safe from any thread.

    All that it reads has the priority `reads_as`, or each read its usual one.
    """

    def __init__(self, reads_as: Priority | None = Priority.PAGE) -> None:
        self.reads_as = reads_as
        self._lock = threading.Lock()
        self._queries: set[Future[Any]] = set()
        self.is_abandoned = False

    def follow(self, query: Future[Any]) -> None:
        """Cancels this read together with the others, or at once where that has happened."""
        with self._lock:
            if not self.is_abandoned:
                self._queries.add(query)
        query.add_done_callback(self._queries.discard)
        if self.is_abandoned:
            query.cancel()

    def abandon(self) -> None:
        """Cancels all reads that wait, and every later one; a read under way runs to its end."""
        with self._lock:
            self.is_abandoned = True
            queries = list(self._queries)
        for query in queries:
            query.cancel()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Every read in this block, and in threads that copy its context, is of this request."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[QueryScope | None] = ContextVar("query_scope", default=None)


def current_scope() -> QueryScope | None:
    """The request for which this code runs; None in jobs."""
    return _current.get()
