"""What Phoenix itself exported is read as the records that were sent to it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bench.rig.captures import load
from collector.backfill.phoenix_export import pieces, span_of
from collector.backfill.pieces import BadRow, NotImportable
from collector.record.build import records
from tests.exports import GOLDEN, records_of, said, spans_of

EXPORTS = GOLDEN / "exports"
FILES = ("rest.json", "frame.parquet", "frame.csv", "frame.json", "frame.jsonl")


@pytest.mark.parametrize("name", FILES)
def test_an_export_gives_the_records_that_phoenix_had_received(name: str) -> None:
    sent = load(GOLDEN / "otlp" / "oi-langchain").traces
    expected = {key: said(record) for key, trace in sent.items() for record in records(trace)}
    found = records_of(pieces(EXPORTS / f"phoenix-{name}", 0))
    assert expected
    assert {key: said(record) for key, record in found.items()} == expected


def test_times_are_those_that_were_sent_to_the_microsecond_that_phoenix_keeps() -> None:
    sent = load(GOLDEN / "otlp" / "oi-langchain").traces.values()
    expected = {span.span_id: span.start_unix_nano for trace in sent for span in trace.spans}
    for name in ("rest.json", "frame.parquet"):
        found = {
            span.span_id: span.start_unix_nano
            for span in spans_of(pieces(EXPORTS / f"phoenix-{name}", 0))
        }
        assert found.keys() == expected.keys()
        assert all(abs(found[name] - expected[name]) <= 1_000 for name in found)


def test_a_run_that_was_stopped_goes_on_behind_a_whole_trace() -> None:
    path = EXPORTS / "phoenix-rest.json"
    whole = spans_of(pieces(path, 0))
    first = {span.span_id for span in whole if span.trace_id == whole[0].trace_id}
    rest = spans_of(pieces(path, 2))
    assert {span.span_id for span in rest} == {span.span_id for span in whole} - first
    assert list(pieces(path, 10**6)) == []


def test_bad_rows_are_refused_with_their_place_and_the_others_are_read(tmp_path: Path) -> None:
    good = json.loads((EXPORTS / "phoenix-rest.json").read_text(encoding="utf-8"))["data"][0]
    bad = [good | {"context": {}}, good | {"start_time": "soon"}, 7, None]
    path = tmp_path / "spans.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in [*bad, good]).encode()))
    (piece,) = pieces(path, 0)
    assert piece.items == 1
    assert piece.refused == (
        "line 1: has no trace id",
        "line 2: has no start_time",
        "line 3: is no span",
        "line 4: is no span",
    )


@pytest.mark.parametrize("body", [b"", b"PAR1 and no more", b"\x1f\x8bnot gzip", b"hello\n"])
def test_a_file_that_is_no_export_is_refused_in_one_line(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "spans"
    path.write_bytes(body)
    with pytest.raises(NotImportable, match="spans: "):
        list(pieces(path, 0))


def test_ids_that_are_not_hexadecimal_keep_the_tree_together() -> None:
    row = {"context": {"trace_id": "my trace", "span_id": "root"}, "start_time": 1_800_000_000}
    root, child = span_of(row), span_of(row | {"context.span_id": "leaf", "parent_id": "root"})
    assert (len(root.trace_id), len(root.span_id)) == (16, 8)
    assert child.parent_span_id == root.span_id
    assert child.trace_id == root.trace_id


def test_a_row_without_an_id_is_no_span() -> None:
    with pytest.raises(BadRow, match="has no id"):
        span_of({"context.trace_id": "0" * 31 + "1", "start_time": 1_800_000_000})
