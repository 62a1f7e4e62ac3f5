"""The note of an import is of one source and one window, and is never half written."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.backfill.pieces import NotImportable
from collector.backfill.state import keep, load
from collector.backfill.window import Window


def test_a_note_is_read_as_it_was_kept_also_when_the_source_has_grown(tmp_path: Path) -> None:
    note = tmp_path / "note.json"
    done = load(b"abc", Window(since=5), note)
    done.offset, done.items = 3, 2
    keep(done, note)
    assert load(b"abcdef", Window(since=5), note) == done
    assert [path.name for path in tmp_path.iterdir()] == ["note.json"]


@pytest.mark.parametrize(
    ("written", "wanted", "message"),
    [
        (None, Window(until=9), "was made with other --since/--until"),
        (b"[]", Window(), "is not the note of an import"),
        (b"\xff", Window(), "is not the note of an import"),
        (b'{"head": 1}', Window(), "is not the note of an import"),
        (b'{"head": "00", "head_bytes": 3}', Window(), "belongs to another file"),
    ],
)
def test_a_note_of_something_else_is_refused(
    tmp_path: Path, written: bytes | None, wanted: Window, message: str
) -> None:
    note = tmp_path / "note.json"
    keep(load(b"abc", Window(), note), note)
    if written is not None:
        note.write_bytes(written)
    with pytest.raises(NotImportable, match=message):
        load(b"abc", wanted, note)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    note = tmp_path / "missing" / "note.json"
    with pytest.raises(NotImportable, match="choose another path with --state"):
        keep(load(b"abc", Window(), note), note)
