"""Why the embedded store does not open, in a sentence."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ragvigil.store.engine.errors import StoreUnusable

_REASON = re.compile(r"DB::Exception: (.+?)(?: \(version |\. Stack trace|$)", re.MULTILINE)
LONGEST_REASON = 300
FORMAT = "1"
"""Of MergeTree, since 2016. Others are taken for older, and every insert fails."""
STANDARD_ERROR = 2


def require_known_format(path: Path) -> None:
    """Raises ValueError if a table has a format that the engine opens but cannot write."""
    for file in path.glob("data/ragvigil/*/format_version.txt"):
        written = file.read_text(encoding="utf-8", errors="replace").strip()
        if written != FORMAT:
            raise ValueError(f"its table {file.parent.name} has the unknown format {written!r}")


@contextlib.contextmanager
def saying_why(path: Path) -> Iterator[None]:
    """Makes whatever the opening of the engine in `path` raises a StoreUnusable.

    The engine says why only on standard error, which belongs to it meanwhile.
    """
    with _standard_error() as said:
        try:
            yield
        except Exception as error:  # the driver raises many kinds
            raise StoreUnusable(
                f"the store {path} does not open: {_reason(error, said)}; move that folder away, "
                f"and ragvigil begins an empty one and stores what the spool still has, or put "
                f"back a copy of it"
            ) from error


def _reason(error: Exception, said: IO[bytes] | None) -> str:
    text = str(error)
    if said is not None:
        said.seek(0)
        text += "\n" + said.read().decode("utf-8", "replace")
    reasons = _REASON.findall(text)
    reason = str(reasons[-1] if reasons else text.strip())
    return "".join(c if c.isprintable() else " " for c in reason)[:LONGEST_REASON].rstrip(". ")


@contextlib.contextmanager
def _standard_error() -> Iterator[IO[bytes] | None]:
    """What is written to standard error meanwhile; None where nothing can be kept (a full disk)."""
    try:
        kept = tempfile.TemporaryFile()  # noqa: SIM115 (closed below)
        before = os.dup(STANDARD_ERROR)
    except OSError:
        yield None
        return
    os.dup2(kept.fileno(), STANDARD_ERROR)
    try:
        yield kept
    finally:
        os.dup2(before, STANDARD_ERROR)
        os.close(before)
        kept.close()
