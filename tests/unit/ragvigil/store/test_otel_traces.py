"""A table as the Collector's ClickHouse exporter makes it, read over HTTP page by page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import clickhouse_connect
import pytest

from bench.captures import load
from collector.records import records
from ragvigil.app.import_collector_clickhouse import pieces
from ragvigil.app.import_pieces import NotImportable
from ragvigil.model.span import Span
from tests.clickhouse_http import Server
from tests.exports import GOLDEN, records_of, said, spans_of

SCHEMA = """
CREATE TABLE otel_traces (
    Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String,
    TraceState String, SpanName LowCardinality(String), SpanKind LowCardinality(String),
    ServiceName LowCardinality(String), ResourceAttributes Map(LowCardinality(String), String),
    ScopeName String, ScopeVersion String, SpanAttributes Map(LowCardinality(String), String),
    Duration UInt64, StatusCode LowCardinality(String), StatusMessage String,
    Events Nested (Timestamp DateTime64(9), Name LowCardinality(String),
        Attributes Map(LowCardinality(String), String)),
    Links Nested (TraceId String, SpanId String, TraceState String,
        Attributes Map(LowCardinality(String), String))
) ENGINE = MergeTree PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp), Timestamp)
"""
COLUMNS = (
    "Timestamp", "TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind",
    "ServiceName", "ResourceAttributes", "ScopeName", "ScopeVersion", "SpanAttributes", "Duration",
    "StatusCode", "StatusMessage", "Events.Timestamp", "Events.Name", "Events.Attributes",
)  # fmt: skip
SENT = load(GOLDEN / "otlp" / "oi-langchain").traces
SPANS = [span for trace in SENT.values() for span in trace.spans]


def texts(values: object) -> dict[str, str]:
    assert hasattr(values, "items")
    return {key: str(value) for key, value in values.items()}


def row(span: Span) -> list[object]:
    events = span.events
    return [
        span.start_unix_nano, span.trace_id, span.span_id, span.parent_span_id, span.trace_state,
        span.name, span.kind.name.capitalize(), "shop", texts(span.resource.attributes),
        span.scope.name, span.scope.version, texts(span.attributes),
        span.end_unix_nano - span.start_unix_nano, span.status.name.capitalize(),
        span.status_message, [one.time_unix_nano for one in events], [one.name for one in events],
        [texts(one.attributes) for one in events],
    ]  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Server(tmp_path_factory.mktemp("clickhouse")) as server:
        client = clickhouse_connect.get_client(dsn=server.url, autogenerate_session_id=False)
        client.command(SCHEMA)
        client.insert("otel_traces", [row(span) for span in SPANS], column_names=COLUMNS)
        client.close()
        yield server.url


def test_the_table_gives_the_records_that_were_written_to_it(url: str) -> None:
    expected = {key: said(one) for key, trace in SENT.items() for one in records(trace)}
    assert expected
    found = records_of(pieces(url, 0))
    assert {key: said(one) for key, one in found.items()} == expected


@pytest.mark.parametrize("page_rows", [1, 7, 1000])
def test_every_span_is_read_once_whatever_the_page(url: str, page_rows: int) -> None:
    found = spans_of(pieces(url, 0, page_rows))
    assert sorted(one.span_id for one in found) == sorted(one.span_id for one in SPANS)
    starts = {one.span_id: (one.start_unix_nano, one.end_unix_nano, one.kind) for one in SPANS}
    for one in found:
        assert (one.start_unix_nano, one.end_unix_nano, one.kind) == starts[one.span_id]


def test_a_run_goes_on_behind_the_time_it_had_reached(url: str) -> None:
    times = sorted(span.start_unix_nano for span in SPANS)
    reached = times[len(times) // 2]
    found = spans_of(pieces(url, reached))
    assert sorted(one.start_unix_nano for one in found) == [at for at in times if at > reached]


def test_a_table_that_is_not_there_is_told_in_one_line(url: str) -> None:
    with pytest.raises(NotImportable, match="other: cannot be read: ") as told:
        list(pieces(f"{url}?table=other", 0))
    assert "\n" not in str(told.value)


def test_a_server_that_does_not_answer_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(NotImportable, match="otel_traces: cannot be read: "):
        list(pieces(Server(tmp_path).url, 0))
