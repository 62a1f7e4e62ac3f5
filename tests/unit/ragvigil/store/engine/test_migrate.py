"""Migrations: rendered for three targets, applied once, refused when changed."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from ragvigil.store.engine.errors import SchemaMismatch
from ragvigil.store.engine.migrate import migrate, migrations, pending
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store

SNAPSHOTS = Path(__file__).parent / "snapshots"
CHECKSUMS = Path(__file__).parent / "snapshots" / "checksums.txt"


def rendered(cluster: str) -> str:
    statements = [sql for migration in migrations() for sql in migration.statements(cluster)]
    return ";\n\n".join(statements) + ";\n"


@pytest.mark.parametrize(("target", "cluster"), [("single", ""), ("cluster", "main")])
def test_the_sql_is_that_of_the_snapshot(target: str, cluster: str) -> None:
    """To renew a snapshot, delete it and run this test."""
    path = SNAPSHOTS / f"{target}.sql"
    if not path.exists():
        path.write_text(rendered(cluster), encoding="utf-8")
    assert rendered(cluster) == path.read_text(encoding="utf-8")


def test_no_placeholder_is_left() -> None:
    for cluster in ("", "main"):
        assert "{" not in rendered(cluster)


def test_a_cluster_differs_in_the_two_placeholders_only() -> None:
    back = rendered("main").replace(" ON CLUSTER `main`", "").replace("Replicated", "")
    assert back == rendered("")


def test_an_applied_file_is_never_changed() -> None:
    """A line per released migration; new ones are appended."""
    known = dict(line.split() for line in CHECKSUMS.read_text(encoding="utf-8").splitlines())
    ours = {
        f"{migration.number:04}_{migration.name}": migration.checksum for migration in migrations()
    }
    assert known == {name: ours[name] for name in known}
    assert set(ours) == set(known)


def test_every_file_names_tables_with_a_time_to_live() -> None:
    for migration in migrations()[1:]:
        for sql in migration.statements():
            assert not sql.startswith("CREATE TABLE") or "\nTTL " in sql, sql[:80]


def test_a_second_run_has_nothing_to_do(opened_store: Store) -> None:
    assert opened_store._ask("migrate", lambda client: migrate(client), Priority.SCAN) == []


class Empty:
    """A database without tables; running anything in it fails."""

    class Result:
        result_rows = ((0,),)

    def query(self, _: str) -> Result:
        return self.Result()


def test_a_dry_run_returns_the_sql_and_runs_nothing() -> None:
    statements = migrate(Empty(), dry_run=True)  # type: ignore[arg-type]
    assert len(statements) == sum(len(migration.statements()) for migration in migrations())


def test_a_changed_file_is_refused() -> None:
    known = {migration.number: migration.checksum for migration in migrations()}
    known[2] = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(SchemaMismatch, match="0002_records has changed"):
        pending(known)


def test_a_database_of_a_newer_version_is_refused() -> None:
    with pytest.raises(SchemaMismatch, match="9000"):
        pending({9000: "x"})


def test_a_checksum_is_that_of_the_file_not_of_the_target() -> None:
    migration = migrations()[1]
    assert migration.checksum != dataclasses.replace(migration, text=migration.text + " ").checksum
