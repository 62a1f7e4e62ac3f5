"""`ragvigil golden` from a failing trace to a passing case: API, commands, git and a service."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client import REGISTRY

from ragvigil.app.client.api import Refused, Unreachable
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.sources.golden import Golden
from ragvigil.model.outcome import Outcome
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from scorers.golden import question_key, read_golden
from tests.flow.test_api import NOW, Quiet, keep, outcome
from tests.golden_sets import git, job_of, work_tree
from tests.served_api import Commands, commands

PEOPLE = """
triager tr1ager ada
approver appr0ver bob
approver d0ctor eve tags=medical,route:/refunds
approver l4wyer zoe tags=law
reader r3ader
"""
TRACE = f"{1:032x}"
WRONG = {"reply": {"text": "Refunds take 40 days.", "chunks": [{"id": "ship-01"}]}}
RIGHT = {
    "reply": {
        "text": "Refunds take 5 to 7 days.",
        "chunks": [{"id": "ship-01"}, {"id": "refund-02"}],
    }
}


class Service:
    """A RAG service that answers what it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.reply: Any = WRONG
        self.status = 200
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append((self.path, body, dict(self.headers)))
                self.send_response(outer.status)
                self.send_header("location", "/elsewhere")
                self.end_headers()
                self.wfile.write(json.dumps(outer.reply).encode())

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{{route}}/ask"


def leaky() -> Outcome:
    """The failing trace; the spans show a prompt with the answer in its system message."""
    made = outcome(1, NOW - 60, value=0.2)
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Note: refunds take 5 to 7 days. Be brief.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "How long do refunds take?",
    }
    spans = tuple(replace(span, attributes=attributes) for span in made.trace.spans)
    record = made.records[0]
    other = replace(record.record.retrieved[0], content="Returns are free.", text_hash="h2")
    bare = replace(record.record, retrieved=(other,), context=(other,))
    return replace(
        made,
        trace=replace(made.trace, spans=spans),
        records=(replace(record, record=bare),),
    )


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.server.shutdown()


@pytest.fixture
def job(store: Store, tmp_path: Path, service: Service) -> GoldenJob:
    keep(store, [leaky()])
    target = {
        "url": service.url,
        "question": "messages[0].text",
        "body": {"model": "m"},
        "answer": "reply.text",
        "chunk_ids": "reply.chunks[*].id",
        "token": "t0ken",
    }
    return job_of(store, work_tree(tmp_path / "set"), target=target)[0]


@pytest.fixture
def daemon(store: Store, job: GoldenJob, tmp_path: Path) -> Iterator[Commands]:
    (tmp_path / "people").write_text(PEOPLE)
    web = api(store, Quiet(), WebSettings(tokens_file=tmp_path / "people"), keeping=Golden(job))
    more = f'[client]\ntoken = "tr1ager"\n[golden]\nrepository = "{tmp_path / "set"}"'
    with commands(web, tmp_path, more=more) as made:
        yield made


def refused(reason: str) -> float:
    name = "ragvigil_web_identity_refused_total"
    return REGISTRY.get_sample_value(name, {"reason": reason}) or 0.0


def proposed(daemon: Commands) -> str:
    found = json.loads(daemon.say("golden", "propose", "--trace", TRACE, "--issue", "i1", "--json"))
    daemon.say(
        "golden", "edit", found["case_id"], "--fact", "Refunds take 5 to 7 days.",
        "--chunk", "refund-02", "--tag", "edge", "--type", "failure",
    )  # fmt: skip
    return str(found["case_id"])


def test_a_trace_that_is_a_case_already_is_said_so(daemon: Commands) -> None:
    proposed(daemon)
    assert "already, proposed" in daemon.say("golden", "propose", "--trace", TRACE, status=1)
    assert "there is no trace" in daemon.say("golden", "propose", "--trace", f"{9:032x}", status=1)


