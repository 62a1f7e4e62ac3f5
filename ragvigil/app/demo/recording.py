"""Reads folders of recorded OTLP request bodies, laid out as FOLDER says."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

FOLDER = """\
A folder holds OTLP request bodies, one a file: `requests/NNNN.pb` or `requests/NNNN.json`, each
also with `.gz`. Beside `requests` stands `meta.jsonl` with a line for each file, an object:

- `file`: its path in the folder, as in `requests/0001.pb.gz`
- `received_unix_nano`: when it was received; the differences are the pace
- `path`: where it was sent, over HTTP `/v1/traces`, `/v1/logs` or `/v1/metrics`, or gRPC's method

Other keys are not read. Without `meta.jsonl` the files are traces, in the order of their names,
all received at once."""
"""The layout of a recording, for people."""
JSON = "application/json"
PROTOBUF = "application/x-protobuf"


class Kind(Enum):
    """What a body holds; metrics are sent on as they are."""

    TRACES = "traces"
    LOGS = "logs"
    METRICS = "metrics"


class NotARecording(Exception):
    """A folder holds no recorded bodies, or `meta.jsonl` is wrong; one sentence says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request body, uncompressed; `path` is where it goes over HTTP."""

    name: str
    body: bytes
    kind: Kind
    path: str
    content_type: str
    received_unix_nano: int


def read_recording(folder: Path) -> Iterator[RecordedRequest]:
    """The bodies of a folder in the order of recording, read one at a time.

    Raises NotARecording, also for a file that `meta.jsonl` names and that is not there.
    """
    for row in _rows(folder):
        path = folder / row["file"]
        try:
            yield _recorded(row, _read(path))
        except (OSError, EOFError, zlib.error) as error:
            raise NotARecording(f"{path}: cannot be read: {error}") from error


def _rows(folder: Path) -> list[dict[str, Any]]:
    meta = folder / "meta.jsonl"
    if meta.exists():
        rows = [_row(meta, line) for line in meta.read_text(encoding="utf-8").splitlines() if line]
        return sorted(rows, key=lambda row: int(row.get("received_unix_nano", 0)))
    files = sorted(path for path in folder.glob("requests/*") if _is_body(path))
    if not files:
        raise NotARecording(f"{folder}: holds neither meta.jsonl nor requests/*.pb or *.json")
    return [{"file": f"requests/{path.name}"} for path in files]


def _row(meta: Path, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise NotARecording(f"{meta}: a line is not JSON: {error}") from error
    if not isinstance(row, dict) or not isinstance(row.get("file"), str):
        raise NotARecording(f"{meta}: a line has no `file`: {line[:80]}")
    return row


def _is_body(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith((".pb", ".json"))


def _read(path: Path) -> bytes:
    body = path.read_bytes()
    return gzip.decompress(body) if path.suffix == ".gz" else body


def _recorded(row: Mapping[str, Any], body: bytes) -> RecordedRequest:
    path = str(row.get("path", ""))
    is_json = row["file"].removesuffix(".gz").endswith(".json")
    kind = _kind(path)
    return RecordedRequest(
        name=row["file"],
        body=body,
        kind=kind,
        path=path if path.startswith("/") and "." not in path else f"/v1/{kind.value}",
        content_type=JSON if is_json else PROTOBUF,
        received_unix_nano=int(row.get("received_unix_nano", 0)),
    )


def _kind(path: str) -> Kind:
    """By the HTTP path (`/v1/logs`) or the gRPC method (`…LogsService/Export`)."""
    lower = path.lower()
    if "logs" in lower:
        return Kind.LOGS
    return Kind.METRICS if "metrics" in lower else Kind.TRACES
