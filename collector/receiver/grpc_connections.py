"""Guards OTLP/gRPC: whose connection goes when there are many, and what half a message occupies.

gRPC accepts and reads by itself. What it offers is set where the server is made: a limit of
connections, and deadlines for the first bytes and for an idle connection. The rest is here: calls
are counted by connection, and several times a second the kernel tells what each one sent.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from collector.receiver.budget import Hold, giving_way
from collector.receiver.kernel import (
    AcceptedConnection,
    accepted_on,
    end,
    listen_with,
    open_descriptors,
)
from collector.refusal import Malformed, Refusal, Refused
from ragvigil.listener.eviction import Waiting, first_to_go
from ragvigil.listener.limits import Closing, ConnectionLimits, peer_of
from ragvigil.listener.serve import defer_accept

TICK_SECONDS = 0.1
"""How long a message may take until it is looked at, and the pause between two looks."""
QUIET_SECONDS = 1.0
"""Between two counts of the connections while no message arrives."""
REST_SECONDS = 10.0
"""Between two looks at the connections while all is well."""
LOOKING_SHARE = 10
"""Of so much time, looking gets as long as it takes once."""
FREE_SHARE = 8
"""One of this many connections is kept free: beyond its limit gRPC refuses newcomers."""
MOST_ARRIVING = 1_024
"""Calls whose message is on its way, on all connections together."""


@dataclass(slots=True, kw_only=True)
class CallsOf:
    """The calls of one connection: bytes delivered as messages, and answers under way.

    `counted_from` is what the connection had sent, less what was delivered, when no message was
    on its way: what it sent since lies in gRPC's memory until its message is complete.
    """

    delivered: int = 0
    answering: int = 0
    counted_from: int = 0
    is_proven: bool = False
    is_missing: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Arrival:
    """A call whose message is on its way, and the bytes charged for it so far."""

    peer: str
    hold: Hold
    began_at: float
    charged: int = 0


class GrpcConnections:
    """The connections of the gRPC server; belongs to one event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._arriving: dict[Arrival, None] = {}
        self._has_arrivals = asyncio.Event()
        self._calls: defaultdict[str, CallsOf] = defaultdict(CallsOf)

    async def message(self, messages: AsyncIterable[bytes], peer: str, hold: Hold) -> bytes:
        """The message of a call, held in the byte budget.

        Raises Refused: SLOW, OVERLOADED, MALFORMED for a call without a message.
        """
        if len(self._arriving) >= MOST_ARRIVING:
            next(iter(self._arriving)).hold.give_way()
        arrival = Arrival(peer=peer, hold=hold, began_at=time.monotonic())
        self._arriving[arrival] = None
        self._has_arrivals.set()
        seconds = self._limits.deadlines.body_seconds
        try:
            async with giving_way(hold, seconds):
                async for message in messages:
                    hold.grow(max(0, len(message) - hold.taken))
                    arrival.charged = len(message)
                    return message
        except TimeoutError as error:
            raise Refused(Refusal.SLOW, f"the message took over {seconds:.0f} s") from error
        finally:
            del self._arriving[arrival]
            self._calls[peer].delivered += arrival.charged
        raise Malformed("the call has no message")

    @contextmanager
    def answering(self, peer: str) -> Iterator[None]:
        """While inside, the connection is not closed: its client waits for us."""
        self._calls[peer].answering += 1
        try:
            yield
        finally:
            self._calls[peer].answering -= 1
            self._calls[peer].is_proven = True

    async def watch(self, port: int) -> None:
        """Keeps connections and half messages within their limits, until cancelled."""
        seconds = self._limits.deadlines.head_seconds
        listen_with(port, lambda listening: defer_accept(listening, seconds))
        pause, looked_at = TICK_SECONDS, time.monotonic()
        while True:
            if not self._may_be_crowded():
                await self._arrival(QUIET_SECONDS)
            await asyncio.sleep(pause)
            is_well = not self._late() and not self._may_be_crowded()
            if is_well and time.monotonic() - looked_at < REST_SECONDS:
                continue
            # In a thread: with a thousand connections it takes 10 ms.
            connections, cpu_seconds = await asyncio.to_thread(_look, port)
            self._limits.show_open(len(connections))
            self._forget_all_but({each.peer for each in connections})
            self._charge(connections)
            self._make_room(connections)
            pause, looked_at = max(TICK_SECONDS, LOOKING_SHARE * cpu_seconds), time.monotonic()

    async def _arrival(self, most_seconds: float) -> None:
        """Returns while a message arrives, or once one begins to, or after `most_seconds`."""
        if not self._arriving:
            self._has_arrivals.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_arrivals.wait(), most_seconds)

    def _late(self) -> list[Arrival]:
        """The calls whose message did not come at once; few have one."""
        now = time.monotonic()
        return [each for each in self._arriving if now - each.began_at > TICK_SECONDS]

    def _may_be_crowded(self) -> bool:
        return open_descriptors() > self._limits.most // 2

    def _forget_all_but(self, peers: set[str]) -> None:
        # On the second look: a connection may be younger than the first.
        for peer, calls in list(self._calls.items()):
            if calls.is_missing and peer not in peers and not calls.answering:
                del self._calls[peer]
            else:
                calls.is_missing = peer not in peers

    def _charge(self, connections: list[AcceptedConnection]) -> None:
        """Counts what arrived of messages in the byte budget."""
        late: defaultdict[str, list[Arrival]] = defaultdict(list)
        for arrival in self._late():
            late[arrival.peer].append(arrival)
        under_way = {arrival.peer for arrival in self._arriving}
        for each in connections:
            calls = self._calls[each.peer]
            unread = each.received_bytes - calls.delivered
            if each.peer not in under_way:
                calls.counted_from = unread
            elif each.peer in late:
                _charge_to(late[each.peer], unread - calls.counted_from)

    def _make_room(self, connections: list[AcceptedConnection]) -> None:
        now, limits = time.monotonic(), self._limits
        idle = [each for each in connections if not self._calls[each.peer].answering]
        waiting = [self._waiting(each, now) for each in idle]
        is_crowded = len(connections) > limits.most // 2
        closing = [each.connection for each in waiting if is_crowded and each.is_silent(now)]
        free = max(1, limits.most // FREE_SHARE)
        closing += _beyond(limits.most - free, waiting, len(connections), now)
        for peer, count in Counter(peer_of(each.host) for each in connections).items():
            of_peer = [each for each in waiting if each.peer == peer]
            closing += _beyond(limits.most_of(peer), of_peer, count, now)
        for descriptor in {each.descriptor: each for each in closing}.values():
            end(descriptor)
            limits.count(Closing.MADE_ROOM)

    def _waiting(self, connection: AcceptedConnection, now: float) -> Waiting[AcceptedConnection]:
        return Waiting(
            connection=connection,
            peer=peer_of(connection.host),
            since=now - connection.silent_seconds,
            is_proven=self._calls[connection.peer].is_proven,
        )


def _look(port: int) -> tuple[list[AcceptedConnection], float]:
    """The connections, and the seconds of CPU that it took to look at them."""
    began = time.thread_time()
    return accepted_on(port), time.thread_time() - began


def _charge_to(arrivals: list[Arrival], unread: int) -> None:
    """Charges the oldest call of a connection with what no call is charged with yet."""
    oldest, excess = arrivals[0], unread - sum(each.charged for each in arrivals)
    if excess <= 0:
        return
    try:
        oldest.hold.grow(excess)
    except Refused:
        oldest.hold.give_way()
    oldest.charged += excess


def _beyond(
    most: int, waiting: list[Waiting[AcceptedConnection]], count: int, now: float
) -> list[AcceptedConnection]:
    """The waiting connections to close if there are `count` of `most`."""
    return first_to_go(waiting, now, count - most) if count > most else []
