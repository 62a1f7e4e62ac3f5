"""Files of the OpenTelemetry Collector's file exporter: a sequence of OTLP requests.

Format `json` has a request per line; in format `proto` each request follows its length in four
bytes, big endian. With `compression: zstd` every request is compressed alone and follows its length
in both formats, or the whole file is compressed (feature gate `exporter.file.nativeCompression`).
Files that were compressed later, with gzip or zstd, are read too.
Source: opentelemetry-collector-contrib `exporter/fileexporter`, `file_writer.go`.
"""

from __future__ import annotations

import gzip
import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from collector.backfill.pieces import BATCH_BYTES, BATCH_ITEMS, NotImportable, Piece
from collector.decode.otlp import Encoding, decode
from collector.refusal import Refused
from collector.settings import LimitSettings
from ragvigil.model.span import Signal

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
IS_IN_PYTHON = sys.version_info >= (3, 14)
LENGTH_BYTES = 4
LONGEST = 256 << 20
"""Bytes of a request; a larger length means a damaged file."""
NAMED = re.compile(rb'"resource(Spans|Logs|Metrics|Profiles)"')
SIGNALS = {b"Spans": Signal.TRACES, b"Logs": Signal.LOGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it was written; `end` is where the next begins, `where` its place in words."""

    body: bytes
    encoding: Encoding
    where: str
    end: int


def pieces(path: Path, start: int) -> Iterator[Piece]:
    """Reads the file from byte `start` on, in batches; of a compressed file, of its contents.

    Raises NotImportable, also if the file ends within a request.
    """
    waiting: list[bytes] = []
    refused: list[str] = []
    signal, items, size, end = Signal.TRACES, 0, 0, start
    for request in requests(path, start):
        request_signal = _signal(request)
        if waiting and (
            request_signal is not signal or items >= BATCH_ITEMS or size >= BATCH_BYTES
        ):
            yield _piece(waiting, signal, items, end, refused)
            waiting, refused, items, size = [], [], 0, 0
        end = request.end
        if request_signal is None:
            continue  # metrics and profiles are not imported
        signal = request_signal
        try:
            decoded = decode(request.body, request.encoding, request_signal, LimitSettings())
        except Refused as error:
            refused.append(f"{request.where}: {error}")
            continue
        if not _is_request(request):
            refused.append(f"{request.where}: names neither resourceSpans nor resourceLogs")
            continue
        if decoded.rejected:
            refused.append(f"{request.where}: {decoded.message}")
        waiting.append(decoded.payload())
        items, size = items + decoded.items, size + len(waiting[-1])
    if waiting or refused:
        yield _piece(waiting, signal, items, end, refused)


def _piece(waiting: list[bytes], signal: Signal, items: int, end: int, refused: list[str]) -> Piece:
    # Concatenated protobuf requests are one request: repeated fields add up.
    payload = b"".join(waiting)
    return Piece(payload=payload, signal=signal, items=items, end=end, refused=tuple(refused))


def _signal(request: Request) -> Signal | None:
    """The signal that a request names; protobuf names none and is read as traces."""
    if request.encoding is Encoding.PROTOBUF:
        return Signal.TRACES
    match = NAMED.search(request.body)
    return SIGNALS.get(match[1]) if match else Signal.TRACES


def _is_request(request: Request) -> bool:
    """Whether a body is OTLP: other JSON would be read as an empty request."""
    if request.encoding is Encoding.PROTOBUF or request.body.strip() == b"{}":
        return True
    return NAMED.search(request.body) is not None


def requests(path: Path, start: int) -> Iterator[Request]:
    """Reads the requests of the file from byte `start` on. Raises NotImportable."""
    try:
        with _open(path) as file:
            is_json = file.read(1) in (b"{", b"")
            file.seek(start)
            yield from _lines(file, start) if is_json else _framed(file, start)
    except (OSError, EOFError, _zstd().ZstdError) as error:
        raise NotImportable(f"{path}: cannot be read: {error}") from error


def _zstd() -> Any:
    """Python's own module since 3.14, before that a package that ClickHouse's client needs too."""
    return importlib.import_module("compression.zstd" if IS_IN_PYTHON else "backports.zstd")


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        head = file.read(4)
    if head == ZSTD:
        return cast(BinaryIO, _zstd().open(path, "rb"))
    if head.startswith(GZIP):
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")


def _lines(file: BinaryIO, start: int) -> Iterator[Request]:
    place = start
    for line in file:
        begun, place = place, place + len(line)
        if line.strip():
            where = f"the line at byte {begun}"
            yield Request(body=line, encoding=Encoding.JSON, where=where, end=place)


def _framed(file: BinaryIO, start: int) -> Iterator[Request]:
    place = start
    while head := file.read(LENGTH_BYTES):
        size = int.from_bytes(head, "big")
        if len(head) < LENGTH_BYTES or size > LONGEST:
            raise NotImportable(f"no request of the file exporter begins at byte {place}")
        body = file.read(size)
        if len(body) < size:
            raise NotImportable(f"the file ends within the request at byte {place}")
        begun, place = place, place + LENGTH_BYTES + size
        where = f"the request at byte {begun}"
        body = _unpacked(body, where)
        encoding = Encoding.JSON if body[:1] == b"{" else Encoding.PROTOBUF
        yield Request(body=body, encoding=encoding, where=where, end=place)


def _unpacked(body: bytes, where: str) -> bytes:
    """A decompressed request. No protobuf request begins like zstd."""
    if not body.startswith(ZSTD):
        return body
    unpacking = _zstd().ZstdDecompressor()
    plain: bytes = unpacking.decompress(body, max_length=LONGEST)
    if not unpacking.eof:
        raise NotImportable(f"{where} is cut short or larger than {LONGEST} bytes unpacked")
    return plain
