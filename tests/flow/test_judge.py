"""A daemon with a judge, as its user meets it: sampled, judged, shown, priced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragvigil.app.demo.child_daemon import ChildDaemon, running
from tests.content_judge import ContentJudge
from tests.flow.test_daemon import ask, look_up
from tests.llm_server import LlmServer, serving
from tests.patience import PATIENCE_SECONDS

JUDGED = {"groundedness", "context_relevance", "completeness", "chunk_attribution"}


@pytest.fixture(scope="module")
def server() -> Iterator[LlmServer]:
    with serving(ContentJudge().answer) as made:
        yield made


def judging(server: LlmServer) -> dict[str, str]:
    return {
        "RAGVIGIL_JUDGE__MODEL": "openai:gpt-4.1-mini",
        "RAGVIGIL_JUDGE__BASE_URL": server.openai,
        "RAGVIGIL_JUDGE__ALLOW": "true",
        "RAGVIGIL_JUDGE__SAMPLE_RATE": "1",
        "RAGVIGIL_JUDGE__WAIT_SECONDS": "0",
        "RAGVIGIL_INFERENCE__ENABLED": "true",
    }


OWN = """
name = "house_style"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
description = "Whether the answer speaks as we do."

[judge]
about = "answer"
shows = ["question", "answer"]
instruction = "Does the answer speak plainly?"
aggregation = "mean"

[[judge.grades]]
name = "plain"
means = "every sentence is clear at first reading"
value = 1.0

[[judge.grades]]
name = "puffed"
means = "it sells or preaches"
value = 0.0
"""


@pytest.fixture(scope="module")
def daemon(server: LlmServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    folder = tmp_path_factory.mktemp("judge")
    (folder / "house_style.toml").write_text(OWN)
    own = {"RAGVIGIL_SCORERS__RUBRICS": json.dumps([str(folder / "house_style.toml")])}
    with running(folder / "data", settings=judging(server) | own) as started:
        yield started


def test_a_rubric_of_ones_own_is_one_file(daemon: ChildDaemon) -> None:
    found = by_kind(daemon, ask(daemon, "Card refunds take 5 to 7 business days"), "judge")
    assert found["house_style"]["value"] is not None
    assert found["house_style"]["layer"] == "generation"


def by_kind(daemon: ChildDaemon, trace_id: str, kind: str) -> dict[str, dict[str, Any]]:
    """The scores of one kind, once there are some."""
    look_up(daemon, trace_id)
    for _ in range(400):
        (record,) = daemon.get(f"traces/{trace_id}")["records"]
        found = {score["rubric"]: score for score in record["scores"] if score["kind"] == kind}
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"no score of kind {kind}: {daemon.last_lines()}")


def test_a_good_answer_and_an_invented_one_are_told_apart(daemon: ChildDaemon) -> None:
    good = by_kind(daemon, ask(daemon, "Card refunds take 5 to 7 business days"), "judge")
    bad = by_kind(daemon, ask(daemon, "Refunds are paid in gold within the hour"), "judge")
    assert good.keys() >= JUDGED
    assert good["groundedness"]["value"] == 1.0
    assert bad["groundedness"]["value"] < 1.0
    assert bad["groundedness"]["failed"]
    assert good["factual_accuracy"]["value"] is None
    assert good["factual_accuracy"]["explanation"].startswith("no reference is known")


def test_local_scores_of_the_same_rubric_stand_behind_the_judges(daemon: ChildDaemon) -> None:
    trace_id = ask(daemon, "Card refunds take 5 to 7 business days")
    local = by_kind(daemon, trace_id, "model")
    streams = {score["stream"] for rubric, score in local.items() if rubric in JUDGED}
    assert streams == {"proxy"}


def test_prometheus_reads_the_judged_rubrics_with_their_layer(daemon: ChildDaemon) -> None:
    by_kind(daemon, ask(daemon, "Card refunds take 5 to 7 business days"), "judge")
    text = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=PATIENCE_SECONDS).text
    lines = [line for line in text.splitlines() if 'rubric="groundedness"' in line]
    assert any(line.startswith("ragvigil_judge_quotes_total{") for line in lines)
    found = [line for line in lines if line.startswith("ragvigil_score_")]
    assert any(line.startswith("ragvigil_score_count_total{") for line in found)
    assert all('layer="generation"' in line for line in found)


def test_the_log_says_once_which_text_leaves_for_where(
    daemon: ChildDaemon, server: LlmServer
) -> None:
    log = (daemon.data_dir / "daemon.log").read_text()
    (line,) = [line for line in log.splitlines() if "judge on" in line]
    assert server.openai.rstrip("/") in line
    assert "question, chunks and answer" in line


def test_the_cost_is_that_of_the_traffic(daemon: ChildDaemon, server: LlmServer) -> None:
    by_kind(daemon, ask(daemon, "Card refunds take 5 to 7 business days"), "judge")
    environment = os.environ | judging(server) | {"RAGVIGIL_WEB__ENDPOINT": daemon.web}
    command = [sys.executable, "-m", "ragvigil.app.cli.main", "judge", "cost", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["records"] == found["judged"] >= 1
    lines = {line["name"]: line for line in found["lines"]}
    assert lines["groundedness"]["calls"] == found["judged"]
    assert lines["groundedness"]["dollars"] > 0
    assert lines["audits"]["calls"] > 0
    assert lines["canary"]["calls"] >= 4 * 60


@pytest.mark.slow
def test_without_a_key_the_daemon_runs_and_says_why_nothing_is_judged(tmp_path: Path) -> None:
    settings = {"RAGVIGIL_JUDGE__MODEL": "openai:gpt-4.1-mini", "OPENAI_API_KEY": ""}
    with running(tmp_path, settings=settings) as daemon:
        judge = daemon.get("status")["judge"]
        assert judge["on"] is False
        assert "OPENAI_API_KEY" in judge["reason"]
        assert look_up(daemon, ask(daemon, "Card refunds take 5 to 7 business days"))


def estimates(daemon: ChildDaemon) -> dict[str, dict[str, Any]]:
    """By rubric, once answers of the hour were summed: a job of its own does so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = {each["rubric"]: each for each in daemon.get("estimates")["estimates"]}
        if found:
            return found
        time.sleep(0.5)
    raise AssertionError(f"no estimates: {daemon.last_lines()}")


def test_the_api_estimates_judged_means_and_shows_the_judges(daemon: ChildDaemon) -> None:
    by_kind(daemon, ask(daemon, "Card refunds take 5 to 7 business days"), "judge")
    found = estimates(daemon)
    assert found["groundedness"]["n"] >= 1
    assert found["groundedness"]["segment"] == "r2 openai:gpt-4.1-mini2"
    assert found["context_relevance"]["records"] >= found["context_relevance"]["n"]
    judges = {judge["rubric"]: judge for judge in daemon.get("judges")["judges"]}
    assert judges["groundedness"]["judge"] == "openai:gpt-4.1-mini"
    assert (judges["groundedness"]["labels"], judges["groundedness"]["state"]) == (0, "unmeasured")
    assert judges["groundedness"]["quotes"] >= 1
    assert judges["groundedness"]["quotes_not_found"] == 0
    assert daemon.get("disagreements")["disagreements"] is not None
