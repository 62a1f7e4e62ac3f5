"""Backups of the embedded store: by the engine's own BACKUP and RESTORE, into a folder.

A server's backups are the server's: it knows its disks and buckets (docs/backup.md).
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragvigil.store.engine.connection import DATABASE, open_embedded
from ragvigil.store.engine.errors import QueryFailed, StoreUnusable
from ragvigil.store.engine.migrate import applied, migrations, pending
from ragvigil.store.engine.priority import Priority
from ragvigil.store.queries import query
from ragvigil.store.settings import StoreSettings

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

    from ragvigil.store.engine.store import Store

BACKUPS = "backups"
"""The folder in data_dir; the engine writes and reads backups nowhere else."""
MANIFEST = "ragvigil.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ASK_SECONDS = 0.1


class BadBackup(StoreUnusable):
    """A backup cannot be made, or is not one; `str(error)` is the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup is of: the version that made it, when (Unix seconds), its newest migration."""

    version: str
    made: int
    migration: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restored store has: rows by table, and the minutes (Unix time) whose roll-ups may
    lack what was stored while the backup was made."""

    rows: dict[str, int]
    minutes: list[int]


def make(store: Store, folder: Path, version: str, now: float) -> Manifest:
    """Makes a backup of the whole store in `folder`, below `backups/`; blocks until it is there.

    Writes go on meanwhile: it has what was stored when it began. A backup without its manifest was
    cut off. Raises BadBackup for a name that is taken or of other characters, else StoreError.
    """
    if NAME.fullmatch(folder.name) is None:
        raise BadBackup(f"{folder.name} is no name of a backup: letters, digits, . _ and - are")
    if store.settings.url:
        raise BadBackup("the store is a ClickHouse server, which makes its own: docs/backup.md")
    if folder.exists():
        raise BadBackup(f"there is a backup {folder.name}; give another name")
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    store.change(f"BACKUP DATABASE {DATABASE} TO File('{folder.name}') ASYNC")
    _wait(store, folder.name)
    manifest = Manifest(version=version, made=int(now), migration=migrations()[-1].number)
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest)) + "\n", encoding="utf-8")
    return manifest


def manifest_of(folder: Path) -> Manifest:
    """The manifest of a backup. Raises BadBackup."""
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise BadBackup(f"{folder} is no backup, or one that was cut off") from error
    except (OSError, ValueError, TypeError) as error:
        raise BadBackup(f"{folder / MANIFEST} cannot be read: {error}") from error


def restore(settings: StoreSettings, folder: Path, data_dir: Path) -> Restored:
    """Restores a backup into `data_dir`, which has no store yet, and checks it.

    Every part is read and compared with its checksums, and the migrations must be known to this
    version. Raises BadBackup; then the new store is to be removed.
    """
    manifest_of(folder)
    if (data_dir / "store").exists():
        raise BadBackup(f"{data_dir} has a store already: restore into another data_dir")
    client = open_embedded(settings, data_dir / "store", {}, backups=folder.parent.resolve())
    try:
        client.command(f"DROP DATABASE IF EXISTS {DATABASE}")
        client.command(f"RESTORE DATABASE {DATABASE} FROM File('{folder.name}')")
        pending(applied(client))
        rows = _checked(client)
        ((minutes,),) = client.query(query("score_minutes_newest")).result_rows
        return Restored(rows=rows, minutes=list(minutes))
    except Exception as error:  # the driver raises many kinds
        raise BadBackup(f"{folder} cannot be restored: {str(error)[:500]}") from error
    finally:
        client.close()


def _checked(client: Client) -> dict[str, int]:
    """Rows by table; raises ValueError where a table is damaged."""
    tables = [str(row[0]) for row in client.query(query("tables_own")).result_rows]
    for table in tables:
        check = f"CHECK TABLE {table} SETTINGS check_query_single_value_result = 1"
        if not client.query(check).result_rows[0][0]:
            raise ValueError(f"the table {table} is damaged")
    counts = {str(row[0]): int(row[1]) for row in client.query(query("row_counts")).result_rows}
    return {table: counts.get(table, 0) for table in tables}


def _wait(store: Store, name: str) -> None:
    while True:
        rows = store.read("backup_newest", {"name": f"File('{name}')"}, priority=Priority.TICK)
        if rows and rows[0]["state"] == "BACKUP_CREATED":
            return
        if rows and rows[0]["state"] not in ("CREATING_BACKUP",):
            raise QueryFailed(f"the backup failed: {str(rows[0]['problem'])[:500]}")
        time.sleep(ASK_SECONDS)
