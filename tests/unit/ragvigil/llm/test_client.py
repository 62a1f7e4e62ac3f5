"""Every question ends in an answer or a named failure, whatever the provider does."""

from __future__ import annotations

import asyncio
import gzip
import random
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import context
from prometheus_client import REGISTRY
from pydantic import BaseModel, ConfigDict, Field

from ragvigil.llm.client import Client, open_client
from ragvigil.llm.guard import is_own
from ragvigil.llm.outcome import Failure, FailureKind, Purpose, Reply
from ragvigil.llm.provider import NotConfigured
from ragvigil.llm.settings import LlmSettings
from ragvigil.llm.spending import Pot
from tests.certificates import self_signed
from tests.llm_server import Fault, LlmServer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GOOD = '{"verdicts": ["yes"], "score": 0.5}'
MODELS = ["openai:gpt-4.1-mini", "anthropic:claude-haiku-4-5", "anthropic:claude-3-haiku-20240307"]
"""The third has no strict schema: it is asked through a tool."""


class Grades(BaseModel):
    """What the judge is asked for."""

    model_config = ConfigDict(extra="forbid")

    verdicts: list[str]
    score: float = Field(ge=0, le=1)


class Pauses(list[float]):
    """Takes the place of sleeping, and notes for how long."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@asynccontextmanager
async def asking(
    server: LlmServer, *, model: str = MODELS[0], pauses: Pauses | None = None,
    folder: Path | None = None, **given: Any,
) -> AsyncIterator[Client]:  # fmt: skip
    """A client of the server that waits for nothing but replies."""
    settings: dict[str, Any] = {"timeout_seconds": 5, "breaker_failures": 1000, "retries": 1}
    address = server.openai if model.startswith("openai") else server.anthropic
    client = open_client(
        LlmSettings(model=model, **({"base_url": address} | settings | given)),
        folder,
        clock=NOON.timestamp,
        chance=random.Random(7),
        sleep=Pauses() if pauses is None else pauses,
    )
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer(lambda _: GOOD) as listening:
        yield listening


async def failure(client: Client) -> Failure:
    outcome = await client.ask("Is it so?", Grades, Purpose.SAMPLE)
    assert isinstance(outcome, Failure), outcome
    return outcome


@pytest.mark.parametrize("model", MODELS)
async def test_a_good_reply_is_an_answer_with_its_usage(server: LlmServer, model: str) -> None:
    async with asking(server, model=model) as client:
        for _ in range(2):
            reply = await client.ask("Is it so?", Grades, Purpose.SAMPLE)
            assert isinstance(reply, Reply)
            assert reply.answer == Grades(verdicts=["yes"], score=0.5)
            assert (reply.attempts, reply.is_cached, reply.usage.assumed) == (1, False, False)
            used = reply.usage.input_tokens + reply.usage.output_tokens
    assert used == server.tokens // 2
    first, second = server.calls
    assert first.body == second.body
    assert first.body["temperature"] == 0
    assert first.prompt == "Is it so?"
    assert is_own(first.headers["traceparent"].split("-")[1])


async def test_the_form_travels_as_a_strict_schema(server: LlmServer) -> None:
    for model in MODELS:
        async with asking(server, model=model) as client:
            await client.ask("Is it so?", Grades, Purpose.SAMPLE)
    openai, anthropic, by_tool = (call.body for call in server.calls)
    assert openai["response_format"]["json_schema"]["strict"] is True
    assert anthropic["output_config"]["format"]["type"] == "json_schema"
    assert by_tool["tool_choice"] == {"type": "any"}
    for schema in (
        openai["response_format"]["json_schema"]["schema"],
        anthropic["output_config"]["format"]["schema"],
        by_tool["tools"][0]["input_schema"],
    ):
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == {"verdicts", "score"}


FAULTS: list[tuple[Fault, FailureKind, int]] = [
    (Fault(status=429, code="rate_limit_exceeded"), FailureKind.RATE_LIMITED, 2),
    (Fault(status=402, code="billing_error"), FailureKind.QUOTA, 1),
    (Fault(status=500), FailureKind.UNAVAILABLE, 2),
    (Fault(status=503), FailureKind.UNAVAILABLE, 2),
    (Fault(status=529, code="overloaded_error"), FailureKind.UNAVAILABLE, 2),
    (Fault(status=401, code="authentication_error"), FailureKind.WRONG_KEY, 1),
    (Fault(status=404, code="model_not_found"), FailureKind.NO_MODEL, 1),
    (Fault(status=400, code="invalid_request_error"), FailureKind.REJECTED, 1),
    (Fault(status=413, code="request_too_large"), FailureKind.CONTEXT, 1),
    (Fault(status=400, code="content_filter"), FailureKind.REFUSED, 1),
    (Fault(is_reset=True), FailureKind.UNAVAILABLE, 2),
    (Fault(is_cut=True), FailureKind.UNAVAILABLE, 2),
    (Fault(is_refusal=True), FailureKind.REFUSED, 1),
    (Fault(is_truncated=True), FailureKind.CUT_OFF, 1),
    (Fault(text="I think that it is so."), FailureKind.UNPARSEABLE, 2),
    (Fault(text=GOOD[:-1]), FailureKind.UNPARSEABLE, 2),
    (Fault(text='{"score": 0.5}'), FailureKind.UNPARSEABLE, 2),
    (Fault(text=GOOD.replace("0.5", "11")), FailureKind.INVALID, 1),
    (Fault(text=GOOD.replace("0.5", "NaN")), FailureKind.INVALID, 1),
    (Fault(text=""), FailureKind.UNPARSEABLE, 2),
    (Fault(body=b"<html>a proxy's page</html>"), FailureKind.UNPARSEABLE, 2),
    (Fault(body=b""), FailureKind.UNPARSEABLE, 2),
    (Fault(status=302, headers={"location": "/elsewhere"}), FailureKind.UNPARSEABLE, 2),
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("fault", "kind", "calls"), FAULTS, ids=str)
async def test_every_fault_is_a_named_failure(
    server: LlmServer, model: str, fault: Fault, kind: FailureKind, calls: int
) -> None:
    server.every = fault
    async with asking(server, model=model) as client:
        outcome = await failure(client)
    assert (outcome.kind, outcome.attempts) == (kind, calls)
    assert len(server.calls) == calls
    assert "repeats the prompt" not in outcome.detail


@pytest.mark.parametrize(
    ("model", "fault", "kind"),
    [
        (MODELS[0], Fault(status=429, code="insufficient_quota"), FailureKind.QUOTA),
        (MODELS[0], Fault(status=400, code="context_length_exceeded"), FailureKind.CONTEXT),
        (
            MODELS[1],
            Fault(
                status=400,
                code="invalid_request_error",
                message="prompt is too long: 250000 tokens > 200000 maximum",
            ),
            FailureKind.CONTEXT,
        ),
    ],
    ids=str,
)
async def test_what_a_provider_says_in_its_own_words_is_understood(
    server: LlmServer, model: str, fault: Fault, kind: FailureKind
) -> None:
    server.every = fault
    async with asking(server, model=model) as client:
        outcome = await failure(client)
    assert (outcome.kind, outcome.attempts) == (kind, 1)


@pytest.mark.parametrize("model", MODELS)
async def test_a_fenced_reply_is_an_answer(server: LlmServer, model: str) -> None:
    server.every = Fault(text=f"```json\n{GOOD}\n```")
    async with asking(server, model=model) as client:
        assert isinstance(await client.ask("?", Grades, Purpose.SAMPLE), Reply)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "fault", [Fault(seconds=30), Fault(drip_seconds=0.2)], ids=["slow", "drip"]
)
async def test_a_reply_that_is_not_whole_in_time_is_a_timeout(
    server: LlmServer, model: str, fault: Fault
) -> None:
    server.every = fault
    async with asking(server, model=model, timeout_seconds=0.3) as client:
        outcome = await failure(client)
    assert (outcome.kind, len(server.calls)) == (FailureKind.TIMEOUT, 2)
    assert outcome.usage.assumed


async def test_the_deadline_ends_a_question_however_many_retries_are_left(
    server: LlmServer,
) -> None:
    server.every = Fault(drip_seconds=0.2)
    async with asking(server, timeout_seconds=0.3, deadline_seconds=0.5, retries=20) as client:
        outcome = await failure(client)
    assert outcome.kind is FailureKind.TIMEOUT
    assert outcome.attempts <= 3


async def test_the_deadline_ends_an_attempt_that_would_still_have_time(server: LlmServer) -> None:
    server.every = Fault(seconds=4)
    async with asking(server, deadline_seconds=0.3) as client:
        assert (await failure(client)).kind is FailureKind.TIMEOUT


async def test_a_call_is_not_traced_within_this_process(server: LlmServer) -> None:
    seen = []

    async def look(_: object) -> None:
        seen.append(context.get_value("suppress_instrumentation"))

    async with asking(server) as client:
        client._endpoint._http.event_hooks["request"].append(look)
        await client.ask("?", Grades, Purpose.SAMPLE)
    assert seen == [True]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "undeclared"])
async def test_a_body_of_50_mb_is_not_read(
    server: LlmServer, model: str, is_declared: bool
) -> None:
    headers = {} if is_declared else {"content-length": ""}
    server.every = Fault(body_bytes=50 << 20, headers=headers)
    async with asking(server, model=model) as client:
        outcome = await failure(client)
    assert (outcome.kind, len(server.calls)) == (FailureKind.TOO_LARGE, 1)
    assert server.bytes_sent < 16 << 20  # the bound and what the sockets hold


async def test_a_compressed_body_is_not_unpacked(server: LlmServer) -> None:
    packed = gzip.compress(b" " * (50 << 20))
    server.every = Fault(body=packed, headers={"content-encoding": "gzip"})
    async with asking(server) as client:
        assert (await failure(client)).kind is FailureKind.TOO_LARGE
    assert server.calls[0].headers["accept-encoding"] == "identity"


GARBAGE = [
    b"null", b"[]", b"{}", b"1", b'"x"', b"\xff\xfe", b"[" * 50_000,
    b'{"choices": null}', b'{"choices": []}', b'{"choices": [{}]}', b'{"choices": 5}',
    b'{"choices": [{"message": null, "finish_reason": "stop", "index": 0}]}',
    b'{"choices": [{"message": {"role": "assistant", "content": 5}, "index": 0}]}',
    b'{"choices": [{"message": {"role": "x", "content": "{}"}}], "usage": "much"}',
    b'{"content": null}', b'{"content": [5]}', b'{"content": [{"type": "text", "text": null}]}',
    b'{"content": [{"type": "text", "text": "{}"}], "usage": null, "stop_reason": 5}',
    b'{"content": [{"type": "tool_use"}], "usage": {"input_tokens": "x"}}',
    b'{"error": "x"}', b'{"type": "error", "error": null}',
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
async def test_no_body_makes_asking_raise(server: LlmServer, model: str) -> None:
    async with asking(server, model=model, retries=0) as client:
        for status in (200, 400, 500):
            for body in GARBAGE:
                server.every = Fault(body=body, status=status)
                outcome = await client.ask("Is it so?", Grades, Purpose.SAMPLE)
                assert isinstance(outcome, Failure), body
                if status == 200:
                    assert outcome.kind is FailureKind.UNPARSEABLE, body


async def test_a_usage_that_cannot_be_true_is_taken_as_the_most_that_it_could_be(
    server: LlmServer,
) -> None:
    body = (
        '{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index":'
        ' 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}}], '
        '"usage": {"prompt_tokens": %d, "completion_tokens": %d, "total_tokens": 1}}'
    )
    async with asking(server, retries=0) as client:
        for told in ((-5, 1), (5, -1000), (10**30, 1), (1, 10**30), (0, 0)):
            before = client.budget.spent(Pot.SAMPLE).tokens
            server.every = Fault(body=(body % told).encode())
            outcome = await failure(client)
            assert outcome.usage.assumed, told
            assert client.budget.spent(Pot.SAMPLE).tokens - before > 4000


async def test_a_host_that_is_not_known_is_named_and_costs_nothing() -> None:
    settings = LlmSettings.model_validate(
        {"model": MODELS[0], "base_url": "http://no-such-host.invalid/v1", "retries": 0}
    )
    client = open_client(settings)
    outcome = await failure(client)
    assert (outcome.kind, outcome.usage.output_tokens) == (FailureKind.NO_ADDRESS, 0)
    assert outcome.detail == "the connection failed: the host's name is not known"
    await client.close()


async def test_tls_to_a_server_without_it_is_named() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listening = await asyncio.start_server(refuse, "127.0.0.1", 0)
    outcome = await failure_over_tls(listening)
    assert outcome.kind is FailureKind.TLS
    assert outcome.detail.startswith("the connection failed: TLS: ")


async def test_a_certificate_that_nobody_vouches_for_is_named(tmp_path: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(self_signed(tmp_path, "judge").pem)
    listening = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=tls)
    outcome = await failure_over_tls(listening)
    assert outcome.kind is FailureKind.TLS
    assert outcome.detail == "the connection failed: certificate: self-signed certificate"


async def failure_over_tls(listening: asyncio.Server) -> Failure:
    port = listening.sockets[0].getsockname()[1]
    settings = LlmSettings.model_validate(
        {"model": MODELS[0], "base_url": f"https://127.0.0.1:{port}/v1", "retries": 0}
    )
    client = open_client(settings)
    outcome = await failure(client)
    listening.close()
    await client.close()
    return outcome


async def test_a_proxy_of_the_environment_is_used(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.anthropic)
    async with asking(server, base_url="http://judge.invalid/v1") as client:
        assert isinstance(await client.ask("?", Grades, Purpose.SAMPLE), Reply)
    assert server.calls[0].path == "http://judge.invalid/v1/chat/completions"


async def test_calls_failures_tokens_money_and_cache_hits_are_counted(server: LlmServer) -> None:
    def count(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    canary = {"purpose": "canary"}
    names: list[tuple[str, dict[str, str]]] = [
        ("ragvigil_llm_calls_total", canary),
        ("ragvigil_llm_cache_hits_total", canary),
        ("ragvigil_llm_failures_total", canary | {"kind": "rate_limited"}),
        ("ragvigil_llm_failures_total", canary | {"kind": "invalid"}),
        ("ragvigil_llm_attempts_total", {"result": "rate_limited"}),
        ("ragvigil_llm_repairs_total", {}),
        ("ragvigil_llm_tokens_total", canary | {"kind": "input"}),
        ("ragvigil_llm_tokens_total", canary | {"kind": "output"}),
        ("ragvigil_llm_tokens_total", canary | {"kind": "assumed"}),
    ]
    before = [count(name, **labels) for name, labels in names]
    money = count("ragvigil_llm_dollars_total", **canary)
    prices = {"openai:mine": {"input": 1e6, "output": 1e6}}
    async with asking(server, model="openai:mine", prices=prices) as client:
        ask = partial(client.ask, "Is it so?", Grades, Purpose.CANARY)
        bad = [Fault(text=GOOD.replace("0.5", "7")), Fault(text="")]
        server.faults = [Fault(status=429), Fault(status=429), *bad]
        for key in ("a", "b", "c", "c"):
            await ask(key=key)
        spent = client.budget.spent(Pot.RESERVED)
    after = [count(name, **labels) for name, labels in names]
    counted = [int(new - old) for old, new in zip(before, after, strict=True)]
    assert counted[:6] == [4, 1, 1, 1, 2, 1]
    assert sum(counted[6:8]) == spent.tokens == server.tokens
    assert counted[8] == 0
    assert count("ragvigil_llm_dollars_total", **canary) - money == pytest.approx(spent.tokens)


async def test_an_endpoint_that_nobody_listens_on_is_unavailable_and_costs_nothing() -> None:
    async with LlmServer(lambda _: GOOD) as gone:
        pass
    async with asking(gone) as client:
        outcome = await failure(client)
        assert (outcome.kind, outcome.attempts) == (FailureKind.UNAVAILABLE, 2)
        assert client.budget.spent(Pot.SAMPLE).tokens == 0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("status", [429, 503])
async def test_both_forms_of_retry_after_are_honoured(
    server: LlmServer, model: str, status: int
) -> None:
    date = format_datetime(NOON + timedelta(seconds=7), usegmt=True)
    server.faults = [Fault(status=status, headers={"retry-after": it}) for it in ("7", date)]
    pauses = Pauses()
    async with asking(server, model=model, pauses=pauses, retries=2) as client:
        assert isinstance(await client.ask("?", Grades, Purpose.SAMPLE), Reply)
    assert [7 <= pause <= 7.7 for pause in pauses] == [True, True]


async def test_an_asked_pause_is_capped_and_one_beyond_the_deadline_is_not_waited(
    server: LlmServer,
) -> None:
    server.faults = [Fault(status=429, headers={"retry-after": "3600"})] * 2
    pauses = Pauses()
    async with asking(server, pauses=pauses, retry_seconds=9) as client:
        await failure(client)
    assert pauses == [9]
    server.faults = [Fault(status=429, headers={"retry-after": "60"})]
    async with asking(server, pauses=pauses, retry_seconds=90, deadline_seconds=50) as client:
        assert (await failure(client)).kind is FailureKind.RATE_LIMITED
    assert pauses == [9]


async def test_a_fault_that_passes_costs_an_attempt_and_not_the_answer(server: LlmServer) -> None:
    server.faults = [Fault(status=500), Fault(is_reset=True), Fault(status=429)]
    async with asking(server, retries=3) as client:
        reply = await client.ask("?", Grades, Purpose.SAMPLE)
    assert isinstance(reply, Reply)
    assert reply.attempts == 4


@pytest.mark.parametrize("model", MODELS)
async def test_a_malformed_reply_is_asked_for_once_more_with_the_reason_after_the_prompt(
    server: LlmServer, model: str
) -> None:
    server.faults = [Fault(text='{"score": 0.5}')]
    async with asking(server, model=model) as client:
        reply = await client.ask("Is it so?", Grades, Purpose.SAMPLE)
    assert isinstance(reply, Reply)
    repair = server.calls[1].prompt
    assert repair.startswith("Is it so?\n\nAn earlier reply")
    assert "verdicts: missing" in repair


async def test_the_breaker_leaves_a_failing_endpoint_alone(server: LlmServer) -> None:
    server.every = Fault(status=500)
    async with asking(server, breaker_failures=4, retries=1) as client:
        kinds = [(await failure(client)).kind for _ in range(5)]
        assert client.budget.spent(Pot.SAMPLE).tokens == 0
    assert kinds == [FailureKind.UNAVAILABLE] * 2 + [FailureKind.BREAKER_OPEN] * 3
    assert len(server.calls) == 4


@pytest.mark.parametrize(
    ("fault", "opens"),
    [
        (Fault(is_refusal=True), False),
        (Fault(text="x"), False),
        (Fault(status=400, code="invalid_request_error"), False),
        (Fault(status=413), False),
        (Fault(status=401, code="invalid_api_key"), True),
        (Fault(status=404, code="model_not_found"), True),
        (Fault(status=429), True),
        (Fault(is_reset=True), True),
        (Fault(body=b"<html>"), True),
    ],
    ids=str,
)
async def test_what_speaks_against_the_endpoint_opens_the_breaker_and_a_bad_reply_does_not(
    server: LlmServer, fault: Fault, opens: bool
) -> None:
    server.every = fault
    async with asking(server, breaker_failures=3) as client:
        kinds = [(await failure(client)).kind for _ in range(4)]
    assert (FailureKind.BREAKER_OPEN in kinds) is opens


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "fault",
    [
        None,
        Fault(text="x"),
        Fault(status=500),
        Fault(is_reset=True),
        Fault(is_cut=True),
        Fault(seconds=1),
        Fault(body_bytes=5 << 20),
        Fault(is_without_usage=True),
        Fault(is_truncated=True),
    ],
    ids=str,
)
async def test_the_provider_never_sees_more_tokens_than_the_budget(
    server: LlmServer, model: str, fault: Fault | None
) -> None:
    server.every = fault
    budget = 15_000
    async with asking(
        server, model=model, daily_tokens=budget, reserved_share=0, timeout_seconds=0.3,
        max_output_tokens=500, concurrency=8,
    ) as client:  # fmt: skip
        client.budget.pace([1.0] + [0.0] * 23)
        outcomes = await asyncio.gather(
            *(client.ask("Is it so? " * 50, Grades, Purpose.SAMPLE) for _ in range(150))
        )
        spent = client.budget.spent(Pot.SAMPLE).tokens
    assert server.tokens <= spent <= budget
    refused = [
        outcome for outcome in outcomes if isinstance(outcome, Failure) and outcome.kind == "budget"
    ]
    assert refused or fault == Fault(status=500)
    assert all(failure.attempts <= 1 for failure in refused)


async def test_money_is_spent_by_the_price_of_the_model(server: LlmServer) -> None:
    prices = {"openai:mine": {"input": 1_000.0, "output": 10_000.0}}
    async with asking(server, model="openai:mine", prices=prices, daily_money=1000.0) as client:
        reply = await client.ask("Is it so?", Grades, Purpose.AUDIT)
        assert isinstance(reply, Reply)
        cost = (reply.usage.input_tokens + 10 * reply.usage.output_tokens) / 1000
        assert client.budget.spent(Pot.RESERVED).money == pytest.approx(cost)


async def test_a_question_that_comes_again_costs_no_call_even_after_a_restart(
    server: LlmServer, tmp_path: Path
) -> None:
    for is_cached in (False, True):
        async with asking(server, folder=tmp_path) as client:
            reply = await client.ask("Is it so?", Grades, Purpose.SAMPLE, key="k")
            assert isinstance(reply, Reply)
            assert reply.is_cached is is_cached
            assert reply.answer == Grades(verdicts=["yes"], score=0.5)
    assert len(server.calls) == 1
    async with asking(server, folder=tmp_path) as client:
        await client.ask("Is it so?", Grades, Purpose.SAMPLE)
        await client.ask("Is it so?", Grades, Purpose.SAMPLE, key="another")
    assert len(server.calls) == 3


async def test_a_failure_is_not_kept_and_a_reply_to_another_form_is_no_answer(
    server: LlmServer,
) -> None:
    class Other(BaseModel):
        other: str

    server.faults = [Fault(is_refusal=True)]
    async with asking(server) as client:
        await client.ask("?", Grades, Purpose.SAMPLE, key="k")
        assert isinstance(await client.ask("?", Grades, Purpose.SAMPLE, key="k"), Reply)
        server.every = Fault(text='{"other": "x"}')
        reply = await client.ask("?", Other, Purpose.SAMPLE, key="k")
        assert isinstance(reply, Reply)
        assert not reply.is_cached


async def test_no_more_than_concurrency_questions_are_under_way_at_a_time(
    server: LlmServer,
) -> None:
    under_way = most = 0
    served = server._served

    async def counted(*connection: Any) -> bool:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await served(*connection)
        finally:
            under_way -= 1

    server._served = counted  # type: ignore[method-assign]
    server.every = Fault(seconds=0.02)
    async with asking(server, concurrency=3) as client:
        await asyncio.gather(*(client.ask("?", Grades, Purpose.SAMPLE) for _ in range(20)))
    assert most == 3


async def test_a_question_that_is_cancelled_is_paid_for_and_leaves_its_place(
    server: LlmServer,
) -> None:
    server.faults = [Fault(seconds=30)]
    async with asking(server, concurrency=1, breaker_failures=1) as client:
        task = asyncio.create_task(client.ask("?", Grades, Purpose.SAMPLE))
        while not server.calls:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert client.budget.spent(Pot.SAMPLE).tokens > 2000
        assert isinstance(await client.ask("?", Grades, Purpose.SAMPLE), Reply)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "no model is configured"),
        ({"model": "openai:m"}, "a key is missing: key_file, or OPENAI_API_KEY in the environment"),
        ({"model": "anthropic:m"}, "a key is missing: key_file, or ANTHROPIC_API_KEY in the"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_sentence(
    settings: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(NotConfigured, match=sentence):
        open_client(LlmSettings(**settings))


@pytest.mark.parametrize(
    ("model", "header"), [("openai:m", "authorization"), ("anthropic:m", "x-api-key")]
)
async def test_the_key_goes_to_the_provider_and_nowhere_else(
    server: LlmServer, model: str, header: str
) -> None:
    async with asking(server, model=model, key="sk-ant-api03-secret") as client:
        server.faults = [Fault(status=401, code="Incorrect key sk-ant-api03-secret")] * 2
        outcome = await failure(client)
    sent = server.calls[0].headers
    assert "sk-ant-api03-secret" in sent.get(header, "") + sent.get("authorization", "")
    assert outcome.detail == "HTTP 401"


async def test_bedrock_is_asked_through_its_own_protocol(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("boto3")
    for name, value in (
        ("ACCESS_KEY_ID", "a"),
        ("SECRET_ACCESS_KEY", "b"),
        ("REGION", "eu-west-1"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    faults: list[tuple[Fault, FailureKind]] = [
        (Fault(status=500), FailureKind.UNAVAILABLE),
        (Fault(status=429, code="ThrottlingException"), FailureKind.RATE_LIMITED),
        (Fault(is_refusal=True), FailureKind.REFUSED),
        (Fault(body=b"<html>"), FailureKind.UNPARSEABLE),
        (Fault(is_reset=True), FailureKind.UNAVAILABLE),
    ]
    model = "bedrock:anthropic.claude-3-haiku-20240307-v1:0"
    async with asking(server, model=model) as client:
        reply = await client.ask("Is it so?", Grades, Purpose.SAMPLE)
        assert isinstance(reply, Reply)
        assert reply.answer.score == 0.5
        assert server.calls[0].body["inferenceConfig"]["temperature"] == 0
        for fault, kind in faults:
            server.every = fault
            assert (await failure(client)).kind is kind, fault
