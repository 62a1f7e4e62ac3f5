"""The formats that can be imported: how each is read, and how a source is recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from collector.backfill import collector_clickhouse as import_collector_clickhouse
from collector.backfill import collector_file as import_collector_file
from collector.backfill import langfuse_export as import_langfuse_export
from collector.backfill import phoenix_export as import_phoenix_export
from collector.backfill.pieces import NotImportable, Piece

SUFFIX = ".ragvigil-import.json"
HEAD_BYTES = 4096
FILES: dict[str, Callable[[Path, int], Iterator[Piece]]] = {
    "collector_file": import_collector_file.pieces,
    "phoenix_export": import_phoenix_export.pieces,
    "langfuse_export": import_langfuse_export.pieces,
}
TABLE = "collector_clickhouse"
FORMATS = (*FILES, TABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source: `pieces(start)` reads it, `head` are the bytes that identify it.

    `note` is the default path of its state, `total` the end of its last piece if known.
    """

    pieces: Callable[[int], Iterator[Piece]]
    head: bytes
    note: Path
    total: int | None = None


def source_of(form: str, name: str) -> Source:
    """The source with this path or URL, in this format. Raises NotImportable."""
    if form == TABLE:
        return _table(name)
    if form not in FILES:
        raise NotImportable(f"{form}: is not one of the formats {', '.join(FORMATS)}")
    path, read = Path(name), FILES[form]
    can_grow = form == "collector_file"
    try:
        with path.open("rb") as file:
            # An export is read by trace, and a longer export has another order of traces: it is
            # another source. A Collector's file only grows at its end.
            head = file.read(HEAD_BYTES) if can_grow else file.read()
        total = path.stat().st_size if can_grow else None
    except OSError as error:
        raise NotImportable(f"{path}: cannot be read: {error}") from error
    return Source(
        pieces=lambda start: read(path, start),
        head=head,
        note=path.with_name(path.name + SUFFIX),
        total=total,
    )


def _table(url: str) -> Source:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NotImportable(f"{TABLE} reads http(s)://user:password@host:8123/database?table=NAME")
    host = parts.netloc.rpartition("@")[2]  # the same table, even if the password changes
    head = f"{host}{parts.path}?{parts.query}".encode()
    name = hashlib.blake2b(head, digest_size=4).hexdigest()
    return Source(
        pieces=lambda start: import_collector_clickhouse.pieces(url, start),
        head=head,
        note=Path(f"otel_traces-{name}{SUFFIX}"),
    )
