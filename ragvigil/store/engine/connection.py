"""Clients of the embedded engine or a server: one that writes, and readers that cannot.

A reader sets its limits first and `readonly` last, because nothing can be set after that. So each
time limit has a client of its own.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragvigil.extras import EMBEDDED_STORE, missing
from ragvigil.store.engine.errors import StoreUnusable
from ragvigil.store.engine.opening import require_known_format, saying_why
from ragvigil.store.settings import StoreSettings

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

DATABASE = "ragvigil"
JOB_FACTOR = 3
"""A job may take this many times as long as a page."""
PAGE_FIRST, JOB_SECOND = 1, 2
"""The engine's own priorities: the lower number goes first."""
GIVE_WAY_MS = 20
"""How long a job's query under way waits at each block of rows while one of a page runs."""
_MIB = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """`writer` may do everything; `pages` and `jobs` only read, the latter with more time."""

    writer: Client
    pages: tuple[Client, ...]
    jobs: Client

    def close(self) -> None:
        """Closes all connections; closing the last one stops the embedded engine."""
        for client in (*self.pages, self.jobs, self.writer):
            client.close()


def connect(settings: StoreSettings, data_dir: Path) -> Clients:
    """Opens the store. Raises what the driver raises: unreachable, directory locked, and so on."""
    from clickhouse_connect import common
    from clickhouse_connect.driver import options

    common.set_setting("autogenerate_session_id", False)
    # The first insert would import pandas, which no insert here needs: seconds, and much memory.
    vars(options).setdefault("pd", None)

    def open_one(limits: dict[str, object]) -> Client:
        if settings.url:
            return open_server(settings, limits, timeout_seconds=settings.timeout_seconds)
        return open_embedded(settings, data_dir / "store", limits, backups=data_dir / "backups")

    return Clients(
        writer=open_one(_write_settings(settings)),
        pages=tuple(
            open_one(_read_settings(settings, settings.query_seconds, PAGE_FIRST))
            for _ in range(settings.page_connections)
        ),
        jobs=open_one(_read_settings(settings, settings.query_seconds * JOB_FACTOR, JOB_SECOND)),
    )


def forget_answer(client: Client) -> None:
    """Clears the embedded engine's output after a failed query.

    The engine keeps the rows that a query gave before it failed and puts them in front of the next
    answer. This query's answer takes them along, and nobody reads it.
    """
    client.raw_query("SELECT 1")


def open_embedded(
    settings: StoreSettings, path: Path, limits: dict[str, object], *, backups: Path
) -> Client:
    """A client of the embedded engine; the one folder in which it may make and read backups."""
    import clickhouse_connect

    if why := missing(EMBEDDED_STORE):
        raise StoreUnusable(why)
    with saying_why(path):
        path.mkdir(parents=True, exist_ok=True)
        require_known_format(path)
        client = clickhouse_connect.get_client(
            interface="chdb", path=str(path), chdb_options=_engine_options(settings, backups)
        )
        client.command(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    client.database = DATABASE
    for name, value in limits.items():
        client.set_client_setting(name, value)
    return client


def open_server(
    settings: StoreSettings, limits: dict[str, object], *, timeout_seconds: float
) -> Client:
    """A client of the server at `url`. Raises what the driver raises."""
    import clickhouse_connect
    from clickhouse_connect import common

    common.set_setting("autogenerate_session_id", False)
    for library in ("clickhouse_connect", "urllib3"):
        # What they say of a server that is away, the store says itself, once.
        logging.getLogger(library).setLevel(logging.CRITICAL)
    client = clickhouse_connect.get_client(
        dsn=settings.url,
        settings=limits,
        connect_timeout=min(10.0, timeout_seconds),
        send_receive_timeout=timeout_seconds,
        query_retries=0,
    )
    follow_no_redirect(client)
    return client


def follow_no_redirect(client: Any) -> None:
    """Rows and queries then reach the configured server or none.

    Only the questions for version and time zone, at opening, may have been redirected; the password
    was not sent along.
    """
    from urllib3 import Retry

    client.http_retries = Retry(1, redirect=False)


def _engine_options(settings: StoreSettings, backups: Path) -> dict[str, str]:
    """Server settings of the embedded engine, which would take most of the machine by default."""
    caches = {
        "mark_cache_size": 32 * _MIB,
        "index_mark_cache_size": 16 * _MIB,
        "primary_index_cache_size": 32 * _MIB,
        "uncompressed_cache_size": 0,
        "index_uncompressed_cache_size": 0,
        "compiled_expression_cache_size": 8 * _MIB,
        "query_condition_cache_size": 8 * _MIB,
        "mmap_cache_size": 0,
    }
    pools = {
        "background_pool_size": 2,
        "background_schedule_pool_size": 4,
        "background_common_pool_size": 2,
        "background_move_pool_size": 1,
        "background_fetches_pool_size": 1,
    }
    # Its default, 50 ms, is a quarter of what an idle engine costs.
    memory = {"max_server_memory_usage": settings.memory_bytes, "memory_worker_period_ms": 1000}
    folders = {"backups.allowed_path": backups.resolve()}
    every = {**memory, **caches, **pools, **folders}
    return {name: str(value) for name, value in every.items()}


def _write_settings(settings: StoreSettings) -> dict[str, object]:
    return {
        "max_memory_usage": settings.query_memory_bytes,
        "max_threads": settings.threads,
        "max_insert_threads": 1,
        "max_partitions_per_insert_block": 0,
        "max_bytes_before_external_group_by": settings.query_memory_bytes // 2,
        "max_bytes_before_external_sort": settings.query_memory_bytes // 2,
    }


def _read_settings(settings: StoreSettings, seconds: float, priority: int) -> dict[str, object]:
    return {
        "priority": priority,
        "low_priority_query_wait_time_ms": GIVE_WAY_MS,
        "max_memory_usage": settings.query_memory_bytes,
        "max_threads": settings.threads,
        "max_execution_time": round(seconds, 3),
        "max_result_rows": settings.query_rows,
        "result_overflow_mode": "throw",
        "max_bytes_before_external_group_by": settings.query_memory_bytes // 2,
        "readonly": 1,
    }
