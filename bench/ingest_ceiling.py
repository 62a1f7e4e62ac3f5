"""What the machine can store at most: parse and column-oriented insert, nothing else.

The spans of the requests go into a table like the store's, through the same client, in batches of
the same size; no spool, no assembly, no records, no scores, no marks for repeated texts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

BATCH_SPANS = 2000
# As the store does it, strings: the engine builds dictionaries faster than the driver.
COLUMNS = {
    "Timestamp": "DateTime64(9)",
    "TraceId": "String",
    "SpanId": "String",
    "ParentSpanId": "String",
    "TraceState": "String",
    "SpanName": "String",
    "SpanKind": "String",
    "ServiceName": "String",
    "ResourceAttributes": "Map(String, String)",
    "ScopeName": "String",
    "ScopeVersion": "String",
    "SpanAttributes": "Map(String, String)",
    "Duration": "UInt64",
    "StatusCode": "String",
    "StatusMessage": "String",
    "Received": "DateTime('UTC')",
}


def ceiling(requests: list[bytes]) -> float:
    """Spans a second, in a process of its own: the embedded engine opens one directory only."""
    lengths = b"".join(len(body).to_bytes(4, "little") + body for body in requests)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, folder]
        done = subprocess.run(command, input=lengths, capture_output=True, check=True)
    return float(done.stdout.decode().split()[-1])


def _unpack(packed: bytes) -> list[bytes]:
    requests, place = [], 0
    while place < len(packed):
        size = int.from_bytes(packed[place : place + 4], "little")
        requests.append(packed[place + 4 : place + 4 + size])
        place += 4 + size
    return requests


def _measure(folder: Path, requests: list[bytes]) -> float:
    from clickhouse_connect.datatypes.registry import get_from_name
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    from ragvigil.store.connection import connect
    from ragvigil.store.migrate import migrate
    from ragvigil.store.settings import StoreSettings

    client = connect(StoreSettings(), folder).writer
    migrate(client)
    types = [get_from_name(kind) for kind in COLUMNS.values()]
    rows: list[tuple[object, ...]] = []
    spans = 0

    def insert() -> None:
        client.insert(
            "spans",
            list(zip(*rows, strict=True)),
            column_names=list(COLUMNS),
            column_types=types,
            column_oriented=True,
        )
        rows.clear()

    started = time.perf_counter()
    for body in requests:
        rows += _rows(ExportTraceServiceRequest.FromString(body))
        if len(rows) >= BATCH_SPANS:
            spans += len(rows)
            insert()
    if rows:
        spans += len(rows)
        insert()
    return spans / (time.perf_counter() - started)


def _rows(request: object) -> list[tuple[object, ...]]:
    now = int(time.time())
    rows: list[tuple[object, ...]] = []
    for resource in request.resource_spans:  # type: ignore[attr-defined]
        named = {one.key: one.value.string_value for one in resource.resource.attributes}
        service = named.get("service.name", "")
        for scoped in resource.scope_spans:
            scope = scoped.scope
            rows += [
                (
                    span.start_time_unix_nano,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.trace_state,
                    span.name,
                    "Internal",
                    service,
                    named,
                    scope.name,
                    scope.version,
                    {one.key: _text(one.value) for one in span.attributes},
                    span.end_time_unix_nano - span.start_time_unix_nano,
                    "Unset",
                    span.status.message,
                    now,
                )
                for span in scoped.spans
            ]
    return rows


def _text(value: object) -> str:
    kind = value.WhichOneof("value")  # type: ignore[attr-defined]
    return str(getattr(value, kind)) if kind else ""


if __name__ == "__main__":
    print(_measure(Path(sys.argv[1]), _unpack(sys.stdin.buffer.read())))
