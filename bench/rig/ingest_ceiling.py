"""What the machine can store at most: parse and column-oriented insert of the same rows.

Requests are parsed, their spans turned into rows and inserted in batches of the daemon's usual
size, through its client. So are the rows of the other tables (records, scores, shapes, traces,
texts), which are ready before the clock starts, because no parsing gives them. No spool, no
assembly, no records, no scores. `spans_only` leaves the other tables out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from clickhouse_connect.datatypes.base import ClickHouseType
from clickhouse_connect.datatypes.registry import get_from_name
from clickhouse_connect.driver.client import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.decode.spans import decode_spans
from collector.record.build import records
from ragvigil.app.parts import facts
from ragvigil.app.process.tied import start_tied
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.span import Closed, Span, Trace
from ragvigil.store.engine.batch import Row, Rows
from ragvigil.store.engine.columns import Columns
from ragvigil.store.engine.connection import connect
from ragvigil.store.engine.migrate import migrate
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.settings import StoreSettings
from scorers.record_shape import measure
from scorers.runner import Runner, load_scorers

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


def ceiling(requests: list[bytes], *, spans_only: bool = False, batch: int = BATCH_SPANS) -> float:
    """Spans a second, in a process of its own: the embedded engine opens one directory only."""
    lengths = b"".join(len(body).to_bytes(4, "little") + body for body in requests)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, folder, str(batch), *(["spans"] if spans_only else [])]
        with start_tied(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            output, _ = process.communicate(lengths)
    return float(output.decode().split()[-1])


def _unpack(packed: bytes) -> list[bytes]:
    requests, place = [], 0
    while place < len(packed):
        size = int.from_bytes(packed[place : place + 4], "little")
        requests.append(packed[place + 4 : place + 4 + size])
        place += 4 + size
    return requests


def _measure(folder: Path, requests: list[bytes], batch: int, *, spans_only: bool) -> float:
    client = connect(StoreSettings(), folder).writer
    migrate(client)
    types = Columns.read(client)
    others = [] if spans_only else _others(requests)
    rows: list[Row] = []
    waiting: dict[str, list[Rows]] = {}
    spans = 0

    def insert() -> None:
        nonlocal spans
        spans += len(rows)
        spans_types = [get_from_name(kind) for kind in COLUMNS.values()]
        _insert(client, "spans", tuple(COLUMNS), spans_types, rows)
        for table, parts in waiting.items():
            columns = parts[0].columns
            found = [row for part in parts for row in part.values]
            _insert(client, table, columns, types.types(table, columns), found)
        rows.clear()
        waiting.clear()

    started = time.perf_counter()
    for place, body in enumerate(requests):
        rows += _rows(ExportTraceServiceRequest.FromString(body))
        for table, found in others[place].items() if others else ():
            waiting.setdefault(table, []).append(found)
        if len(rows) >= batch:
            insert()
    if rows:
        insert()
    return spans / (time.perf_counter() - started)


def _insert(
    client: Client,
    table: str,
    columns: Sequence[str],
    types: Sequence[ClickHouseType],
    rows: list[Row],
) -> None:
    client.insert(
        table,
        list(zip(*rows, strict=True)),
        column_names=columns,
        column_types=types,
        column_oriented=True,
    )


def _others(requests: list[bytes]) -> list[dict[str, Rows]]:
    """The rows other than spans that the daemon writes for each request."""
    runner = Runner(load_scorers()).lean()  # as the daemon does under such a load
    rows = TraceRows(facts(runner))
    found = []
    for body in requests:
        for trace in _traces(body):
            rows.add(_outcome(trace, runner))
        tables = rows.take().rows
        found.append({name: some for name, some in tables.items() if name != "spans"})
    return found


def _traces(body: bytes) -> list[Trace]:
    spans: dict[str, list[Span]] = {}
    for span in decode_spans(ExportTraceServiceRequest.FromString(body)):
        spans.setdefault(span.trace_id, []).append(span)
    now = time.time_ns()
    return [
        Trace(trace_id=name, spans=tuple(some), closed=Closed.ROOT_ENDED, received_unix_nano=now)
        for name, some in spans.items()
    ]


def _outcome(trace: Trace, runner: Runner) -> Outcome:
    scored = [
        ScoredRecord(record=record, scores=runner.score_all(record), shape=measure(record))
        for record in records(trace)
    ]
    return Outcome(
        trace=trace,
        outcome=TraceOutcome.SCORED,
        time_unix_nano=trace.received_unix_nano,
        records=tuple(scored),
    )


def _rows(request: ExportTraceServiceRequest) -> list[Row]:
    now = int(time.time())
    rows: list[Row] = []
    for resource in request.resource_spans:
        named = {
            attribute.key: attribute.value.string_value
            for attribute in resource.resource.attributes
        }
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
                    {attribute.key: _text(attribute.value) for attribute in span.attributes},
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
    packed = _unpack(sys.stdin.buffer.read())
    folder, batch, *more = sys.argv[1:]
    print(_measure(Path(folder), packed, int(batch), spans_only="spans" in more))
