"""What leaves reaches the configured address or none: redirects, proxies, routes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from clickhouse_connect.driver.exceptions import ClickHouseError
from pydantic import BaseModel, SecretStr

from clustering.golden.settings import TargetSettings
from ragvigil.evaluation.target.reply import NoAnswer, record_of
from ragvigil.evaluation.target.url import address, ask
from ragvigil.llm.outcome import Setback
from ragvigil.llm.provider import Endpoint
from ragvigil.llm.reply_form import ReplyForm
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.golden import GoldenCase
from ragvigil.store.engine.connection import connect
from ragvigil.store.records.otel_traces import NotReadable, read_otel_traces
from ragvigil.store.settings import StoreSettings
from scorers.export.events import AnswerResults, Result
from scorers.export.sender import OtlpSender
from scorers.export.settings import ExportSettings
from scorers.judge.references import BadSource, read_sources
from tests.clickhouse_http import Server
from tests.recorder import Recorder

REDIRECTS = (301, 302, 303, 307, 308)
RESULT = Result(
    name="refusal",
    value=1.0,
    label="answered",
    explanation="",
    annotator="code",
    details={"ragvigil.evaluator": "code"},
)
ANSWER = AnswerResults(
    trace_id=0xABC, span_id=0xDEF, response_id="", time_unix_nano=1, results=(RESULT,), details={}
)
CASE = GoldenCase(case_id="g1", question="How long do refunds take?", route="/ask")


@pytest.fixture
def thief() -> Iterator[Recorder]:
    with Recorder() as opened:
        yield opened


@pytest.fixture
def proxied(thief: Recorder, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """The thief as the proxy of the environment."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://{thief.address}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return thief


class Verdict(BaseModel):
    """A reply that a model is asked for."""

    ok: bool


def judge(base_url: str, provider: str) -> Setback | object:
    settings = LlmSettings(
        model=f"{provider}:m", base_url=base_url, key=SecretStr("s3cret"), timeout_seconds=5
    )

    async def asked() -> Setback | object:
        endpoint = Endpoint(settings, clock=lambda: 0.0, chance=random.Random(1))
        try:
            return await endpoint.send("Is it?", Verdict, ReplyForm.JSON_SCHEMA)
        finally:
            await endpoint.close()

    return asyncio.run(asked())


@pytest.mark.parametrize("status", REDIRECTS)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_judge_follows_no_redirect(thief: Recorder, provider: str, status: int) -> None:
    with Recorder(f"http://{thief.address}/v1", status=status) as server:
        assert isinstance(judge(f"http://{server.address}", provider), Setback)
        assert len(server.seen) == 1
        assert "s3cret" in server.tokens[0]
    assert thief.seen == []


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_judge_on_this_machine_is_asked_past_the_proxy(proxied: Recorder, provider: str) -> None:
    with Recorder() as server:
        judge(f"http://{server.address}", provider)
        assert len(server.seen) == 1
    assert proxied.seen == []
    judge("http://model.example", provider)
    assert len(proxied.seen) == 1, "a proxy is often the only way out"


def target(url: str) -> TargetSettings:
    return TargetSettings(url=url, token=SecretStr("s3cret"), timeout_seconds=5)


@pytest.mark.parametrize("status", REDIRECTS)
def test_a_golden_target_follows_no_redirect(thief: Recorder, status: int) -> None:
    with Recorder(f"http://{thief.address}/ask", status=status) as server:
        with pytest.raises(NoAnswer, match=f"answered {status}"):
            ask(CASE, target(f"http://{server.address}/ask"))
        assert server.tokens == ["Bearer s3cret"]
    assert thief.seen == []


def test_a_golden_target_is_asked_past_the_proxy(proxied: Recorder) -> None:
    with Recorder(body='{"answer": "Yes."}') as server:
        assert ask(CASE, target(f"http://{server.address}/ask")) == {"answer": "Yes."}
    assert proxied.seen == []


@pytest.mark.parametrize(
    ("route", "path"),
    [
        ("/refunds/ask", "/api/refunds/ask"),
        ("POST /refunds", "/api/POST%20/refunds"),
        ("/a?admin=1&x=#top", "/api/a%3Fadmin%3D1%26x%3D%23top"),
        ("//evil.example/x", "/api/evil.example/x"),
        ("http://evil.example", "/api/http%3A//evil.example"),
        ("/a@evil.example", "/api/a%40evil.example"),
        ("/gr\u00f6\u00dfe/\u5bff\u53f8", "/api/gr%C3%B6%C3%9Fe/%E5%AF%BF%E5%8F%B8"),
        ("/100%", "/api/100%25"),
        ("/a/...", "/api/a/..."),
        ("/.well-known/a..b", "/api/.well-known/a..b"),
    ],
)
def test_a_route_is_encoded_in_a_targets_url(route: str, path: str) -> None:
    with Recorder(body='{"answer": "Yes."}') as server:
        asked = target(f"http://{server.address}/api/{{route}}")
        ask(replace(CASE, route=route), asked)
        assert server.seen == [f"POST {path} HTTP/1.1"]
    query = urlsplit(address("https://desk.example/ask?route={route}&x=1", route))
    assert (query.netloc, query.path, query.fragment) == ("desk.example", "/ask", "")
    assert query.query.endswith("&x=1")
    assert query.query.count("&") == 1


