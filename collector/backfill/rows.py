"""Reads rows of an exported file: JSON, JSON lines, CSV or parquet, plain or gzipped."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.backfill.pieces import NotImportable
from collector.backfill.values import loads
from ragvigil.extras import PARQUET, missing

Row = dict[str, Any]


def rows(path: Path) -> Iterator[tuple[str, Row | None]]:
    """Every row with its place in words; None for what is no row. Raises NotImportable."""
    body = _read(path)
    if body.startswith(b"PAR1"):
        yield from _with_numbers(_parquet(path, body))
    elif _is_csv(path):
        yield from _with_numbers(_csv(path, body))
    else:
        yield from _json(path, body)


def _read(path: Path) -> bytes:
    try:
        body = path.read_bytes()
        return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
    except (OSError, EOFError) as error:
        raise NotImportable(f"{path}: cannot be read: {error}") from error


def _is_csv(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(".csv")


def _with_numbers(values: list[Any]) -> Iterator[tuple[str, Row | None]]:
    for number, row in enumerate(values, start=1):
        yield f"row {number}", row if isinstance(row, dict) else None


def _parquet(path: Path, body: bytes) -> list[Any]:
    if why := missing(PARQUET):
        raise NotImportable(f"{path}: {why}")
    reader = importlib.import_module("pyarrow.parquet")
    errors = importlib.import_module("pyarrow").ArrowException
    try:
        values: list[Any] = reader.read_table(io.BytesIO(body)).to_pylist()
    except (errors, OSError, ValueError) as error:
        raise NotImportable(f"{path}: is not readable as parquet: {error}") from error
    return values


def _csv(path: Path, body: bytes) -> list[Any]:
    csv.field_size_limit(sys.maxsize)
    lines = io.StringIO(body.decode("utf-8-sig", "replace"), newline="")
    try:  # an empty cell is a missing value
        return [{k: v or None for k, v in row.items() if k} for row in csv.DictReader(lines)]
    except csv.Error as error:
        raise NotImportable(f"{path}: is not readable as CSV: {error}") from error


def _json(path: Path, body: bytes) -> Iterator[tuple[str, Row | None]]:
    try:
        tree = loads(body)
    except ValueError:
        yield from _lines(path, body)
        return
    yield from _with_numbers(_rows_of(tree))


def _lines(path: Path, body: bytes) -> Iterator[tuple[str, Row | None]]:
    is_any = False
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = loads(line)
        except ValueError:
            row = None
        is_any = is_any or isinstance(row, dict)
        yield f"line {number}", row if isinstance(row, dict) else None
    if not is_any:
        raise NotImportable(f"{path}: is neither JSON, JSON lines, CSV nor parquet")


def _rows_of(tree: Any) -> list[Any]:
    """Rows of a list, of a response around a list, or of a table written by columns."""
    if isinstance(tree, list):
        return tree
    if not isinstance(tree, dict):
        return [tree]
    if isinstance(tree.get("data"), list):
        return list(tree["data"])
    columns = list(tree.values())
    if columns and all(isinstance(column, dict) for column in columns):
        names = dict.fromkeys(name for column in columns for name in column)
        return [{key: column.get(name) for key, column in tree.items()} for name in names]
    return [tree]
