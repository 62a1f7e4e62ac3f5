"""The note of an import: how far its source was acknowledged, for the next run to resume."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from collector.backfill.pieces import NotImportable
from collector.backfill.window import Window


@dataclass(slots=True, kw_only=True)
class ImportNote:
    """How far a source was imported: acknowledged up to `offset`; counts are over all runs.

    `head` is a hash of its first `head_bytes`: some sources grow between two runs.
    """

    head: str
    head_bytes: int
    offset: int = 0
    items: int = 0
    refused: int = 0
    since: int = 0
    until: int = 0


def load(head: bytes, window: Window, note: Path) -> ImportNote:
    """Loads how far the source was imported. Raises NotImportable if the note is of another."""
    if not note.exists():
        return ImportNote(
            head=_name_of(head), head_bytes=len(head), since=window.since, until=window.until
        )
    try:
        done = ImportNote(**json.loads(note.read_text(encoding="utf-8")))
        is_same = done.head == _name_of(head[: done.head_bytes])
    except (OSError, ValueError, TypeError) as error:
        raise NotImportable(
            f"{note}: is not the note of an import; remove it to start again"
        ) from error
    if not is_same:
        raise NotImportable(f"{note}: belongs to another file; remove it to start again")
    if Window(since=done.since, until=done.until) != window:
        raise NotImportable(
            f"{note}: was made with other --since/--until; repeat them, or remove it"
        )
    return done


def keep(done: ImportNote, note: Path) -> None:
    """Writes the note atomically. Raises NotImportable if it cannot."""
    fresh = note.with_name(note.name + ".new")
    try:
        fresh.write_text(json.dumps(asdict(done)), encoding="utf-8")
        fresh.replace(note)
    except OSError as error:
        raise NotImportable(
            f"{note}: cannot be written: {error}; choose another path with --state"
        ) from error


def _name_of(head: bytes) -> str:
    return hashlib.blake2b(head, digest_size=16).hexdigest()
