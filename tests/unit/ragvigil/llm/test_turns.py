"""A conversation with tools: paid, bounded and marked like any question."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from ragvigil.llm.client import Client
from ragvigil.llm.conversation import AssistantMessage, Conversation, Exchange, Tool, ToolCall, Turn
from ragvigil.llm.guard import is_own
from ragvigil.llm.outcome import Failure, FailureKind, Purpose, Usage
from ragvigil.llm.spending import Pot
from tests.llm_server import Fault, LlmServer
from tests.tool_turns import calling, calling_anthropic, calling_bedrock
from tests.unit.ragvigil.llm.test_client import Pauses, asking

LOOK = Tool(
    name="look",
    description="Looks.",
    schema={"type": "object", "properties": {"at": {"type": "string"}}},
)
START = Conversation(instructions="Find it.", opening="It is lost.", tools=(LOOK,))
FIRST = {
    "openai:gpt-4.1-mini": calling(("look", {"at": "home"})),
    "anthropic:claude-haiku-4-5": calling_anthropic("look", {"at": "home"}),
    "bedrock:anthropic.claude-3-haiku-20240307-v1:0": calling_bedrock("look", {"at": "home"}),
}


@pytest.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer(lambda _: "found") as listening:
        yield listening


async def turn(client: Client, conversation: Conversation = START, cap: int = 10**6) -> Turn:
    result = await outcome(client, conversation, cap)
    assert isinstance(result, Turn), result
    return result


async def outcome(
    client: Client, conversation: Conversation = START, cap: int = 10**6
) -> Turn | Failure:
    def fits(usage: Usage) -> bool:
        return usage.input_tokens + usage.output_tokens <= cap

    return await client.turn(conversation, Purpose.ROOT_CAUSE, patience_seconds=20, fits=fits)


@pytest.mark.parametrize("model", FIRST)
async def test_what_a_tool_answered_goes_back_under_the_id_of_its_call(
    server: LlmServer, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if model.startswith("bedrock"):
        pytest.importorskip("boto3")
        for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
            monkeypatch.setenv(f"AWS_{name}", "a")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    server.faults += [FIRST[model], FIRST[model]]
    async with asking(server, model=model) as client:
        first = await turn(client)
        exchange = Exchange(message=first.message, answers=("not there",))
        await turn(client, replace(START, exchanges=(exchange,)))
        spent = client.budget.spent(Pot.RESERVED).tokens
    assert first.message.calls == (
        ToolCall(call_id="call-0", tool="look", arguments={"at": "home"}),
    )
    assert (first.usage, spent) == (Usage(input_tokens=99, output_tokens=1), 200)
    body = json.dumps(server.calls[1].body)
    for part in ("Find it.", "It is lost.", "not there", "call-0", "home"):
        assert part in body
    if not model.startswith("bedrock"):
        assert is_own(server.calls[1].headers["traceparent"].split("-")[1])


async def test_a_turn_without_a_call_is_a_turn(server: LlmServer) -> None:
    server.faults += [calling(text="I think so."), calling(text="")]
    async with asking(server) as client:
        first = await turn(client)
        empty = await turn(client)
        exchanges = tuple(
            Exchange(message=turn.message, answers=("Go on.",)) for turn in (first, empty)
        )
        server.faults.append(calling(text="ok"))
        await turn(client, replace(START, exchanges=exchanges))
    assert (first.message.text, first.message.calls) == ("I think so.", ())
    roles = [message["role"] for message in server.calls[2].body["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


@pytest.mark.parametrize("arguments", ["{", '["home"]', "home", '{"at": '])
async def test_arguments_that_are_no_object_are_none_and_go_back_as_an_empty_one(
    server: LlmServer, arguments: str
) -> None:
    server.faults += [calling(("look", arguments)), calling(text="ok")]
    async with asking(server) as client:
        first = await turn(client)
        exchange = Exchange(message=first.message, answers=("Call it again.",))
        await turn(client, replace(START, exchanges=(exchange,)))
    assert first.message.calls[0].arguments is None
    (call,) = server.calls[1].body["messages"][2]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {}


async def test_a_name_that_no_server_takes_back_goes_back_as_one_that_it_does(
    server: LlmServer,
) -> None:
    server.faults += [calling(("functions.look é" + "x" * 99, {})), calling(text="ok")]
    async with asking(server) as client:
        first = await turn(client)
        exchange = Exchange(message=first.message, answers=("No such tool.",))
        await turn(client, replace(START, exchanges=(exchange,)))
    (call,) = server.calls[1].body["messages"][2]["tool_calls"]
    assert call["function"]["name"] == ("functions_look__" + "x" * 99)[:64]


async def test_what_does_not_fit_the_run_is_not_sent(server: LlmServer) -> None:
    async with asking(server, max_output_tokens=500) as client:
        result = await outcome(client, cap=500)
    assert isinstance(result, Failure)
    assert (result.kind, result.usage, server.calls) == (FailureKind.BUDGET, Usage(), [])


async def test_a_retry_must_fit_beside_what_the_turn_has_cost_already(server: LlmServer) -> None:
    paid = Fault(body=b"[]")  # an answer of another protocol: nobody knows what it used
    server.faults += [paid, paid]
    async with asking(server, max_output_tokens=500) as client:
        most = client._endpoint.most_of(START)
        result = await outcome(client, cap=2 * (most.input_tokens + most.output_tokens) - 1)
    assert isinstance(result, Failure)
    assert (result.kind, len(server.calls)) == (FailureKind.BUDGET, 1)
    assert result.usage.assumed


async def test_what_the_day_cannot_pay_is_not_sent(server: LlmServer) -> None:
    async with asking(server, daily_tokens=1000) as client:
        result = await outcome(client)
    assert isinstance(result, Failure)
    assert (result.kind, server.calls) == (FailureKind.BUDGET, [])


async def test_what_passes_is_asked_again(server: LlmServer) -> None:
    server.faults += [Fault(status=500), FIRST["openai:gpt-4.1-mini"]]
    pauses = Pauses()
    async with asking(server, pauses=pauses) as client:
        result = await turn(client)
    assert (result.attempts, len(pauses)) == (2, 1)


FAULTS = [
    (Fault(status=429), FailureKind.RATE_LIMITED),
    (Fault(status=401), FailureKind.WRONG_KEY),
    (Fault(status=400, message="this model does not support tools"), FailureKind.REJECTED),
    (Fault(body=b"not json"), FailureKind.UNPARSEABLE),
    (Fault(is_reset=True), FailureKind.UNAVAILABLE),
    (Fault(seconds=3), FailureKind.TIMEOUT),
    (Fault(body_bytes=4 << 20), FailureKind.TOO_LARGE),
]


@pytest.mark.parametrize(("fault", "kind"), FAULTS, ids=str)
async def test_a_fault_is_a_failure_of_its_kind(
    server: LlmServer, fault: Fault, kind: FailureKind
) -> None:
    server.every = fault
    async with asking(server, timeout_seconds=0.5) as client:
        result = await outcome(client)
    assert isinstance(result, Failure)
    assert result.kind == kind


def test_no_conversation_has_more_tokens_than_it_is_taken_for() -> None:
    said = AssistantMessage(text="é" * 100, calls=(), model="m", usage=None, ended="stop")
    full = replace(START, exchanges=(Exchange(message=said, answers=("ü" * 1000,)),))
    assert full.most_input_tokens > START.most_input_tokens + 2 * 1100
