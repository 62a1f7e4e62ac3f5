"""Removes requests that were set aside on disk, where they hold what is erased."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def remove_copies(folder: Path, trace_ids: Iterable[str], id_: str) -> int:
    """Removes the files of a spool's `quarantine/` with the id or a trace's; returns how many.

    A copy holds a whole request, which goes as a whole: it was kept for whoever looks for a fault.
    Ids are looked for as bytes: a short one may be found where it is something else.
    """
    needles = [id_.encode(), *map(str.encode, trace_ids), *map(_as_sent, trace_ids)]
    copies = [path for path in folder.glob("*") if path.is_file()] if folder.is_dir() else []
    removed = 0
    for path in copies:
        content = path.read_bytes()
        if any(needle in content for needle in needles if needle):
            path.unlink()
            removed += 1
    return removed


def _as_sent(trace_id: str) -> bytes:
    """The bytes of a trace id as OTLP has it; empty where it is none."""
    try:
        return bytes.fromhex(trace_id)
    except ValueError:
        return b""
