"""The table `leases`: an entry each time that somebody takes or renews the lease.

It is no migration: in a cluster it is a KeeperMap, which has no time to live and no parts, and it
holds nothing that a backup would want.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.connection import open_server
from ragvigil.store.engine.errors import QueryFailed, StoreError, read_failure
from ragvigil.store.engine.migrate import on_cluster
from ragvigil.store.queries import query
from ragvigil.store.settings import StoreSettings

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

COLUMNS = """(
    number UInt64,
    holder String,
    epoch UInt64,
    address String,
    written DateTime64(3, 'UTC'),
    until DateTime64(3, 'UTC')
)"""
KEEPER_MAP = "KeeperMap('/ragvigil_leases') PRIMARY KEY number"
MERGE_TREE = (
    "MergeTree ORDER BY number TTL toDate(written) + INTERVAL 2 DAY "
    "SETTINGS fsync_after_insert = 1, fsync_part_directory = 1"
)
STRICT = {"keeper_map_strict_mode": 1}
"""An entry whose number exists is refused, by a KeeperMap; other tables do not look at it."""
KEPT = 1000
"""Entries that a KeeperMap keeps: it has no time to live."""
TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry; times are Unix milliseconds by the server's clock, `now_ms` that of the reading."""

    number: int
    holder: str
    epoch: int
    address: str
    until_ms: int
    now_ms: int


def statement(cluster: str = "") -> str:
    """The SQL that makes the table, on a server or on a cluster of this name."""
    engine = KEEPER_MAP if cluster else MERGE_TREE
    return f"CREATE TABLE IF NOT EXISTS leases{on_cluster(cluster)}\n{COLUMNS}\nENGINE = {engine}"


class LeaseTable:
    """Reads and adds entries over a connection of its own: a lease must not wait behind a job.

    For one thread. Every method raises StoreError while the server does not answer.
    """

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings
        self._opened: Client | None = None

    def newest(self) -> Sequence[Entry]:
        """The newest entries, newest first."""
        return self._read("lease_newest", {})

    def add(self, entry: Entry, seconds: float) -> Sequence[Entry]:
        """Adds an entry that ends in `seconds`; returns what then lies under its number.

        That is this entry alone, or others where somebody added one at the same time.
        """
        parameters = {
            "number": entry.number,
            "holder": entry.holder,
            "epoch": entry.epoch,
            "address": entry.address,
            "milliseconds": int(seconds * 1000),
        }
        try:
            self._command(query("lease_add"), parameters)
        except StoreError:
            # Refused because the number exists, or added and the answer was lost: what lies there
            # tells.
            if found := self._read("lease_of", {"number": entry.number}):
                return found
            raise
        if entry.number % KEPT == 0 and self._settings.cluster:
            self._command(f"DELETE FROM leases WHERE number < {entry.number - KEPT}", {})
        return self._read("lease_of", {"number": entry.number})

    def close(self) -> None:
        """Closes the connection."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _client(self) -> Client:
        if self._opened is None:
            client = open_server(self._settings, {}, timeout_seconds=TIMEOUT_SECONDS)
            self._opened = client
            # A daemon's user need not be one that may make tables: `ragvigil migrate` made it.
            if not client.query("EXISTS TABLE leases").result_rows[0][0]:
                client.command(statement(self._settings.cluster))
        return self._opened

    def _read(self, name: str, parameters: dict[str, object]) -> list[Entry]:
        try:
            rows = self._client().query(query(name), parameters=parameters).named_results()
            return [Entry(**row) for row in rows]
        except Exception as error:  # the driver raises many kinds
            raise self._failed(error) from error

    def _command(self, sql: str, parameters: dict[str, object]) -> None:
        try:
            self._client().command(sql, parameters=parameters, settings=STRICT)
        except Exception as error:  # the driver raises many kinds
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> Exception:
        failure = read_failure(error)
        if not isinstance(failure, QueryFailed):
            self.close()  # the next call makes a new connection, and the table if it is not there
        return failure
