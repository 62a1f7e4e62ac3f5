"""The thread that writes and runs jobs, its queues, and the connections of pages."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from ragvigil.model.backoff import Backoff, Pause
from ragvigil.store import metrics
from ragvigil.store.engine.batch import Batch, WriteResult
from ragvigil.store.engine.connection import JOB_FACTOR, Clients, connect, forget_answer
from ragvigil.store.engine.erased import Erased
from ragvigil.store.engine.errors import (
    Abandoned,
    Fenced,
    SchemaMismatch,
    StoreError,
    Unavailable,
    WriterStopped,
    read_failure,
    write_failure,
)
from ragvigil.store.engine.guarded import Guard
from ragvigil.store.engine.migrate import migrate
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.readers import Readers
from ragvigil.store.engine.scope import current_scope
from ragvigil.store.engine.writer import Attempt, Writer
from ragvigil.store.queries import query
from ragvigil.store.settings import StoreSettings

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

log = structlog.get_logger()

FIRST_RETRY_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """The state of connection and queues; the texts are empty while all is well.

    `waiting` counts queued batches. `trouble` says why the first of them, or the connection, is
    being tried again; `stopped` says why nothing is written any more.
    """

    is_ready: bool
    waiting: int
    trouble: str = ""
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class _Write:
    attempt: Attempt
    result: Future[WriteResult]


@dataclass(frozen=True, slots=True, order=True)
class _Job:
    priority: int
    number: int
    call: Callable[[Client], Any] = field(compare=False)
    writes: bool = field(compare=False)
    result: Future[Any] = field(compare=False)


class QueryTurn(Enum):
    """What the thread does next when that is neither a write nor a job."""

    CONNECT = "connect"
    END = "end"


class Engine:
    """Connects, migrates, then serves writes and jobs until it is stopped.

    One thread writes and runs jobs: a job sees every batch that was queued before it. Callers put
    both into two queues, guarded by `_changed`; each has a future. Pages have threads and
    connections of their own (ADR 20), so that they wait for neither.
    """

    def __init__(
        self,
        settings: StoreSettings,
        data_dir: Path,
        *,
        replica: str,
        epoch: int,
        clock: Callable[[], float],
    ) -> None:
        self.replica, self.epoch = replica, epoch
        self.erased = Erased()
        self.guard: Guard = lambda _: ""
        """What a write of a table must fulfil; set before anything is written."""
        self.is_announcing = False
        self.give_way: Callable[[], None] = lambda: None
        """Called before each query that belongs to no request."""
        self._settings, self._data_dir, self._clock = settings, data_dir, clock
        self._changed = threading.Condition()
        self._writes: deque[_Write] = deque()
        self._jobs: list[_Job] = []
        self._numbers = itertools.count()
        self._clients: Clients | None = None
        self._readers: Readers | None = None
        self._writer: Writer | None = None
        backoff = Backoff(first_seconds=FIRST_RETRY_SECONDS, longest_seconds=settings.retry_seconds)
        self._pause = Pause(backoff)
        self._trouble = self._stopped = ""
        self._fails_since: float | None = None
        self._ends_at: float | None = None
        self._opened: Future[None] = Future()
        self._thread = threading.Thread(target=self._serve, name="store", daemon=True)

    def start(self, *, wait: bool) -> None:
        """Starts the thread. `wait`: returns once the tables are ready, or raises StoreError."""
        self._thread.start()
        if wait:
            self._opened.result()

    def queue_write(self, batch: Batch) -> Future[WriteResult]:
        """Queues a batch; batches are written in the order in which they come."""
        write = _Write(Attempt(batch), Future())
        with self._changed:
            if self._stopped:
                write.result.set_exception(WriterStopped(self._stopped))
            elif self._ends_at is not None:
                write.result.set_exception(Unavailable("the store is closed"))
            else:
                self._writes.append(write)
                metrics.WRITES_WAITING.set(len(self._writes))
                self._changed.notify()
        return write.result

    def queue_job(self, call: Callable[[Client], Any], priority: Priority, *, writes: bool) -> Any:
        """Runs `call` with a connection of its priority and returns what it returns.

        What a page reads is a page's, whatever its usual priority; a query that belongs to no
        request gives way first. Raises TimeoutError if it is not done within three times the limit
        of a job, Unavailable once the store is closed, and Abandoned where the request has ended.
        """
        asker = current_scope()
        if asker is None:
            self.give_way()
        scope = None if writes else asker
        if scope and scope.is_abandoned:
            raise Abandoned("the request has ended")
        if scope and scope.reads_as is not None:
            priority = scope.reads_as
        if priority is Priority.PAGE and not writes:
            result = self._queue_page(call)
        else:
            result = self._queue(_Job(int(priority), next(self._numbers), call, writes, Future()))
        if scope:
            scope.follow(result)
        try:
            return result.result(self._settings.query_seconds * JOB_FACTOR * 3)
        except CancelledError as error:
            if scope and scope.is_abandoned:
                raise Abandoned("the request has ended") from error
            raise Unavailable("the store has closed") from error
        finally:
            # A job whose caller has given up is not run when its turn comes.
            result.cancel()

    def _queue(self, job: _Job) -> Future[Any]:
        with self._changed:
            if self._ends_at is not None:
                raise Unavailable("the store is closed")
            heapq.heappush(self._jobs, job)
            self._changed.notify()
        return job.result

    def _queue_page(self, call: Callable[[Client], Any]) -> Future[Any]:
        with self._changed:
            if self._ends_at is not None:
                raise Unavailable("the store is closed")
            if self._readers is None:
                raise Unavailable(self._trouble or "the store is not open yet")
            return self._readers.queue(lambda client: self._run(call, client))

    def status(self) -> StoreStatus:
        """The state of connection and queues, without asking the database."""
        with self._changed:
            return StoreStatus(
                is_ready=self._clients is not None,
                waiting=len(self._writes),
                trouble=self._trouble,
                stopped=self._stopped,
            )

    def stop(self, seconds: float) -> None:
        """Ends the thread once the queued writes are done or `seconds` have passed."""
        with self._changed:
            self._ends_at = time.monotonic() + seconds
            self._changed.notify()
        self._thread.join(seconds + self._settings.timeout_seconds)

    def _serve(self) -> None:
        while (task := self._next()) is not QueryTurn.END:
            if task is QueryTurn.CONNECT:
                self._connect()
            elif isinstance(task, _Write):
                self._do_write(task)
            elif isinstance(task, _Job) and task.result.set_running_or_notify_cancel():
                self._do_job(task)
        self._fail_rest()
        if self._readers is not None:
            self._readers.close()
        if self._clients is not None:
            self._clients.close()

    def _next(self) -> _Write | _Job | QueryTurn:
        """Waits for the next thing to do: a write first, then the job of the highest priority."""
        with self._changed:
            while True:
                now = time.monotonic()
                if self._ends_at is not None and (not self._writes or now >= self._ends_at):
                    return QueryTurn.END
                if self._clients is None and self._pause.is_over(now):
                    return QueryTurn.CONNECT
                if self._writes and self._clients is not None and self._pause.is_over(now):
                    # It stays in the queue until it is stored, so that it is tried again.
                    return self._writes[0]
                # Reads run while a write waits out its pause, or the server is away.
                if self._jobs:
                    return heapq.heappop(self._jobs)
                self._changed.wait(self._wait_seconds(now))

    def _wait_seconds(self, now: float) -> float | None:
        """Seconds until a pause is over or the store must end; None: only a caller brings work."""
        waits = [self._pause.remaining(now)] if self._writes or self._clients is None else []
        if self._ends_at is not None:
            waits.append(max(0.0, self._ends_at - now))
        return min(waits, default=None)

    def _connect(self) -> None:
        """Connects and migrates; a server that is down is tried again after a pause."""
        clients = None
        try:
            clients = connect(self._settings, self._data_dir)
            migrate(clients.writer, cluster=self._settings.cluster)
            self._read_erasures(clients.writer)
            writer = Writer(
                clients.writer,
                replica=self.replica,
                epoch=self.epoch,
                clock=self._clock,
                erased=self.erased,
                guard=lambda table: self.guard(table),
                is_announcing=lambda: self.is_announcing,
            )
        except Exception as error:  # the driver raises many kinds: `_not_opened` sorts them
            if clients is not None:
                clients.close()
            self._not_opened(error)
            return
        self._writer, self._clients, self._readers = writer, clients, Readers(clients.pages)
        self._succeeded()
        if not self._opened.done():
            self._opened.set_result(None)

    def _read_erasures(self, client: Client) -> None:
        for row in client.query(query("erasures_hashes")).named_results():
            self.erased.add(row["traces"], row["subject"], int(row["until"]))

    def _not_opened(self, error: Exception) -> None:
        failure = error if isinstance(error, StoreError) else write_failure(error)
        self._trouble = str(failure)
        # An embedded engine that does not open, or a wrong schema, will not mend by waiting.
        if not self._settings.url:
            self._opened.set_exception(failure)  # who opens the store says so
            self._ends_at = time.monotonic()
        elif isinstance(failure, SchemaMismatch):
            self._stop_writing(failure)
            self._ends_at = time.monotonic()
        else:
            metrics.WRITE_RETRIES.labels("connect").inc()
            self._say_once("store not reachable")
            self._pause.failed(time.monotonic())

    def _do_write(self, write: _Write) -> None:
        assert self._writer is not None
        try:
            with metrics.WRITE_SECONDS.time():
                written = self._writer.write(write.attempt)
        except Unavailable as error:
            self._trouble = str(error)
            metrics.WRITE_RETRIES.labels("write").inc()
            self._say_once("write failed, trying again")
            self._pause.failed(time.monotonic())
            return
        except Fenced as error:  # what others write is not concerned
            self._written()
            write.result.set_exception(error)
            return
        except Exception as error:  # a batch that can never be written must not end the thread
            self._stop_writing(error)
            return
        self._written()
        write.result.set_result(written)

    def _say_once(self, event: str) -> None:
        """Logs the trouble, unless the last attempt failed too: an outage is one line, not many."""
        if self._fails_since is None:
            self._fails_since = time.monotonic()
            log.warning(event, error=self._trouble)

    def _succeeded(self) -> None:
        """Forgets the failures, and says how long they took."""
        self._pause.succeeded()
        self._trouble = ""
        if self._fails_since is not None:
            seconds = round(time.monotonic() - self._fails_since, 1)
            log.info("the store takes what waited", after_seconds=seconds)
            self._fails_since = None

    def _written(self) -> None:
        """Takes the first batch off the queue: it is done with."""
        self._succeeded()
        with self._changed:
            self._writes.popleft()
            metrics.WRITES_WAITING.set(len(self._writes))

    def _stop_writing(self, error: Exception) -> None:
        """Fails all writes from here on; acknowledged data stays in the spool."""
        log.error("the writer has stopped", error=str(error))
        metrics.WRITER_STOPPED.set(1)
        with self._changed:
            self._stopped = str(error)
            waiting = list(self._writes)
            self._writes.clear()
        for write in waiting:
            write.result.set_exception(WriterStopped(str(error)))

    def _do_job(self, job: _Job) -> None:
        if self._clients is None:
            job.result.set_exception(Unavailable(self._trouble or "the store is not open yet"))
            return
        client = self._clients.writer if job.writes else self._clients.jobs
        try:
            job.result.set_result(self._run(job.call, client))
        except StoreError as error:
            job.result.set_exception(error)

    def _run(self, call: Callable[[Client], Any], client: Client) -> Any:
        try:
            return call(client)
        except Exception as error:  # the driver raises many kinds
            self._forget(client)
            raise read_failure(error) from error

    def _forget(self, client: Client) -> None:
        """Clears the rows that a failed query has left, so that the next answer lacks them."""
        if self._settings.url:
            return
        try:
            forget_answer(client)
        except Exception as error:  # the thread must outlive any failure of the engine
            log.error("the engine answers no query", error=str(error))

    def _fail_rest(self) -> None:
        with self._changed:
            writes, jobs = list(self._writes), list(self._jobs)
            self._writes.clear()
            self._jobs.clear()
        results: list[Future[Any]] = [
            *(write.result for write in writes),
            *(job.result for job in jobs),
        ]
        for result in results:
            if result.set_running_or_notify_cancel():
                result.set_exception(Unavailable("the store has closed"))
