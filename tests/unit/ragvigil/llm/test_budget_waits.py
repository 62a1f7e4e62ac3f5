"""Money that calls under way only hold is waited for; money that is spent is not."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from ragvigil.llm.client import Client
from ragvigil.llm.outcome import Failure, Purpose, Reply
from ragvigil.llm.spending import Pot
from tests.llm_server import Fault, LlmServer
from tests.patience import PATIENCE_SECONDS
from tests.unit.ragvigil.llm.test_client import GOOD, Grades, asking

QUESTION = "Is it so?"
OUTPUT = 500


@pytest.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer(lambda _: GOOD) as listening:
        yield listening


async def most_tokens(server: LlmServer) -> int:
    """What a question reserves."""
    async with asking(server, max_output_tokens=OUTPUT) as client:
        most = client._endpoint.most_usage(QUESTION, Grades)
    return most.input_tokens + most.output_tokens


def using(tokens: int, seconds: float) -> Fault:
    """A good reply that takes its time and has used so many tokens."""
    message = {"role": "assistant", "content": GOOD}
    body = {
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": tokens - 1, "completion_tokens": 1, "total_tokens": tokens},
    }  # fmt: skip
    return Fault(body=json.dumps(body).encode(), seconds=seconds)


async def ask(client: Client, purpose: Purpose = Purpose.AUDIT) -> Reply[Grades] | Failure:
    return await client.ask(QUESTION, Grades, purpose)


def kinds(outcomes: list[Reply[Grades] | Failure]) -> Counter[str]:
    return Counter(
        outcome.kind if isinstance(outcome, Failure) else "reply" for outcome in outcomes
    )


async def test_every_verdict_that_the_budget_can_pay_comes_though_each_call_holds_twice_its_cost(
    server: LlmServer,
) -> None:
    most = await most_tokens(server)
    used = most // 2
    budget = 4 * used + most  # the fifth call still finds the most that it may cost
    server.every = using(used, seconds=0.05)
    async with asking(
        server, daily_tokens=budget, reserved_share=1, concurrency=10, max_output_tokens=OUTPUT
    ) as client:
        outcomes = await asyncio.gather(*(ask(client) for _ in range(10)))
        spent = client.budget.spent(Pot.RESERVED).tokens
    assert kinds(outcomes) == {"reply": 5, "budget": 5}
    assert spent == 5 * used <= budget
    assert len(server.calls) == 5


async def test_where_spending_alone_forbids_a_call_it_is_refused_while_others_are_under_way(
    server: LlmServer,
) -> None:
    most = await most_tokens(server)
    server.faults = [using(most, seconds=0), using(most, seconds=30)]
    async with asking(
        server, daily_tokens=2 * most, reserved_share=1, max_output_tokens=OUTPUT
    ) as client:
        assert isinstance(await ask(client), Reply)
        slow = asyncio.create_task(ask(client))
        while len(server.calls) < 2:
            await asyncio.sleep(0.01)
        longer = client.ask(QUESTION * 2, Grades, Purpose.AUDIT)
        refused = await asyncio.wait_for(longer, timeout=PATIENCE_SECONDS)
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
    assert kinds([refused]) == {"budget": 1}
    assert refused.attempts == 0


async def test_nobody_waits_past_the_deadline_of_the_question(server: LlmServer) -> None:
    most = await most_tokens(server)
    server.faults = [using(10, seconds=30)]
    async with asking(
        server, daily_tokens=most, reserved_share=1, max_output_tokens=OUTPUT,
        deadline_seconds=0.3,
    ) as client:  # fmt: skip
        outcomes = await asyncio.gather(ask(client), ask(client))
    assert kinds(outcomes) == {"timeout": 1, "budget": 1}
    assert len(server.calls) == 1


async def test_one_pot_does_not_wait_for_what_the_other_holds(server: LlmServer) -> None:
    most = await most_tokens(server)
    server.faults = [using(10, seconds=30)]
    async with asking(
        server, daily_tokens=most, reserved_share=1, max_output_tokens=OUTPUT
    ) as client:
        waiting = asyncio.create_task(ask(client, Purpose.AUDIT))
        while not server.calls:
            await asyncio.sleep(0.01)
        refused = await asyncio.wait_for(ask(client, Purpose.SAMPLE), timeout=5)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert kinds([refused]) == {"budget": 1}


async def test_a_question_that_is_cancelled_while_it_waits_holds_nothing(
    server: LlmServer,
) -> None:
    most = await most_tokens(server)
    server.faults = [using(10, seconds=0.3)]
    async with asking(
        server, daily_tokens=most + 100, reserved_share=1, max_output_tokens=OUTPUT
    ) as client:
        first, second = (asyncio.create_task(ask(client)) for _ in range(2))
        while not server.calls:
            await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        assert isinstance(await first, Reply)
        assert client.budget.spent(Pot.RESERVED).tokens == 10


async def test_a_failure_that_cost_nothing_lets_the_next_one_through(server: LlmServer) -> None:
    most = await most_tokens(server)
    server.faults = [Fault(status=401, seconds=0.1)]
    async with asking(
        server, daily_tokens=most, reserved_share=1, max_output_tokens=OUTPUT
    ) as client:
        outcomes = await asyncio.gather(ask(client), ask(client))
    assert kinds(outcomes) == {"wrong_key": 1, "reply": 1}
