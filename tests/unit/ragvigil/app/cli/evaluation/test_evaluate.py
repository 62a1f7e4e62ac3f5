"""`ragvigil evaluate`: exit statuses, refusals, what is asked and said."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragvigil.app.cli.main import app
from tests import evaluated_desk as desk
from tests.content_judge import ContentJudge
from tests.llm_server import serving
from tests.traced_desk import traced_desk

FUNCTION = "tests.evaluated_desk:answer"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    desk.asked.clear()


def evaluate(*arguments: object) -> Result:
    set_ = desk.write_cases(Path("set.jsonl"))
    return CliRunner().invoke(app, ["evaluate", str(set_), *map(str, arguments)])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def test_a_case_that_must_pass_and_fails_is_status_1() -> None:
    done = evaluate("--target", FUNCTION, "--out", "new.jsonl")
    assert done.exit_code == 1
    assert "1 of 3 cases failed, 1 of which must pass" in done.output
    assert Path("new.jsonl").read_text(encoding="utf-8").count("\n") == 4


def test_a_traced_service_is_read_from_its_spans() -> None:
    http = free_port()
    Path("ragvigil.toml").write_text(
        f'[collector]\nhttp_endpoint = "127.0.0.1:{http}"\n'
        f'grpc_endpoint = "127.0.0.1:{free_port()}"\n[collector.assembly]\nquiet_seconds = 0.2\n',
        encoding="utf-8",
    )
    with traced_desk(f"127.0.0.1:{http}") as url:
        done = evaluate("--target", url, "--traced", "--json")
    assert f"traces are awaited at http://127.0.0.1:{http}" in done.stderr
    document = json.loads(done.stdout)
    assert (document["cases"], document["failed"]) == (3, 1)
    assert document["run"]["versions"]["model"] == "desk-1"


def test_only_a_url_can_be_traced() -> None:
    done = evaluate("--target", FUNCTION, "--traced")
    assert (done.exit_code, "only a service behind a URL has traces" in done.stderr) == (2, True)


def test_the_judge_is_asked_where_it_is_configured_and_its_cost_said_before() -> None:
    with serving(ContentJudge().answer) as server:
        Path("ragvigil.toml").write_text(
            f'[judge]\nmodel = "openai:desk-1"\nbase_url = "{server.openai}"\n'
            'rubrics = ["answer_relevance"]\n',
            encoding="utf-8",
        )
        without = evaluate("--target", FUNCTION, "--no-judge", "--json")
        asked_without = len(server.calls)
        done = evaluate("--target", FUNCTION, "--json")
    assert asked_without == 0 == json.loads(without.stdout)["run"]["versions"].get("judge", 0)
    assert "the judge openai:desk-1 is asked in up to 3 calls" in done.stderr
    document = json.loads(done.stdout)
    assert "answer_relevance" in document["parts"][0]["means"]


def test_a_judge_that_is_wanted_and_not_there_ends_the_command() -> None:
    done = evaluate("--target", FUNCTION, "--judge")
    assert (done.exit_code, "--judge: no judge is configured" in done.stderr) == (2, True)
    assert not desk.asked
