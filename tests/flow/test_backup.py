"""A backup is made while the daemon writes, and restored where there is no store."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragvigil.app.sources.backups import Backups
from ragvigil.store.engine import backup
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings
from ragvigil.web.api.backups import BackupForm, BackupRefused
from tests.patience import PATIENCE_SECONDS

OLD = """
import sys
from pathlib import Path
from ragvigil.store.engine import migrate
known = migrate.migrations()
migrate.migrations = lambda: tuple(each for each in known if each.number <= 31)
from ragvigil.store.engine import engine, writer
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings
from ragvigil.store.engine import backup
writer.Columns.check = lambda *_: None
insert = writer.Writer._insert

def inserts(self, table, rows, token):  # as the version of that schema did: what it knows
    known = self._columns._names.get(table, {})
    kept = [place for place, column in enumerate(rows.columns) if column in known]
    values = [tuple(row[place] for place in kept) for row in rows.values]
    insert(self, table, writer.Rows(tuple(rows.columns[place] for place in kept), values), token)

writer.Writer._insert = inserts
engine.Engine._read_erasures = lambda *_: None
from tests.unit.ragvigil.store.records.test_traces import write
from tests.outcomes import outcome_of
folder = Path(sys.argv[1])
store = Store.open(StoreSettings(threads=1), folder)
for number in range(1, 4):
    write(store, outcome_of(number))
backup.make(store, folder / "backups" / "old", "0.1", 0.0)
store.close()
"""
NEW = """
import sys
from pathlib import Path
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings
store = Store.open(StoreSettings(threads=1), Path(sys.argv[1]))
print({row["table"]: row["rows"] for row in store.read("row_counts")}["records"])
store.close()
"""


def python(script: str, *arguments: str) -> str:
    """What a Python with this script prints: a process has one embedded engine in its life."""
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ragvigil(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    config = folder / "ragvigil.toml"
    config.write_text(f'data_dir = "{folder / "data"}"\n')
    command = [sys.executable, "-m", "ragvigil.app.cli.main", *arguments, "--config", str(config)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_a_backup_of_an_older_version_is_restored_and_brought_up_to_date(tmp_path: Path) -> None:
    python(OLD, str(tmp_path / "old"))
    made = tmp_path / "old" / "backups" / "old"
    checked = ragvigil(tmp_path, "restore", str(made), "--check", "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["rows"]["records"] == 3
    assert not (tmp_path / "data" / "store").exists()
    assert [path.name for path in made.parent.iterdir()] == ["old"]

    restored = ragvigil(tmp_path, "restore", str(made))
    assert "every part read and whole (3 rows of answers)" in restored.stdout
    # Their roll-ups may have been under way: the next start counts their minute again.
    minutes = json.loads((tmp_path / "data" / "dirty_minutes.json").read_text())
    assert len(minutes) == 1
    assert python(NEW, str(tmp_path / "data")).split()[-1] == "3"
    again = ragvigil(tmp_path, "restore", str(made))
    assert again.returncode == 2
    assert "has a store already: restore into another data_dir" in again.stderr


@pytest.mark.slow
def test_a_damaged_backup_is_refused_and_leaves_no_store(tmp_path: Path) -> None:
    python(OLD, str(tmp_path / "old"))
    made = tmp_path / "old" / "backups" / "old"
    largest = max(made.rglob("data.bin"), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 0xFF
    largest.write_bytes(content)
    refused = ragvigil(tmp_path, "restore", str(made))
    assert refused.returncode == 2
    assert "cannot be restored" in refused.stderr
    assert not (tmp_path / "data" / "store").exists()


def wait(backups: Backups, name: str) -> BackupForm:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := backups.find(name)) is not None and found.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert found is not None
    return found


def test_the_daemon_makes_a_backup_while_it_runs(store: Store) -> None:
    data_dir = store._engine._data_dir
    backups = Backups(store, data_dir, "1.0", time.time)
    backups.begin("first")
    done = wait(backups, "first")
    assert (done.state, done.problem) == ("done", "")
    assert backup.manifest_of(data_dir / "backups" / "first").version == "1.0"
    with pytest.raises(BackupRefused, match="there is a backup first; give another name"):
        backups.begin("first")
    assert backups.find("second") is None
    (data_dir / "backups" / "first" / backup.MANIFEST).unlink()
    cut = backups.find("first")
    assert cut is not None
    assert "is no backup, or one that was cut off" in cut.problem


def test_what_is_no_backup_is_not_restored(tmp_path: Path) -> None:
    with pytest.raises(backup.BadBackup, match="is no backup"):
        backup.restore(StoreSettings(), tmp_path, tmp_path / "data")