def test_a_failing_trace_is_signed_fails_now_and_passes_later(
    daemon: Commands, job: GoldenJob, service: Service, store: Store, tmp_path: Path
) -> None:
    case = proposed(daemon)
    assert "proposed" in daemon.say("golden", "list")
    with pytest.raises(Refused, match="the system prompt holds its fact"):
        daemon.say("golden", "sign", case, "--yes", token="appr0ver")
    said = daemon.say("golden", "sign", case, typed="y\n", token="appr0ver")
    assert "the system prompt holds its fact: Refunds take 5 to 7 days." in said
    assert f"{case} is signed by bob" in said
    assert "fails (target): context_recall 0.00" in said
    assert "does not state: Refunds take 5 to 7 days." in said
    path, body, headers = service.asked[0]
    assert path == "/refunds/ask"
    assert body == {"messages": [{"text": "How long do refunds take?"}], "model": "m"}
    assert (headers["x-ragvigil-golden"], headers["authorization"]) == (case, "Bearer t0ken")
    service.reply = RIGHT
    assert "passes (target): states every vital fact" in daemon.say("golden", "run", case)
    assert "passing by bob" in daemon.say("golden", "show", case)
    assert question_key("How long do refunds take?") in read_golden(tmp_path / "set/golden.jsonl")
    job.watch()
    assert len(golden.runs(store, case)) == 2


@pytest.mark.parametrize(
    ("reply", "status", "why"),
    [
        (RIGHT, 500, "answered 500"),
        (RIGHT, 302, "answered 302"),
        ({"other": 1}, 200, "reply.text: the reply has nothing at reply"),
        ({"reply": {"text": 7, "chunks": []}}, 200, "the reply has no text there"),
        ({"reply": {"text": "Hi", "chunks": [{"id": {}}]}}, 200, "no list of texts"),
        ({"reply": {"text": "x" * (5 << 20)}}, 200, "too long"),
    ],
)
def test_a_service_that_answers_otherwise_tells_nothing(
    job: GoldenJob, service: Service, reply: Any, status: int, why: str
) -> None:
    case = job.propose(TRACE, "", "", "ada")
    service.reply, service.status = reply, status
    run = job.run(case.case_id)
    assert (run.is_pass, run.against) == (None, "target")
    assert why in run.why
    assert len(service.asked) == 1


def test_what_a_service_answers_is_redacted_before_it_is_stored(
    job: GoldenJob, service: Service, store: Store
) -> None:
    case = job.propose(TRACE, "", "", "ada")
    service.reply = {"reply": {"text": "The password is hunter2.", "chunks": []}}
    job.run(case.case_id)
    assert golden.runs(store, case.case_id)[0].answer == "The password is ⟪key⟫."


def test_a_service_that_is_away_tells_nothing(job: GoldenJob, service: Service) -> None:
    case = job.propose(TRACE, "", "", "ada")
    service.server.shutdown()
    service.server.server_close()
    assert "no answer" in job.run(case.case_id).why


def test_nobody_signs_without_the_right_or_what_they_wrote(daemon: Commands) -> None:
    case = proposed(daemon)
    base = f"http://127.0.0.1:{daemon.port}/api/v1/golden/{case}"
    seen = httpx2.get(base, headers={"authorization": "Bearer r3ader"}).json()
    body = {"content_hash": seen["content_hash"]}
    for token, status in (("", 401), ("r3ader", 403), ("tr1ager", 403)):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        assert httpx2.post(f"{base}/sign", json=body, headers=headers).status_code == status
    daemon.say("golden", "edit", case, "--tag", "hard", token="appr0ver")
    before = refused("own_case")
    with pytest.raises(Refused, match=r"bob wrote .*: somebody else must sign it"):
        daemon.say("golden", "sign", case, "--yes", "--despite-warnings", token="appr0ver")
    assert refused("own_case") - before == 1
    with pytest.raises(Refused, match="there is no case none"):
        daemon.say("golden", "reject", "none")


