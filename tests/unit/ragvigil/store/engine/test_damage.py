"""A damaged embedded store opens without what is damaged, or says in a sentence what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ragvigil.app.process.tied import run_tied
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

FILL = """
import sys
from pathlib import Path
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings

store = Store.open(StoreSettings(), Path(sys.argv[1]))
for seq in range(2):
    rows = f"SELECT number + {seq * 5000}, 1, now() FROM numbers(5000)"
    store.change(f"INSERT INTO ledger (seq, spans, received) {rows}")
store.close()
"""
READ = """
import sys
from pathlib import Path
from ragvigil.store.engine.damage import set_aside
from ragvigil.store.engine.errors import StoreUnusable
from ragvigil.store.engine.store import Store
from ragvigil.store.records import ledger
from ragvigil.store.settings import StoreSettings

try:
    store = Store.open(StoreSettings(), Path(sys.argv[1]))
except StoreUnusable as error:
    print(error)
    sys.exit()
rows = ledger.spans_from(store, 0)
print(rows, set_aside(store))
store.close()
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the engine opens one directory a process."""
    return run_tied([sys.executable, "-c", code, str(folder)], seconds=PATIENCE_SECONDS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    done = run(FILL, tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def part(folder: Path) -> Path:
    """The second of two parts of 5,000 rows each."""
    return max((folder / "store" / "data" / "ragvigil" / "ledger").glob("*_*_*_*"))


def test_a_part_that_is_broken_when_the_store_opens_is_counted(folder: Path) -> None:
    (part(folder) / "columns.txt").unlink()
    assert run(READ, folder).stdout == "5000 {'ledger': 1}\n"


@pytest.mark.parametrize("mask", [0x40, 0xFF], ids=["one bit", "one byte"])
def test_a_part_that_proves_damaged_at_a_read_is_set_aside_then(folder: Path, mask: int) -> None:
    for file in part(folder).glob("*.bin"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= mask
        file.write_bytes(data)
    done = run(READ, folder)
    assert done.stdout.splitlines()[-1] == "5000 {'ledger': 1}", done.stdout + done.stderr
    assert run(READ, folder).stdout == "5000 {'ledger': 1}\n"


def test_a_store_that_does_not_open_says_in_one_sentence_why_and_what_to_do(folder: Path) -> None:
    (folder / "store" / "metadata" / "ragvigil" / "ledger.sql").write_bytes(b"")
    done = run(READ, folder)
    (sentence,) = done.stdout.splitlines()
    assert sentence.startswith(f"the store {folder}/store does not open: Empty query (in file ")
    assert "move that folder away" in sentence
    assert done.stderr == ""


def test_a_table_that_could_not_be_written_is_said_when_the_store_opens(folder: Path) -> None:
    (folder / "store/data/ragvigil/ledger/format_version.txt").write_bytes(b"99")
    (sentence,) = run(READ, folder).stdout.splitlines()
    assert "does not open: its table ledger has the unknown format '99'; move that" in sentence


def test_a_file_in_place_of_the_store_is_said(tmp_path: Path) -> None:
    (tmp_path / "store").touch()
    assert "File exists" in run(READ, tmp_path).stdout
