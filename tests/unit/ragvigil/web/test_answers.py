"""Reads of the API: shared, kept, refused where the wait is long, given up with their client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import httpx2
import pytest
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragvigil.model.token import bearer
from ragvigil.store.engine.errors import Abandoned
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.web import metrics
from ragvigil.web.answers import AT_ONCE, Answers
from ragvigil.web.identity import LOCAL, Person, Role
from ragvigil.web.turns import MOST_WAIT_SECONDS, Busy, Turns
from tests.occupied import occupied

ROUTES = ("why", "traces", "issues")


@dataclass
class Desk:
    """An application whose answer is how often it was asked; it answers when the gate is open."""

    asked: int = 0
    takes_seconds: float = 0.0
    now: float = 1000.0
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    status: int = 200
    read: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        self.gate.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        reply = JSONResponse({"number": self.asked}, self.status)
        if scope["method"] == "GET":
            if self.read:
                await run_in_threadpool(self.read)
            await self.gate.wait()
            self.now += self.takes_seconds
        await reply(scope, receive, send)

    def client(self, *, keep_seconds: float = 5.0, **tokens: Role) -> httpx2.AsyncClient:
        answers = Answers(
            self,
            routes=ROUTES,
            keep_seconds=keep_seconds,
            now=lambda: self.now,
            clock=lambda: self.now,
        )
        asked = as_people(answers, tokens)
        return httpx2.AsyncClient(transport=httpx2.ASGITransport(asked), base_url="http://desk")


def as_people(answers: Answers, tokens: Mapping[str, Role]) -> ASGIApp:
    """Says who asks, as the guard does: a token is the name of its person."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        name = bearer(Headers(scope=scope).get("authorization", ""))
        known = Person(name=name, role=tokens[name]) if name in tokens else None
        scope["state"] = {"person": known if tokens else LOCAL}
        await answers(scope, receive, send)

    return guarded


async def numbers(*requests: Awaitable[httpx2.Response]) -> list[int]:
    return [reply.json()["number"] for reply in await asyncio.gather(*requests)]


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


async def test_fifty_who_ask_at_the_same_time_get_one_answer() -> None:
    desk = Desk()
    desk.gate.clear()
    client = desk.client(keep_seconds=0)
    fifty = [client.get("/api/v1/why") for _ in range(50)]
    asking = asyncio.create_task(numbers(*fifty))
    await until(lambda: desk.asked == 1)
    desk.gate.set()
    assert await asking == [1] * 50


async def test_other_parameters_and_roles_are_other_answers() -> None:
    desk = Desk()
    desk.gate.clear()
    client = desk.client(one=Role.READER, two=Role.ADMIN)
    headers = [{"authorization": f"Bearer {token}"} for token in ("one", "two")]
    asking = asyncio.create_task(
        numbers(
            client.get("/api/v1/why", headers=headers[0]),
            client.get("/api/v1/why", headers=headers[1]),
            client.get("/api/v1/why?route=/ask", headers=headers[0]),
        )
    )
    await until(lambda: desk.asked == 3)
    desk.gate.set()
    assert sorted(await asking) == [1, 2, 3]


async def test_people_of_a_role_share_summaries_and_nothing_else() -> None:
    desk = Desk()
    client = desk.client(ada=Role.READER, bob=Role.READER)
    headers = [{"authorization": f"Bearer {token}"} for token in ("ada", "bob")]
    for path, expected in (("/api/v1/why", 1), ("/api/v1/traces/ab", 2)):
        desk.asked = 0
        desk.gate.clear()
        asking = asyncio.create_task(numbers(*(client.get(path, headers=each) for each in headers)))
        await until(lambda expected=expected: desk.asked == expected)  # type: ignore[misc]
        desk.gate.set()
        assert max(await asking) == expected


async def test_an_act_of_a_page_makes_kept_answers_old() -> None:
    desk = Desk(takes_seconds=1.0)
    client = desk.client()
    await client.get("/api/v1/why")
    await client.post("/incidents/abc/acknowledge")
    assert (await client.get("/api/v1/why")).json()["number"] == 3


async def test_a_slow_answer_is_kept_and_says_of_when_it_is() -> None:
    desk = Desk(takes_seconds=1.0)
    client = desk.client()
    first = await client.get("/api/v1/why")
    desk.now += 3.9
    again = await client.get("/api/v1/why")
    assert first.json() == again.json() == {"number": 1}
    assert first.headers["last-modified"] == "Thu, 01 Jan 1970 00:16:40 GMT"
    assert again.headers["last-modified"] == first.headers["last-modified"]
    assert desk.asked == 1


async def test_nobody_waits_while_a_kept_answer_is_made_anew() -> None:
    desk = Desk(takes_seconds=1.0)
    client = desk.client()
    await client.get("/api/v1/why")
    desk.now += 4.1
    desk.gate.clear()
    assert await numbers(*(client.get("/api/v1/why") for _ in range(3))) == [1, 1, 1]
    desk.gate.set()
    await until(lambda: desk.now > 1006)
    assert await numbers(client.get("/api/v1/why")) == [2]
    assert desk.asked == 2


async def test_no_answer_is_kept_for_longer_than_it_may() -> None:
    desk = Desk(takes_seconds=10.0)
    client = desk.client(keep_seconds=5.0)
    assert await numbers(client.get("/api/v1/why")) == [1]
    desk.now += 15.1
    assert await numbers(client.get("/api/v1/why")) == [2]


