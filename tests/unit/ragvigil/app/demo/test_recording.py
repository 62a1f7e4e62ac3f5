"""Folders of recorded bodies, ours and those of other recorders."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ragvigil.app.demo.recording import JSON, PROTOBUF, Kind, NotARecording, read_recording

HELPDESK = Path(__file__).parents[5] / "examples/helpdesk/recorded"


def write(folder: Path, name: str, body: bytes) -> None:
    (folder / "requests").mkdir(exist_ok=True)
    (folder / "requests" / name).write_bytes(body)


def test_plain_zipped_and_json_bodies_are_read_in_the_order_of_recording(tmp_path: Path) -> None:
    write(tmp_path, "0001.pb", b"one")
    write(tmp_path, "0002.pb.gz", gzip.compress(b"two"))
    write(tmp_path, "0003.json", b"{}")
    rows = [
        {"file": "requests/0003.json", "received_unix_nano": 1, "path": "/tracer/v1/traces"},
        {"file": "requests/0001.pb", "received_unix_nano": 3, "path": "/v1/logs"},
        {
            "file": "requests/0002.pb.gz",
            "received_unix_nano": 2,
            "path": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        },
    ]
    (tmp_path / "meta.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first, second, third = read_recording(tmp_path)
    assert (first.body, first.content_type, first.path) == (b"{}", JSON, "/tracer/v1/traces")
    assert (second.body, second.kind, second.path) == (b"two", Kind.LOGS, "/v1/logs")
    assert (third.body, third.content_type, third.path) == (b"one", PROTOBUF, "/v1/logs")


def test_bodies_without_meta_are_traces_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, "0002.pb", b"two")
    write(tmp_path, "0001.pb", b"one")
    found = list(read_recording(tmp_path))
    assert [r.body for r in found] == [b"one", b"two"]
    assert {r.path for r in found} == {"/v1/traces"}


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        (None, "holds neither"),
        ("nonsense", "not JSON"),
        ('{"seq": 1}', "no `file`"),
        ('{"file": "requests/0009.pb"}', "cannot be read"),
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(
    tmp_path: Path, meta: str | None, message: str
) -> None:
    if meta is not None:
        (tmp_path / "meta.jsonl").write_text(meta)
    with pytest.raises(NotARecording, match=message):
        list(read_recording(tmp_path))


@pytest.mark.parametrize("name", ["healthy", "fabricated_quotes"])
def test_the_recorded_traffic_of_the_help_desk_is_read(name: str) -> None:
    assert all(r.kind is Kind.TRACES and r.body for r in read_recording(HELPDESK / name))


def test_the_recorded_traffic_stays_small() -> None:
    assert sum(p.stat().st_size for p in HELPDESK.rglob("*") if p.is_file()) < 2_000_000
