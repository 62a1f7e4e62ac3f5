"""Migrations: numbered .sql files, applied in order, never changed afterwards.

The files hold two placeholders, `{on_cluster}` and `{replicated}`, so that one set of files serves
the embedded engine, a server and a cluster. The checksum is taken over the unfilled file: it is the
same for all three.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ragvigil.store.engine.errors import SchemaMismatch
from ragvigil.store.queries import query

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

_FILE = re.compile(r"(\d{4})_(\w+)\.sql")
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One file; number 0 makes the table that remembers the others."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file's text with its placeholders unfilled."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def statements(self, cluster: str = "") -> list[str]:
        """The SQL for the embedded engine and single servers, or for a cluster of this name."""
        text = _COMMENT.sub("", self.text)
        text = text.replace(" {on_cluster}", on_cluster(cluster))
        text = text.replace("{replicated}", "Replicated" if cluster else "")
        return [part.strip() for part in text.split(";\n") if part.strip()]


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations of this version, in order."""
    return tuple(sorted(_read(), key=lambda migration: migration.number))


def _read() -> Iterator[Migration]:
    for file in files("ragvigil.store").joinpath("schema").iterdir():
        match = _FILE.fullmatch(file.name)
        if match:
            text = file.read_text(encoding="utf-8").rstrip() + "\n"
            yield Migration(number=int(match[1]), name=match[2], text=text)


def applied(client: Client) -> dict[int, str]:
    """Checksums, by number, of the migrations that were applied to this database."""
    if not client.query("EXISTS TABLE migrations").result_rows[0][0]:
        return {}
    rows = client.query(query("migrations_applied")).result_rows
    return {int(number): str(checksum) for number, checksum in rows}


def pending(checksums: dict[int, str]) -> list[Migration]:
    """The migrations that are still to be applied; `checksums` as from `applied`.

    Raises SchemaMismatch if an applied file has changed since, or is unknown to this version.
    """
    ours = {migration.number: migration for migration in migrations()}
    for number, checksum in checksums.items():
        if number not in ours:
            raise SchemaMismatch(
                f"the database has migration {number:04}, which a newer version made: install "
                f"that version, or put back a copy of the store from before it"
            )
        if ours[number].checksum != checksum:
            name = ours[number].name
            raise SchemaMismatch(f"migration {number:04}_{name} has changed since it was applied")
    return [migration for number, migration in ours.items() if number not in checksums]


def migrate(client: Client, *, cluster: str = "", dry_run: bool = False) -> list[str]:
    """Brings the tables up to date and returns the SQL that was, or would be, run."""
    statements: list[str] = []
    for migration in pending(applied(client)):
        own = migration.statements(cluster)
        statements += own
        if not dry_run:
            _apply(client, migration, own)
    return statements


def _apply(client: Client, migration: Migration, statements: list[str]) -> None:
    for statement in statements:
        client.command(statement)
    client.command(
        query("migration_record"),
        parameters={
            "number": migration.number,
            "name": migration.name,
            "checksum": migration.checksum,
        },
    )


def on_cluster(cluster: str) -> str:
    """What a statement adds to reach every server of a cluster; empty without one."""
    return f" ON CLUSTER {_quoted(cluster)}" if cluster else ""


def _quoted(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
