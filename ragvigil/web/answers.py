"""Reads of the API: made once for all who ask at the same time, and kept for a few seconds.

A read waits for one of a few turns, so that any number of clients asks the store for little at
once. One that would wait for more than five seconds is answered 503 with `Retry-After`; one that
nobody waits for any more gives up its turn, and its queries leave the store's queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from email.utils import formatdate
from enum import StrEnum
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragvigil.store.engine.scope import QueryScope
from ragvigil.web import metrics
from ragvigil.web.errors import error_response
from ragvigil.web.guard import READING
from ragvigil.web.identity import Person, Role
from ragvigil.web.turns import MOST_WAIT_SECONDS, Busy, Turns

API = "/api/v1/"
FEEDBACK = f"{API}feedback"
SUMMARIES = frozenset(
    {
        "audits", "deltas", "disagreements", "doctor", "estimates", "incidents", "issue-pairs",
        "issues", "judges", "ledger", "notices", "operating-points", "record-counts", "records",
        "series", "status", "topics", "traffic", "why",
    }
)  # fmt: skip
"""Routes about all traffic: kept, and the same before and after one person's feedback."""
AT_ONCE = 4
"""Twice the store's connections for pages: while some answers are read, others are written."""
KEPT_TIMES = 4
"""An answer passes for new for so many times the seconds that it took: a quick one is always made
anew, a slow one seldom, however many ask."""
STALE_TIMES = 3
"""For so many times as long it is still given while the next one is made: nobody waits for what
others have asked for lately."""
MOST_KEPT_BYTES = 16 * 1024**2
RETRY_SECONDS = 2.0
"""When a client comes back that has waited for as long as it may; the answer is made meanwhile."""


class Key(NamedTuple):
    """What an answer depends on."""

    route: str
    asker: Person | Role
    path: str
    query: bytes
    writes: int


class Source(StrEnum):
    """Where an answer comes from."""

    MADE = "made"
    SHARED = "shared"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole response; `made` is in Unix seconds, the others on the clock of `Answers`."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    made: float
    fresh_until: float
    kept_until: float


@dataclass(slots=True, kw_only=True)
class _Flight:
    """An answer that is being made, and how many wait for it.

    `is_promised`: it is made even if nobody waits, as a client was told to come back for it.
    """

    queries: QueryScope
    task: asyncio.Task[Answer]
    waiting: int = 0
    is_promised: bool = False


@dataclass(slots=True)
class _Response:
    """Collects the messages of a response."""

    start: Message = field(default_factory=lambda: {"status": 500})
    body: bytearray = field(default_factory=bytearray)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body += message.get("body", b"")

    def answer(self, made: float, now: float, fresh_seconds: float) -> Answer:
        return Answer(
            status=self.start["status"],
            headers=tuple(map(tuple, self.start.get("headers", ()))),
            body=bytes(self.body),
            made=made,
            fresh_until=now + fresh_seconds,
            kept_until=now + fresh_seconds * STALE_TIMES,
        )


