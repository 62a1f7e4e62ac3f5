"""The note of an import: how far its source was acknowledged, where the next run goes on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from collector.backfill.pieces import NotImportable
from collector.backfill.window import Window


@dataclass(slots=True, kw_only=True)
class Imported:
    """How far a source was taken: `offset` of it, acknowledged; counts over all runs.

    `head` names its first `head_bytes`: the rest of some may grow between two runs.
    """

    head: str
    head_bytes: int
    offset: int = 0
    items: int = 0
    refused: int = 0
    since: int = 0
    until: int = 0


def load(head: bytes, wanted: Window, kept: Path) -> Imported:
    """How far this source was taken before. Raises NotImportable where the note is of another."""
    if not kept.exists():
        return Imported(
            head=_name_of(head), head_bytes=len(head), since=wanted.since, until=wanted.until
        )
    try:
        done = Imported(**json.loads(kept.read_text(encoding="utf-8")))
        is_same = done.head == _name_of(head[: done.head_bytes])
    except (OSError, ValueError, TypeError) as error:
        raise NotImportable(f"{kept}: is no note of an import; remove it to begin anew") from error
    if not is_same:
        raise NotImportable(f"{kept}: is of another file; remove it to begin anew")
    if Window(since=done.since, until=done.until) != wanted:
        raise NotImportable(f"{kept}: is of other times; say them again, or remove it")
    return done


def keep(done: Imported, kept: Path) -> None:
    """Writes the note as a whole or not at all. Raises NotImportable where it cannot be."""
    fresh = kept.with_name(kept.name + ".new")
    try:
        fresh.write_text(json.dumps(asdict(done)), encoding="utf-8")
        fresh.replace(kept)
    except OSError as error:
        raise NotImportable(
            f"{kept}: cannot be written: {error}; name another by --state"
        ) from error


def _name_of(head: bytes) -> str:
    return hashlib.blake2b(head, digest_size=16).hexdigest()
