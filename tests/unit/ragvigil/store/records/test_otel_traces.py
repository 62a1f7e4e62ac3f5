"""A table as the Collector's ClickHouse exporter makes it, read over HTTP page by page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import clickhouse_connect
import pytest

from bench.rig.captures import load
from collector.backfill.collector_clickhouse import attributes_of, pieces
from collector.backfill.pieces import BadRow, NotImportable
from collector.record.build import records
from ragvigil.model.span import Link, Span
from tests.clickhouse_http import Server
from tests.exports import GOLDEN, records_of, said, spans_of

SHAPE = """
CREATE TABLE {table} (
    Timestamp DateTime64(9) CODEC({delta}, ZSTD(1)), TraceId String, SpanId String,
    ParentSpanId String, TraceState String, SpanName LowCardinality(String),
    SpanKind LowCardinality(String), ServiceName LowCardinality(String),
    ResourceAttributes {held} CODEC(ZSTD(1)), {resource_keys} ScopeName String, ScopeVersion String,
    SpanAttributes {held} CODEC(ZSTD(1)), {span_keys} Duration {duration},
    StatusCode LowCardinality(String), StatusMessage String,
    Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes {held}),
    Links Nested (TraceId String, SpanId String, TraceState String, Attributes {held})
    {more}
) ENGINE = MergeTree PARTITION BY toDate(Timestamp) ORDER BY ({order})
"""
MAP = "Map(LowCardinality(String), String)"
KEYS = "Array(LowCardinality(String)),"
ITEMS = """, SpanAttributeItems Array(String)
    ALIAS arrayMap((key, value) -> concat(key, '=', value),
        mapKeys(SpanAttributes), mapValues(SpanAttributes)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1"""
TABLES = {
    "otel_traces": {
        "held": MAP, "delta": "Delta(8)", "duration": "UInt64 CODEC(T64, ZSTD(1))", "more": ITEMS,
        "order": "ServiceName, SpanName, toDateTime(Timestamp), Timestamp",
        "resource_keys": "", "span_keys": "",
    },
    "otel_older": {
        "held": MAP, "delta": "Delta", "duration": "Int64 CODEC(ZSTD(1))", "more": "",
        "order": "ServiceName, SpanName, toUnixTimestamp(Timestamp), TraceId",
        "resource_keys": "", "span_keys": "",
    },
    "otel_json": {
        "held": "JSON", "delta": "Delta", "duration": "UInt64 CODEC(ZSTD(1))", "more": "",
        "order": "ServiceName, SpanName, toDateTime(Timestamp), Timestamp",
        "resource_keys": f"ResourceAttributesKeys {KEYS}",
        "span_keys": f"SpanAttributesKeys {KEYS}",
    },
}  # fmt: skip
"""As the exporter makes its table: its newest, that of 2023, and that of `json: true`."""
COLUMNS = (
    "Timestamp", "TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind",
    "ServiceName", "ResourceAttributes", "ScopeName", "ScopeVersion", "SpanAttributes", "Duration",
    "StatusCode", "StatusMessage", "Events.Timestamp", "Events.Name", "Events.Attributes",
    "Links.TraceId", "Links.SpanId", "Links.TraceState", "Links.Attributes",
)  # fmt: skip
"""In the order in which the exporter inserts them."""
SENT = load(GOLDEN / "otlp" / "oi-langchain").traces
CAPTURED = [span for trace in SENT.values() for span in trace.spans]
LINKED = Link(trace_id="a" * 32, span_id="b" * 16, attributes={"why": "retried"})
SPANS = [replace(CAPTURED[0], links=(LINKED,)), *CAPTURED[1:]]


Held = Callable[[Mapping[str, object]], object]


def texts(values: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in values.items()}


def written(values: Mapping[str, object]) -> dict[str, object]:
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    }


def typed(values: Mapping[str, object]) -> str:
    return json.dumps(dict(values), default=list)


def row(span: Span, held: Held, older: bool) -> list[object]:
    kind, status = span.kind.name.capitalize(), span.status.name.capitalize()
    events, links = span.events, span.links
    return [
        span.start_unix_nano, span.trace_id, span.span_id, span.parent_span_id, span.trace_state,
        span.name, f"SPAN_KIND_{kind.upper()}" if older else kind, "shop",
        held(span.resource.attributes), span.scope.name, span.scope.version, held(span.attributes),
        span.end_unix_nano - span.start_unix_nano,
        f"STATUS_CODE_{status.upper()}" if older else status, span.status_message,
        [event.time_unix_nano for event in events], [event.name for event in events],
        [held(event.attributes) for event in events], [link.trace_id for link in links],
        [link.span_id for link in links], ["" for _ in links],
        [held(link.attributes) for link in links],
    ]  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Server(tmp_path_factory.mktemp("clickhouse")) as server:
        client = clickhouse_connect.get_client(dsn=server.url, autogenerate_session_id=False)
        for table, shape in TABLES.items():
            client.command(SHAPE.format(table=table, **shape))
            held: Held = typed if table == "otel_json" else texts
            rows = [row(span, held, table == "otel_older") for span in SPANS]
            client.insert(table, rows, column_names=COLUMNS)
        client.close()
        yield server.url


@pytest.mark.parametrize("table", TABLES)
def test_the_table_gives_the_records_that_were_written_to_it(url: str, table: str) -> None:
    expected = {key: said(record) for key, trace in SENT.items() for record in records(trace)}
    assert expected
    found = records_of(pieces(f"{url}?table={table}", 0))
    assert {key: said(record) for key, record in found.items()} == expected


@pytest.mark.parametrize("table", TABLES)
def test_every_attribute_event_and_link_comes_back_under_its_name(url: str, table: str) -> None:
    """With its type too, where the table knows types; a map of strings knows none."""
    sent = {span.span_id: span for span in SPANS}
    found = spans_of(pieces(f"{url}?table={table}", 0))
    assert len(found) == len(sent)
    kept = written if table == "otel_json" else texts
    for read in found:
        span = sent[read.span_id]
        assert kept(read.attributes) == kept(span.attributes)
        assert [event.name for event in read.events] == [event.name for event in span.events]
        assert [link.span_id for link in read.links] == [link.span_id for link in span.links]
        assert (read.status, read.kind) == (span.status, span.kind)


def test_a_name_that_is_leaf_and_branch_of_the_tree_keeps_both_values() -> None:
    sent = '{"gen_ai":{"prompt":"x","prompt":{"0":{"content":"c"},"ids":[{"k":1},{"k":2}]},"e":{}}}'
    assert attributes_of(sent) == {
        "gen_ai.prompt": "x",
        "gen_ai.prompt.0.content": "c",
        "gen_ai.prompt.ids": '[{"k": 1}, {"k": 2}]',
    }


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"', "[" * 100_000])
def test_attributes_that_are_no_json_object_are_refused(text: str) -> None:
    with pytest.raises(BadRow):
        attributes_of(text)


@pytest.mark.parametrize("page_rows", [1, 7, 1000])
def test_every_span_is_read_once_whatever_the_page(url: str, page_rows: int) -> None:
    found = spans_of(pieces(url, 0, page_rows))
    assert sorted(span.span_id for span in found) == sorted(span.span_id for span in SPANS)
    starts = {span.span_id: (span.start_unix_nano, span.end_unix_nano, span.kind) for span in SPANS}
    for span in found:
        assert (span.start_unix_nano, span.end_unix_nano, span.kind) == starts[span.span_id]


def test_a_run_goes_on_behind_the_time_it_had_reached(url: str) -> None:
    times = sorted(span.start_unix_nano for span in SPANS)
    reached = times[len(times) // 2]
    found = spans_of(pieces(url, reached))
    assert sorted(span.start_unix_nano for span in found) == [at for at in times if at > reached]


def test_a_table_that_is_not_there_is_told_in_one_line(url: str) -> None:
    with pytest.raises(NotImportable, match="other: cannot be read: ") as told:
        list(pieces(f"{url}?table=other", 0))
    assert "\n" not in str(told.value)


def test_a_table_of_before_scopes_is_told_in_one_line(url: str) -> None:
    client = clickhouse_connect.get_client(dsn=url, autogenerate_session_id=False)
    shape = SHAPE.replace("ScopeName String, ScopeVersion String,", "")
    client.command(shape.format(table="otel_oldest", **TABLES["otel_older"]))
    client.close()
    with pytest.raises(NotImportable, match=r"otel_oldest: cannot be read: .*ScopeName") as told:
        list(pieces(f"{url}?table=otel_oldest", 0))
    assert "\n" not in str(told.value)


def test_a_server_that_does_not_answer_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(NotImportable, match="otel_traces: cannot be read: "):
        list(pieces(Server(tmp_path).url, 0))