@pytest.mark.parametrize(("path", "status"), [("why", 503), ("traces/1", 200)])
async def test_neither_an_error_nor_one_trace_is_kept(path: str, status: int) -> None:
    desk = Desk(takes_seconds=1.0, status=status)
    client = desk.client()
    await client.get(f"/api/v1/{path}")
    assert await numbers(client.get(f"/api/v1/{path}")) == [2]


async def test_who_has_written_reads_what_was_written() -> None:
    desk = Desk(takes_seconds=1.0)
    client = desk.client()
    await client.get("/api/v1/issues")
    await client.post("/api/v1/issues/1/resolve", json={})
    assert await numbers(client.get("/api/v1/issues")) == [3]


async def test_an_answer_begun_before_a_write_is_not_for_those_who_ask_after_it() -> None:
    desk = Desk()
    desk.gate.clear()
    client = desk.client()
    before = asyncio.create_task(numbers(client.get("/api/v1/issues")))
    await until(lambda: desk.asked == 1)
    await client.post("/api/v1/issues/1/resolve", json={})
    after = asyncio.create_task(numbers(client.get("/api/v1/issues")))
    await until(lambda: desk.asked == 3)
    desk.gate.set()
    assert (await before, await after) == ([1], [3])


async def test_feedback_leaves_summaries_as_they_are() -> None:
    desk = Desk(takes_seconds=1.0)
    client = desk.client()
    await client.get("/api/v1/why")
    await client.post("/api/v1/feedback", json={})
    assert await numbers(client.get("/api/v1/why")) == [1]


async def test_a_refused_write_and_a_head_leave_kept_answers_alone() -> None:
    desk = Desk(takes_seconds=1.0)
    client = desk.client()
    await client.get("/api/v1/why")
    await client.head("/api/v1/why")
    desk.status = 403
    await client.post("/api/v1/issues/1/resolve", json={})
    assert await numbers(client.get("/api/v1/why")) == [1]


async def test_a_wait_over_five_seconds_is_refused_at_once_and_says_when_to_come_back() -> None:
    desk = Desk(takes_seconds=40.0)
    client = desk.client()
    await client.get("/api/v1/why")  # now its answers are known to take long
    desk.gate.clear()
    refused = metrics.REFUSED.labels("why")._value.get
    before = refused()
    waiting = [
        asyncio.create_task(client.get(f"/api/v1/why?route={number}"))
        for number in range(AT_ONCE + 2)
    ]
    await until(lambda: (desk.asked, refused()) == (AT_ONCE + 1, before + 2))
    reply = await client.get("/api/v1/why?route=/late")
    assert (reply.status_code, reply.json()["error"]["status"]) == (503, 503)
    assert int(reply.headers["retry-after"]) > MOST_WAIT_SECONDS
    assert refused() == before + 3
    desk.gate.set()
    assert {reply.status_code for reply in await asyncio.gather(*waiting)} == {200, 503}


async def test_who_has_waited_for_long_comes_back_for_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ragvigil.web.answers.MOST_WAIT_SECONDS", 0.05)
    desk = Desk(takes_seconds=1.0)
    desk.gate.clear()
    client = desk.client()
    reply = await client.get("/api/v1/why")
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "2")
    desk.gate.set()
    await until(lambda: desk.now > 1000)
    assert await numbers(client.get("/api/v1/why")) == [1]


async def test_turns_come_in_order_and_the_wait_is_foreseen() -> None:
    now, order = 0.0, list[int]()
    turns = Turns(1, lambda: now)

    async def take(number: int) -> None:
        nonlocal now
        async with turns.turn("why"):
            order.append(number)
            now += 2.0

    await take(0)
    assert turns.wait_seconds() == 0
    await asyncio.gather(*(take(number) for number in (1, 2, 3)))
    assert order == [0, 1, 2, 3]
    async with turns.turn("why"):
        waiting = [asyncio.create_task(take(number)) for number in (4, 5)]
        await asyncio.sleep(0)
        assert turns.wait_seconds() == 6
        with pytest.raises(Busy) as busy:
            await take(6)
    await asyncio.gather(*waiting)
    assert busy.value.retry_seconds == 6


async def test_the_query_of_a_client_that_left_never_runs(store: Store) -> None:
    runs: list[object] = []
    failures: list[Exception] = []
    left = asyncio.Event()
    sent: list[Message] = []

    def read() -> None:
        try:
            store._ask("read", runs.append, Priority.PAGE)
        except Abandoned as error:
            failures.append(error)

    async def receive() -> Message:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    desk = Desk(read=read)
    answers = as_people(Answers(desk, routes=ROUTES, keep_seconds=0, now=lambda: desk.now), {})
    scope = {"type": "http", "method": "GET", "path": "/api/v1/why", "headers": []}
    with occupied(store, Priority.PAGE):
        asking = asyncio.create_task(answers(scope | {"query_string": b""}, receive, send))
        await until(lambda: desk.asked == 1)
        left.set()
        await asking
        await until(lambda: bool(failures))
    assert (runs, sent) == ([], [])


async def test_a_client_that_left_does_not_take_the_answer_from_the_others() -> None:
    desk = Desk()
    desk.gate.clear()
    client = desk.client()
    leaving = asyncio.create_task(client.get("/api/v1/why"))
    staying = asyncio.create_task(numbers(client.get("/api/v1/why")))
    await until(lambda: desk.asked == 1)
    leaving.cancel()
    await asyncio.sleep(0)
    desk.gate.set()
    assert await staying == [1]