def test_a_domain_expert_signs_cases_with_their_tags_alone(
    daemon: Commands, job: GoldenJob
) -> None:
    case = proposed(daemon)
    sign = ("golden", "sign", case, "--yes", "--despite-warnings")
    before = refused("other_tags")
    with pytest.raises(Unreachable, match=f"{case} is not yours to sign: you sign law"):
        daemon.say(*sign, token="l4wyer")
    assert refused("other_tags") - before == 1
    assert "is signed by eve" in daemon.say(*sign, token="d0ctor"), "it is of her route"
    daemon.say("golden", "edit", case, "--tag", "law")
    job.edit(case, {"route": "/contracts"}, "ada")
    with pytest.raises(Unreachable, match="is not yours to sign"):
        daemon.say(*sign, token="l4wyer")  # what it would replace is not hers


def test_a_body_names_nobody(daemon: Commands) -> None:
    headers = {"authorization": "Bearer tr1ager"}
    base = f"http://127.0.0.1:{daemon.port}/api/v1"
    for path, body in (
        ("golden", {"trace_id": TRACE, "actor": "bob"}),
        ("issues/i1/explain", {"actor": "bob"}),
        ("incidents/i1/resolve", {"actor": "bob"}),
        ("labels", [{"rubric": "r", "trace_id": TRACE, "value": 1, "labeller": "bob"}]),
    ):
        reply = httpx2.post(f"{base}/{path}", json=body, headers=headers)
        assert reply.status_code == 422
        assert "who acts is whose token it is: take `" in reply.json()["error"]["message"]
    said = daemon.say("golden", "propose", "--trace", TRACE, "--actor", "bob", status=2)
    assert "who acts is whose token it is" in " ".join(said.split())


def test_cases_are_imported_and_exported_in_both_layouts(daemon: Commands, tmp_path: Path) -> None:
    sheet = tmp_path / "queries.csv"
    sheet.write_text(
        "query_id,query,expected_answer\nq1,Which shops open?,All.\n,Empty?,\nq1,b,c\n"
    )
    said = daemon.say("golden", "import", str(sheet), "--json", status=1)
    done = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    assert len(done["proposed"]) == 2
    assert done["refused"] == [{"line": 4, "reason": "that is case q1 already, proposed"}]
    daemon.say("golden", "sign", "q1", "--yes", token="appr0ver")
    assert list(csv.reader(io.StringIO(daemon.say("golden", "export", "--format", "csv")))) == [
        ["query_id", "query", "expected_answer"],
        ["q1", "Which shops open?", "All."],
    ]
    (row,) = map(json.loads, daemon.say("golden", "export").splitlines())
    assert (row["case_id"], row["approved_by"], row["query_type"]) == ("q1", "bob", "canonical")
    again = tmp_path / "again.jsonl"
    again.write_text(json.dumps(row | {"case_id": "q9", "question": "Why so?"}) + "\nnonsense\n")
    said = daemon.say("golden", "import", str(again), status=1)
    assert "line 2: " in said
    assert "1 cases proposed; 1 lines refused" in said
    kept = json.loads(daemon.say("golden", "show", "q9", "--json"))
    assert (kept["state"], kept["approved_by"], kept["proposed_by"]) == ("proposed", "", "ada")


def test_the_mix_and_what_is_broken_are_told(daemon: Commands, tmp_path: Path) -> None:
    daemon.say("golden", "sign", proposed(daemon), typed="y\n", token="appr0ver")
    mix = json.loads(daemon.say("golden", "mix", "--json"))
    assert [(part["query_type"], part["cases"], part["missing"]) for part in mix["parts"]] == [
        ("canonical", 0, 20),
        ("adversarial", 0, 15),
        ("failure", 1, 14),
    ]
    assert "every case is as it was signed" in daemon.say("golden", "check")
    path = tmp_path / "set/golden.jsonl"
    path.write_text(path.read_text().replace("5 to 7 days", "40 days"))
    assert "differs from the last commit" in daemon.say("golden", "list")
    git(tmp_path / "set", "commit", "-qam", "Make it pass")
    assert "was edited after it was signed" in daemon.say("golden", "list")
    assert "was edited after it was signed" in daemon.say("golden", "check", status=1)
    assert daemon.say("golden", "export", status=1).count('"case_id"') == 0