@pytest.mark.parametrize(
    "route",
    [
        "..", "/..", "/../admin", "/a/../../admin", "/a/..", "/./a", "/%2e%2e/admin",
        "/%252e%252e/admin", "/a/%2E./admin", "/..%2fadmin", "/..\\admin", "/a%5c..%5cadmin",
        "/..;/admin", "/..?x", "/a\r\nhost: evil", "/a\x00", "/a%0d%0ax", "/a\u202eb", "/a\u200bb",
        "/a\ud800",
    ],
)  # fmt: skip
def test_a_route_that_leads_elsewhere_is_refused(thief: Recorder, route: str) -> None:
    with pytest.raises(NoAnswer, match="cannot be part of an address"):
        ask(replace(CASE, route=route), target(f"http://{thief.address}/api/{{route}}"))
    assert thief.seen == []


def test_a_name_of_a_case_cannot_write_headers(thief: Recorder) -> None:
    named = replace(CASE, case_id="a\r\nx: \u00fc\ud800")
    with pytest.raises(NoAnswer, match="answer"):
        record_of(named, ask(named, at := target(f"http://{thief.address}/ask")), at)
    assert thief.tokens == ["Bearer s3cret"]


@pytest.mark.parametrize("form", ["events", "spans"])
@pytest.mark.parametrize("status", REDIRECTS)
def test_an_export_follows_no_redirect(
    thief: Recorder, tmp_path: Path, form: str, status: int
) -> None:
    headers = tmp_path / "headers"
    headers.write_text("Authorization: Bearer s3cret\n")
    with Recorder(f"http://{thief.address}/v1/logs", status=status) as server:
        assert exported(server, headers, form).startswith(str(status))
        assert server.tokens == ["Bearer s3cret"]
    assert thief.seen == []


def test_an_export_is_sent_past_the_proxy(proxied: Recorder, tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.write_text("Authorization: Bearer s3cret\n")
    with Recorder(body="") as server:
        assert exported(server, headers, "events") == ""
        assert len(server.seen) == 1
    assert proxied.seen == []


def exported(server: Recorder, headers: Path, form: str) -> str:
    """Why an export failed, empty where it did not."""
    sender = OtlpSender(
        ExportSettings.model_validate(
            {
                "protocol": "http/protobuf",
                "endpoint": f"http://{server.address}",
                "form": form,
                "headers_file": headers,
                "timeout_seconds": 2,
            }
        )
    )
    try:
        return sender.send([ANSWER]).failed
    finally:
        sender.close()


def test_a_page_of_references_is_followed_within_its_origin_alone(thief: Recorder) -> None:
    host, port = thief.address.split(":")
    with Recorder("/here", body="Card refunds take 5 days.") as server:
        assert len(read_sources([f"http://{server.address}/moved"])) == 1
        assert len(server.seen) == 2
    for elsewhere in (f"{host}:{port}", f"localhost:{port}"):
        said = f"redirects to http://{elsewhere}/page; name that"
        with Recorder(f"http://{elsewhere}/page") as server, pytest.raises(BadSource, match=said):
            read_sources([f"http://{server.address}/moved"])
    with Recorder("/again") as server:
        with pytest.raises(BadSource, match="cannot be fetched"):
            read_sources([f"http://{server.address}/moved"])
        assert len(server.seen) < 10
    assert thief.seen == []


@pytest.fixture(scope="module")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("clickhouse")) as opened:
        yield opened


@pytest.mark.parametrize("status", [307, 308])
def test_rows_and_queries_for_clickhouse_follow_no_redirect(
    clickhouse: Server, tmp_path: Path, status: int
) -> None:
    """At opening the client may follow one; everything that is asked or written later stays."""
    elsewhere = f"http://127.0.0.1:{clickhouse.port}{{path}}"
    with Recorder(elsewhere, status=status) as server:
        url = f"http://me:s3cret@{server.address}/ragvigil"
        with pytest.raises(NotReadable, match=str(status)):
            list(read_otel_traces(url, 0))
        clients = connect(StoreSettings(url=url), tmp_path)
        try:
            for client in (clients.writer, *clients.pages, clients.jobs):
                with pytest.raises(ClickHouseError, match=str(status)):
                    client.command("SELECT 1")
        finally:
            clients.close()


@pytest.mark.parametrize("status", REDIRECTS)
def test_the_password_of_clickhouse_is_not_redirected(thief: Recorder, status: int) -> None:
    with Recorder(f"http://{thief.address}{{path}}", status=status) as server:
        with pytest.raises(NotReadable):
            list(read_otel_traces(f"http://me:s3cret@{server.address}/otel", 0))
        assert server.tokens
    assert thief.tokens == []