class Answers:
    """ASGI middleware around the application, inside of the guard, which says who asks.

    `routes` are the first steps of the paths under `/api/v1` that ask the store. `keep_seconds` is
    the longest that an answer passes for new; 0 keeps none. `now` gives Unix seconds. A request
    that changes something, also one of a page, makes all kept answers old and calls `on_write`
    before its own reply is sent: its sender reads what it wrote.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: Collection[str],
        keep_seconds: float,
        now: Callable[[], float],
        on_write: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._routes = app, frozenset(routes)
        self._keep_seconds, self._now, self._clock = keep_seconds, now, clock
        self._on_write = on_write
        self._turns = Turns(AT_ONCE, clock)
        self._flights: dict[Key, _Flight] = {}
        self._kept: dict[Key, Answer] = {}
        self._writes = self._feedback = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a read of the API, or passes the request on."""
        route = _first_step(scope)
        if scope["method"] not in READING:
            await self._write(scope, receive, send)
            return
        person: Person | None = scope["state"]["person"]
        if person is None or route not in self._routes or scope["method"] != "GET":
            await self._app(scope, receive, send)
        else:
            await self._read(self._key(route, person, scope), scope, receive, send)

    async def _write(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def after_the_write(message: Message) -> None:
            # A refused write, 4xx, has changed nothing.
            if message["type"] == "http.response.start" and message["status"] // 100 != 4:
                self._count_write(scope["path"])
            await send(message)

        await self._app(scope, receive, after_the_write)

    def _count_write(self, path: str) -> None:
        if path == FEEDBACK:
            self._feedback += 1
        else:
            self._writes += 1
            self._kept.clear()
            self._on_write()

    def _key(self, route: str, person: Person, scope: Scope) -> Key:
        """Equal for requests with the same answer; a write that may change it makes another.

        Summaries say the same to everybody of a role; any other answer is for one person alone.
        """
        is_summary = route in SUMMARIES
        asker = person.role if is_summary else person
        writes = self._writes if is_summary else self._writes + self._feedback
        return Key(route, asker, scope["path"], scope["query_string"], writes)

    def _keeps(self, key: Key) -> bool:
        return bool(self._keep_seconds) and key.route in SUMMARIES

    async def _read(self, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        kept = self._kept.get(key)
        now = self._clock()
        if kept is not None and now < kept.kept_until:
            if now >= kept.fresh_until and key not in self._flights:
                self._start(key, scope).is_promised = True
            metrics.ANSWERS.labels(Source.KEPT).inc()
            await _send(kept, send)
            return
        try:
            answer = await self._shared(key, scope, receive)
        except Busy as busy:
            metrics.REFUSED.labels(key.route).inc()
            headers = {"retry-after": str(busy.retry_seconds)}
            refusal = error_response(503, "too many ask at once; try again", headers=headers)
            await refusal(scope, receive, send)
        except HTTPException as error:
            await error_response(error.status_code, str(error.detail))(scope, receive, send)
        else:
            if answer is not None:
                await _send(answer, send)

    async def _shared(self, key: Key, scope: Scope, receive: Receive) -> Answer | None:
        """The answer, which others may wait for too; None where the client has left.

        Raises Busy, and HTTPException for a body that the guard refuses.
        """
        flight = self._flights.get(key)
        metrics.ANSWERS.labels(Source.SHARED if flight else Source.MADE).inc()
        if flight is None:
            flight = self._start(key, scope)
        flight.waiting += 1
        client = asyncio.create_task(_until_gone(receive))
        both: set[asyncio.Future[Any]] = {flight.task, client}
        # For what is not kept nobody need come back: it would be made from the beginning.
        patience = MOST_WAIT_SECONDS if self._keeps(key) else None
        try:
            await asyncio.wait(both, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if flight.task.done():
                return flight.task.result()
            if not client.done():
                flight.is_promised = True
                raise Busy(RETRY_SECONDS)
            return client.result()
        finally:
            client.cancel()
            flight.waiting -= 1
            if not (flight.waiting or flight.is_promised or flight.task.done()):
                metrics.ABANDONED.labels(key.route).inc()
                del self._flights[key]  # the next to ask starts a new one
                flight.queries.abandon()
                flight.task.cancel()

    def _start(self, key: Key, scope: Scope) -> _Flight:
        queries = QueryScope()
        task = asyncio.create_task(self._make(key, scope, queries))
        flight = _Flight(queries=queries, task=task)
        self._flights[key] = flight

        def landed(task: asyncio.Future[Answer]) -> None:
            if self._flights.get(key) is flight:
                del self._flights[key]
            if not task.cancelled():
                task.exception()  # asyncio logs one that nobody looks at

        task.add_done_callback(landed)
        return flight

    async def _make(self, key: Key, scope: Scope, queries: QueryScope) -> Answer:
        async with self._turns.turn(key.route):
            began, made, response = self._clock(), self._now(), _Response()
            # What fails is logged and answered 500 inside, and then raised again.
            with queries.running(), contextlib.suppress(Exception):
                await self._app(dict(scope), _no_body, response.send)
            now = self._clock()
            fresh_seconds = min(self._keep_seconds, KEPT_TIMES * (now - began))
            answer = response.answer(made, now, fresh_seconds)
            if answer.status == 200 and self._keeps(key):
                self._keep(key, answer, now)
            return answer

    def _keep(self, key: Key, answer: Answer, now: float) -> None:
        self._kept[key] = answer
        for old in [key for key, kept in self._kept.items() if kept.kept_until <= now]:
            del self._kept[old]
        while sum(len(kept.body) for kept in self._kept.values()) > MOST_KEPT_BYTES:
            del self._kept[next(iter(self._kept))]


def _first_step(scope: Scope) -> str:
    """What follows `/api/v1/` in a request's path, until the next slash; empty elsewhere."""
    path = str(scope.get("path", ""))
    return path.removeprefix(API).partition("/")[0] if path.startswith(API) else ""


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _until_gone(receive: Receive) -> None:
    """Returns once the client has left; raises HTTPException for a body that is too long."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(answer: Answer, send: Send) -> None:
    as_of = formatdate(answer.made, usegmt=True).encode()
    headers = [*answer.headers, (b"last-modified", as_of)]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
