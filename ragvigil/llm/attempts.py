"""One attempt: paid for, let through by the breaker, ended in time, and accounted for."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ragvigil.llm import metrics
from ragvigil.llm.breaker import Breaker, BreakerState
from ragvigil.llm.budget import Budget, Reservation
from ragvigil.llm.outcome import FailureKind, Purpose, Setback, Usage

NO_BUDGET = Setback(kind=FailureKind.BUDGET, detail="the budget allows no further call by now")
BREAKER_OPEN = Setback(kind=FailureKind.BREAKER_OPEN, detail="the endpoint is left alone")
START_GAP_SECONDS = 0.003
"""Between two starts, about what a call costs in CPU. Calls that start together come back together
and wait for one another to be read: at 200 ms and 32 places that took a third of the rate."""


class Paid(Protocol):
    """What a provider sent; `usage` is None where it did not say."""

    @property
    def usage(self) -> Usage | None: ...


Got = TypeVar("Got", bound=Paid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Generic[Got]):
    """What is sent, the most that it can cost, who pays, and how long it may take.

    `ends` is the question's deadline on the loop's clock, `timeout_seconds` the patience with a
    reply.
    """

    send: Callable[[], Awaitable[Got | Setback]]
    most: Usage
    purpose: Purpose
    timeout_seconds: float
    ends: float


class Attempts:
    """Makes attempts at an endpoint, within a budget. Belongs to one event loop."""

    def __init__(self, *, budget: Budget, breaker: Breaker) -> None:
        self._budget = budget
        self._breaker = breaker
        self._next_start = 0.0
        self._settled = asyncio.Event()

    async def make(self, attempt: Attempt[Got]) -> tuple[Got | Setback, Usage]:
        """Asks once; returns what came of it and what it cost.

        An attempt of which nobody knows what it used costs the most that it could. One that is
        cancelled is accounted for all the same. Where calls under way hold what the budget has
        left, it waits until they are settled.
        """
        most, purpose = attempt.most, attempt.purpose
        made = await self._reserved(attempt)
        if made is None:
            return NO_BUDGET, Usage()
        if not self._breaker.enter():
            self._settle(made, Usage(), purpose)
            return BREAKER_OPEN, Usage()
        got: Got | Setback | None = None
        metrics.IN_FLIGHT.inc()
        try:
            await self._wait_for_turn()
            got = await self._sent(attempt)
        finally:
            metrics.IN_FLIGHT.dec()
            used = _used(got, most)
            self._settle(made, used, purpose)
            self._judge(got)
        metrics.ATTEMPTS.labels(result=got.kind if isinstance(got, Setback) else "replied").inc()
        return got, used

    async def _wait_for_turn(self) -> None:
        now = asyncio.get_running_loop().time()
        self._next_start = max(now, self._next_start + START_GAP_SECONDS)
        await asyncio.sleep(self._next_start - now)

    async def _sent(self, attempt: Attempt[Got]) -> Got | Setback:
        patience = min(attempt.timeout_seconds, attempt.ends - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(patience):
                return await attempt.send()
        except TimeoutError:
            return Setback(
                kind=FailureKind.TIMEOUT,
                detail=f"no whole reply within {patience:.0f} s",
                passes=True,
                is_outage=True,
                is_paid=True,
            )

    def _judge(self, got: Paid | Setback | None) -> None:
        """Tells the breaker what the attempt says about the endpoint."""
        if got is None:
            self._breaker.left()
        elif isinstance(got, Setback) and got.is_outage:
            self._breaker.failed()
        else:
            self._breaker.succeeded()
        metrics.BREAKER_OPEN.set(self._breaker.state is not BreakerState.CLOSED)

    async def _reserved(self, attempt: Attempt[Got]) -> Reservation | None:
        """The reservation, as soon as there is one; None where nothing is left, or at `ends`."""
        while (made := self._reserve(attempt.most, attempt.purpose)) is None:
            if not self._fits_later(attempt.most, attempt.purpose):
                return None
            metrics.BUDGET_WAITS.inc()
            self._settled.clear()
            try:
                async with asyncio.timeout_at(attempt.ends):
                    await self._settled.wait()
            except TimeoutError:
                return None
        return made

    def _fits_later(self, most: Usage, purpose: Purpose) -> bool:
        try:
            return self._budget.fits_later(most, purpose)
        except sqlite3.Error:
            metrics.BOOK_ERRORS.inc()
            return False

    def _reserve(self, most: Usage, purpose: Purpose) -> Reservation | None:
        try:
            return self._budget.reserve(most, purpose)
        except sqlite3.Error:  # what cannot be written down is not spent
            metrics.BOOK_ERRORS.inc()
            return None

    def _settle(self, made: Reservation, used: Usage, purpose: Purpose) -> None:
        try:
            money = self._budget.settle(made, used).money
        except sqlite3.Error:  # the reservation stays in the book, which is more
            metrics.BOOK_ERRORS.inc()
            money = made.spending.money
        self._settled.set()
        metrics.MONEY.labels(purpose=purpose).inc(money)
        kinds = ("assumed", "assumed") if used.assumed else ("input", "output")
        for kind, count in zip(kinds, (used.input_tokens, used.output_tokens), strict=True):
            metrics.TOKENS.labels(purpose=purpose, kind=kind).inc(count)


def _used(got: Paid | Setback | None, most: Usage) -> Usage:
    if isinstance(got, Setback):
        if not got.is_paid:
            return Usage()
    elif got is not None and got.usage is not None:
        return got.usage
    return Usage(input_tokens=most.input_tokens, output_tokens=most.output_tokens, assumed=True)
