"""A trace whose spans came to two edges is one answer, scored with all of them.

Two daemons with the role `edge` over the embedded engine behind ClickHouse's HTTP interface.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.clickhouse_http import DATABASE, Server
from tests.patience import PATIENCE_SECONDS
from tests.pipelines import answer, request, trace_id
from tests.traces import DOCUMENTS

pytestmark = pytest.mark.slow
LATE_SECONDS = 5.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "server") as server:
        yield server


def edge(server: Server, folder: Path, name: str) -> ChildDaemon:
    return start(
        folder / name,
        settings={
            "RAGVIGIL_STORE__URL": server.url,
            "RAGVIGIL_FLEET__ROLES": '["edge"]',
            "RAGVIGIL_FLEET__REPLICA": name,
            "RAGVIGIL_SCORERS__PROCESSES": "0",
            "RAGVIGIL_COLLECTOR__ASSEMBLY__IDLE_SECONDS": "2",
        },
    )


def rows(server: Server, sql: str) -> list[dict[str, Any]]:
    url = f"http://127.0.0.1:{server.port}/?database={DATABASE}"
    request = urllib.request.Request(url, data=f"{sql} FORMAT JSONEachRow".encode())
    with urllib.request.urlopen(request, timeout=60) as reply:
        return [json.loads(line) for line in reply.read().decode().splitlines()]


def post(daemon: ChildDaemon, body: bytes) -> None:
    headers = {"content-type": "application/x-protobuf"}
    request = urllib.request.Request(f"http://{daemon.http}/v1/traces", data=body, headers=headers)
    urllib.request.urlopen(request, timeout=60).close()


def parted() -> tuple[str, bytes, bytes]:
    """A trace id, its root and model span, and its retriever span, of now."""
    root, retrieval, model = answer()
    shift = time.time_ns() - root.end_unix_nano
    bodies = [request(21, spans, shift=shift) for spans in ([root, model], [retrieval])]
    return trace_id(21).hex(), *(body.SerializeToString() for body in bodies)


def wait_for(what: str, is_there: Any) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_there():
        assert time.monotonic() < deadline, what
        time.sleep(0.3)


def test_a_late_span_that_reaches_another_edge_joins_its_answer(
    server: Server, tmp_path: Path
) -> None:
    first, second = edge(server, tmp_path, "edge-a"), edge(server, tmp_path, "edge-b")
    try:
        first.wait_ready()
        second.wait_ready()
        name, spoken, retrieval = parted()
        records = f"SELECT * FROM records FINAL WHERE trace_id = '{name}' AND gone = 0"
        scores = (
            "SELECT rubric, count() AS n, max(generation) AS generation FROM scores FINAL "
            f"WHERE trace_id = '{name}' AND gone = 0 GROUP BY rubric"
        )
        post(first, spoken)
        wait_for("the answer is not stored", lambda: rows(server, records))
        (before,) = rows(server, records)
        time.sleep(LATE_SECONDS)
        post(second, retrieval)
        wait_for(
            "the retrieval has not joined its answer",
            lambda: rows(server, records)[0]["generation"] > before["generation"],
        )
        (after,) = rows(server, records)
        assert before["retrievals.chunk_ids"] == []
        assert after["retrievals.chunk_ids"] == [[name for name, _ in DOCUMENTS]]
        assert after["record_id"] == before["record_id"]
        assert after["generation"] == 3
        assert after["replica"] == "edge-a", "the edge that has the root"
        for key in ("minute", "query", "answer", "route", "service"):
            assert after[key] == before[key]
        wait_for(
            "not every score is of the joined trace",
            lambda: {row["generation"] for row in rows(server, scores)} == {3},
        )
        assert {row["n"] for row in rows(server, scores)} == {1}, "nothing is scored twice"
        kept = f"SELECT uniq(SpanId) AS n FROM spans WHERE TraceId = '{name}'"
        assert rows(server, kept) == [{"n": 3}]
    finally:
        for daemon in (first, second):
            daemon.stop()
