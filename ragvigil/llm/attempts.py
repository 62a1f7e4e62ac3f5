"""Attempts at a question: each is paid for, let through by the breaker, and ended in time."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from ragvigil.llm import metrics
from ragvigil.llm.breaker import Breaker, BreakerState
from ragvigil.llm.budget import Budget, Reservation
from ragvigil.llm.health import Health
from ragvigil.llm.outcome import Failure, FailureKind, Purpose, Setback, Usage
from ragvigil.llm.reply_form import ReplyForm

NO_BUDGET = Setback(kind=FailureKind.BUDGET, detail="the budget allows no further call by now")
BREAKER_OPEN = Setback(kind=FailureKind.BREAKER_OPEN, detail="the endpoint is left alone")
START_GAP_SECONDS = 0.003
"""Time between two starts: about what a call costs in CPU. Calls that start together come back
together and wait for one another to be read: at 200 ms a call and 32 at a time that cost a third
of the rate."""


class Paid(Protocol):
    """What a provider sent; `usage` is None if it did not report it."""

    @property
    def usage(self) -> Usage | None: ...


Response = TypeVar("Response", bound=Paid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Generic[Response]):
    """A request, the most that it can cost, the purpose that pays, and how long it may take.

    `ends` is the question's deadline on the loop's clock, `timeout_seconds` the time for a whole
    reply.
    """

    send: Callable[[], Awaitable[Response | Setback]]
    most: Usage
    purpose: Purpose
    timeout_seconds: float
    ends: float


@dataclass(slots=True)
class Progress:
    """The attempts at one question so far; `ends` is its deadline on the loop's clock.

    `problem` is the problem of a reply that is to be repaired. `reply_form` is the form of
    reply of the next attempt; None leaves the choice to the endpoint. `setback` is that of the last
    attempt.
    """

    ends: float
    attempts: int = 0
    retries: int = 0
    problem: str = ""
    reply_form: ReplyForm | None = None
    setback: Setback | None = None
    usage: Usage = field(default_factory=Usage)

    def failure(self, setback: Setback) -> Failure:
        """The question's failure, with the usage of all its attempts."""
        return Failure(
            kind=setback.kind, detail=setback.detail, usage=self.usage, attempts=self.attempts
        )


class Attempts:
    """Makes attempts at an endpoint, within a budget. Belongs to one event loop."""

    def __init__(self, *, budget: Budget, breaker: Breaker, health: Health) -> None:
        self._budget = budget
        self._breaker = breaker
        self._health = health
        self._next_start = 0.0
        self._settled = asyncio.Event()

    async def make(self, attempt: Attempt[Response]) -> tuple[Response | Setback, Usage]:
        """Asks once; returns the response or setback, and what it cost.

        An attempt whose usage is unknown costs the most that it could. A cancelled attempt is
        settled too. While calls under way hold what is left of the budget, it waits until they
        are settled.
        """
        most, purpose = attempt.most, attempt.purpose
        reservation = await self._reserved(attempt)
        if reservation is None:
            return NO_BUDGET, Usage()
        if not self._breaker.enter():
            self._settle(reservation, Usage(), purpose)
            return BREAKER_OPEN, Usage()
        result: Response | Setback | None = None
        metrics.IN_FLIGHT.inc()
        try:
            await self._wait_for_turn()
            result = await self._send(attempt)
        finally:  # also where the attempt is cancelled: the provider may charge for it
            metrics.IN_FLIGHT.dec()
            used = _used(result, most)
            self._settle(reservation, used, purpose)
            self._tell_breaker(result)
        label = result.kind if isinstance(result, Setback) else "replied"
        metrics.ATTEMPTS.labels(result=label).inc()
        return result, used

    async def _wait_for_turn(self) -> None:
        now = asyncio.get_running_loop().time()
        self._next_start = max(now, self._next_start + START_GAP_SECONDS)
        await asyncio.sleep(self._next_start - now)

    async def _send(self, attempt: Attempt[Response]) -> Response | Setback:
        seconds = min(attempt.timeout_seconds, attempt.ends - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(seconds):
                return await attempt.send()
        except TimeoutError:
            return Setback(
                kind=FailureKind.TIMEOUT,
                detail=f"no whole reply within {seconds:.0f} s",
                passes=True,
                is_outage=True,
                is_paid=True,
            )

    def _tell_breaker(self, result: Paid | Setback | None) -> None:
        """Reports to the breaker whether the endpoint works; None is a cancelled attempt."""
        if result is None:
            self._breaker.cancelled()
        elif isinstance(result, Setback) and result.is_outage:
            self._breaker.failed()
        else:
            self._breaker.succeeded()
        self._health.breaker_is(self._breaker.state, self._breaker.pause_seconds)
        metrics.BREAKER_OPEN.set(self._breaker.state is not BreakerState.CLOSED)

    async def _reserved(self, attempt: Attempt[Response]) -> Reservation | None:
        """Waits for a reservation; None if the budget has nothing left, or at `ends`."""
        while (reservation := self._reserve(attempt.most, attempt.purpose)) is None:
            if not self._fits_later(attempt.most, attempt.purpose):
                return None
            metrics.BUDGET_WAITS.inc()
            self._settled.clear()
            try:
                async with asyncio.timeout_at(attempt.ends):
                    await self._settled.wait()
            except TimeoutError:
                return None
        return reservation

    def _fits_later(self, most: Usage, purpose: Purpose) -> bool:
        try:
            return self._budget.fits_later(most, purpose)
        except sqlite3.Error:
            metrics.BOOK_ERRORS.inc()
            return False

    def _reserve(self, most: Usage, purpose: Purpose) -> Reservation | None:
        try:
            return self._budget.reserve(most, purpose)
        except sqlite3.Error:  # what cannot be written down must not be spent
            metrics.BOOK_ERRORS.inc()
            return None

    def _settle(self, reservation: Reservation, used: Usage, purpose: Purpose) -> None:
        try:
            money = self._budget.settle(reservation, used).money
        except sqlite3.Error:  # the reservation stays written: it is at least what was used
            metrics.BOOK_ERRORS.inc()
            money = reservation.spending.money
        self._settled.set()
        metrics.MONEY.labels(purpose=purpose).inc(money)
        kinds = ("assumed", "assumed") if used.assumed else ("input", "output")
        for kind, count in zip(kinds, (used.input_tokens, used.output_tokens), strict=True):
            metrics.TOKENS.labels(purpose=purpose, kind=kind).inc(count)


def _used(result: Paid | Setback | None, most: Usage) -> Usage:
    if isinstance(result, Setback):
        if not result.is_paid:
            return Usage()
    elif result is not None and result.usage is not None:
        return result.usage
    return Usage(input_tokens=most.input_tokens, output_tokens=most.output_tokens, assumed=True)
