"""A scorer runs the local models for an edge, and the edge runs them itself once none lives.

Daemons over the embedded engine behind ClickHouse's HTTP interface. Of the local models only the
entailment model runs, which loads without torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, start
from ragvigil.extras import ENTAILMENT, missing
from scorers.judge.sampling import is_sampled
from scorers.judge.settings import JudgeSettings
from scorers.local.job import FIRST_ENTAILMENT_RATE
from tests.clickhouse_http import Server
from tests.flow.test_split_traces import post, rows
from tests.patience import PATIENCE_SECONDS
from tests.pipelines import answer, request, trace_id

pytestmark = pytest.mark.slow

if missing(ENTAILMENT):
    pytest.skip(missing(ENTAILMENT), allow_module_level=True)

TEXTS = (
    "Within 30 days of delivery. [refund-01]",
    "Refunds are given within 90 days of delivery.",
    "Standard shipping costs 3.90 EUR.",
)
READ = [
    number
    for number in range(1, 100)
    if is_sampled(trace_id(number).hex(), FIRST_ENTAILMENT_RATE, JudgeSettings().salt)
]
"""Traces that the entailment model reads from the first answer on."""
WHAT = "rubric, scorer, version, segment, kind, stream, value, label"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "server") as server:
        yield server


def daemon(server: Server, folder: Path, name: str, role: str) -> ChildDaemon:
    return start(
        folder / name,
        settings={
            "RAGVIGIL_STORE__URL": server.url,
            "RAGVIGIL_FLEET__ROLES": f'["{role}"]',
            "RAGVIGIL_FLEET__REPLICA": name,
            "RAGVIGIL_SCORERS__PROCESSES": "0",
            "RAGVIGIL_INFERENCE__ENABLED": "true",
            "RAGVIGIL_INFERENCE__CPU_SHARE": "4",
            "RAGVIGIL_INFERENCE__EMBEDDING_MODEL": "",
        },
    )


def send(edge: ChildDaemon, numbers: Sequence[int]) -> set[str]:
    """Posts an answer of now for each number; returns the ids of their traces."""
    for number in numbers:
        spans = answer(TEXTS[READ.index(number) % len(TEXTS)])
        shift = time.time_ns() - max(each.end_unix_nano for each in spans)
        post(edge, request(number, spans, shift=shift).SerializeToString())
    return {trace_id(number).hex() for number in numbers}


def scored(server: Server, traces: set[str]) -> list[dict[str, Any]]:
    """Every row of a local score of these traces, replaced ones too."""
    names = ", ".join(f"'{name}'" for name in sorted(traces))
    return rows(
        server,
        f"SELECT trace_id, replica, {WHAT} FROM scores "
        f"WHERE trace_id IN ({names}) AND scorer = 'entailment'",
    )


def wait_for(what: str, is_there: Callable[[], bool], *daemons: ChildDaemon) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_there():
        logs = "\n".join(each.last_lines() for each in daemons)
        assert time.monotonic() < deadline, f"{what}\n{logs}"
        time.sleep(0.5)


def wait_scored(server: Server, traces: set[str], *daemons: ChildDaemon) -> list[dict[str, Any]]:
    """Waits until each has its local scores."""
    wait_for(
        "answers have no local scores",
        lambda: {row["trace_id"] for row in scored(server, traces)} == traces,
        *daemons,
    )
    return scored(server, traces)


def starts_of_models(daemon: ChildDaemon) -> float:
    text = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=60).text
    name = "ragvigil_inference_starts_total"
    return sum(float(line.split()[1]) for line in text.splitlines() if line.startswith(name))


def values(found: Sequence[dict[str, Any]], text: int) -> set[tuple[Any, ...]]:
    """What is said of the answers with this text."""
    return {
        tuple(row[key] for key in WHAT.split(", "))
        for row in found
        if READ.index(int(row["trace_id"], 16)) % len(TEXTS) == text
    }


def test_a_scorer_scores_what_an_edge_stores_and_the_edge_takes_over(
    server: Server, tmp_path: Path
) -> None:
    edge = daemon(server, tmp_path, "edge-a", "edge")
    scorer = daemon(server, tmp_path, "scorer-1", "scorer")
    try:
        edge.wait_ready()
        scorer.wait_ready()
        assert scorer.get("status")["fleet"]["roles"] == ["scorer"]
        assert "this daemon is a scorer" in httpx2.get(f"http://{scorer.web}/").text
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"http://{scorer.http}/")
        knows = lambda: edge.get("status")["fleet"]["scorers"] == ["scorer-1"]  # noqa: E731
        wait_for("the edge knows no scorer", knows, edge, scorer)

        first = send(edge, READ[:6])
        by_scorer = wait_scored(server, first, scorer)
        assert {row["replica"] for row in by_scorer} == {"scorer-1"}
        assert starts_of_models(edge) == 0
        assert edge.get("status")["local"] == {"rate": 0.0, "waiting": 0}

        scorer.process.kill()
        scorer.process.wait()
        second = send(edge, READ[6:12])
        by_edge = wait_scored(server, second, edge)
        assert {row["replica"] for row in by_edge} == {"edge-a"}
        assert starts_of_models(edge) == 1
        keys = [(row["trace_id"], row["rubric"]) for row in scored(server, first | second)]
        assert len(keys) == len(set(keys)), "none is scored twice"
        for text in range(len(TEXTS)):
            assert values(by_scorer, text) == values(by_edge, text) != set()
    finally:
        with suppress(ProcessLookupError):
            scorer.stop()
        edge.stop()
