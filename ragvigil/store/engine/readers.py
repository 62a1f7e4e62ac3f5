"""Connections that only serve pages: each runs one query at a time, beside the writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client


class Readers:
    """A thread for each of these clients. Safe from any thread.

    Calls are started in the order in which they come. The future of a call that waits can be
    cancelled: it is then never run.
    """

    def __init__(self, clients: Sequence[Client]) -> None:
        self._idle: SimpleQueue[Client] = SimpleQueue()
        for client in clients:
            self._idle.put(client)
        self._threads = ThreadPoolExecutor(len(clients), thread_name_prefix="store-pages")

    def queue(self, call: Callable[[Client], Any]) -> Future[Any]:
        """Queues a call; its future raises what the call raises. RuntimeError once closed."""

        def run() -> Any:
            # There are as many clients as threads, so this does not wait.
            client = self._idle.get()
            try:
                return call(client)
            finally:
                self._idle.put(client)

        return self._threads.submit(run)

    def close(self) -> None:
        """Cancels the calls that wait, and returns once those under way have ended."""
        self._threads.shutdown(cancel_futures=True)
