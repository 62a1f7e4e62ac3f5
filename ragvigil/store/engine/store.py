"""The store: one thread writes and runs jobs, others read for pages.

Writes go first, then the reads of jobs by their `Priority`. Reads have limits of time, rows and
memory. A write that fails is repeated after a pause, and jobs run meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from ragvigil.store import metrics
from ragvigil.store.engine.batch import Batch, WriteResult
from ragvigil.store.engine.engine import Engine, StoreStatus
from ragvigil.store.engine.errors import PartDamaged, Unavailable
from ragvigil.store.engine.kept import Kept
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.sharing import Sharing
from ragvigil.store.queries import query
from ragvigil.store.settings import StoreSettings

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client
    from numpy.typing import NDArray

log = structlog.get_logger()

__all__ = ["Priority", "Store", "StoreStatus"]

Parameters = Mapping[str, Any]
INPUTS = frozenset({"traces", "scores", "feedback", "labels", "acts"})
"""Tables of what comes from outside: from services, a judge, or people."""
CLOSE_SECONDS = 20.0


class Store:
    """Writes batches and reads rows; safe to use from any thread.

    `replica` and `epoch` (its start) name this instance in every row that it writes. `kept` has the
    answers of reads that pages repeat, for `keep_seconds`; 0 keeps none. `sharing` is for daemons
    that share a server.
    """

    def __init__(self, engine: Engine, settings: StoreSettings, keep_seconds: float = 0.0) -> None:
        self._engine = engine
        self.settings = settings
        self.replica, self.epoch = engine.replica, engine.epoch
        self.erased = engine.erased
        self.kept = Kept(keep_seconds, give_way=engine.give_way)
        self.sharing = Sharing(engine)
        self.arrived = 0
        """Batches so far with anything from outside: what is made of the store counts not."""

    @classmethod
    def open(
        cls,
        settings: StoreSettings,
        data_dir: Path,
        *,
        replica: str = "",
        epoch: int = 0,
        keep_seconds: float = 0.0,
        clock: Callable[[], float] = time.time,
        give_way: Callable[[], None] = lambda: None,
    ) -> Store:
        """Opens the store and brings its tables up to date.

        `give_way` is called before each query that belongs to no request, by the thread that asks.

        The embedded engine is ready on return; raises StoreError if it cannot open. A server may
        still be down: then batches wait for it, and reads raise Unavailable.
        """
        engine = Engine(settings, data_dir, replica=replica, epoch=epoch, clock=clock)
        engine.give_way = give_way
        engine.start(wait=not settings.url)
        return cls(engine, settings, keep_seconds)

    def submit(self, batch: Batch) -> Future[WriteResult]:
        """Queues a batch; the future has its result once the batch is durable.

        The future does not fail while the database is down. It raises WriterStopped if more than
        1 % of the last rows were refused, Fenced if only a leader may write them and we do not
        lead, and Unavailable if the store closes first.
        """
        self.arrived += not INPUTS.isdisjoint(batch.rows)
        return self._engine.queue_write(batch)

    def write(self, batch: Batch) -> WriteResult:
        """Stores a batch and returns when it is durable."""
        return self.submit(batch).result()

    def read(
        self,
        name: str,
        parameters: Parameters | None = None,
        *,
        priority: Priority = Priority.PAGE,
        formats: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of `queries/<name>.sql`, each a dict by column. `Table.read` makes values of them.

        `formats` gives, by type of column, the form in which the driver returns its values. Raises
        QueryFailed (over its limits, or wrong), or Unavailable (database down, store closed, or too
        busy to run it in time).
        """

        def rows(client: Client) -> list[dict[str, Any]]:
            result = client.query(
                query(name), parameters=dict(parameters or {}), query_formats=dict(formats or {})
            )
            return list(result.named_results())

        result: list[dict[str, Any]] = self._ask(name, rows, priority)
        return result

    def arrays(
        self, name: str, parameters: Parameters | None = None, *, priority: Priority = Priority.TICK
    ) -> dict[str, NDArray[Any]]:
        """Columns of the named query as numpy arrays; empty if there are no rows.

        Raises as `read` does.
        """

        def columns(client: Client) -> dict[str, NDArray[Any]]:
            context = client.create_query_context(
                query(name), parameters=dict(parameters or {}), use_numpy=True
            )
            # Not as a stream: rows left unread would come up in the next query's answer.
            result: Any = client.query(context=context)
            table = result.np_result
            if table is None or not len(table):
                return {}
            if table.dtype.names is None:  # columns of one type come as a matrix
                return dict(zip(result.column_names, table.transpose(), strict=True))
            return {column: table[column] for column in table.dtype.names}

        result: dict[str, NDArray[Any]] = self._ask(name, columns, priority)
        return result

    def run(
        self, name: str, parameters: Parameters | None = None, *, priority: Priority = Priority.TICK
    ) -> None:
        """Runs a named statement that changes the store (INSERT ... SELECT).

        Raises as `read` does.
        """

        def command(client: Client) -> None:
            client.command(query(name), parameters=dict(parameters or {}))

        self._ask(name, command, priority, writes=True)

    def change(self, statement: str) -> None:
        """Runs a statement that `retention.py` or `erasure/` composed. Raises as `read` does."""
        self._ask("change", lambda client: client.command(statement), Priority.SCAN, writes=True)

    def status(self) -> StoreStatus:
        """The state of connection and queues, without asking the database."""
        return self._engine.status()

    def close(self) -> None:
        """Finishes the queued writes, within CLOSE_SECONDS, and closes the engine.

        The future of a batch that could not be written raises Unavailable; its spans are still in
        the spool.
        """
        self._engine.stop(CLOSE_SECONDS)

    def _ask(
        self, name: str, job: Callable[[Client], Any], priority: Priority, *, writes: bool = False
    ) -> Any:
        started = time.perf_counter()
        try:
            return self._engine.queue_job(job, priority, writes=writes)
        except PartDamaged as error:
            self._set_aside(error)
            return self._engine.queue_job(job, priority, writes=writes)
        except Exception as error:
            metrics.QUERY_FAILURES.labels(name, type(error).__name__).inc()
            if isinstance(error, TimeoutError):
                raise Unavailable(f"{name}: the store was too busy to run it") from error
            raise
        finally:
            metrics.QUERY_SECONDS.labels(name).observe(time.perf_counter() - started)

    def _set_aside(self, damaged: PartDamaged) -> None:
        """Takes a damaged part out of its table; its files stay in the folder `detached`."""
        log.error(
            "a damaged part of the store is set aside", table=damaged.table, part=damaged.part
        )
        self.change(f"ALTER TABLE {damaged.table} DETACH PART '{damaged.part}'")
