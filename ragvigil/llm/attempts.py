"""One attempt: paid for, let through by the breaker, ended in time, and accounted for."""

from __future__ import annotations

import asyncio
import sqlite3

from pydantic import BaseModel

from ragvigil.llm import metrics
from ragvigil.llm.breaker import Breaker, BreakerState
from ragvigil.llm.budget import Budget, Reservation
from ragvigil.llm.outcome import FailureKind, Purpose, Setback, Usage
from ragvigil.llm.provider import Endpoint, Sent
from ragvigil.llm.reply_form import ReplyForm

NO_BUDGET = Setback(kind=FailureKind.BUDGET, detail="the budget allows no further call by now")
BREAKER_OPEN = Setback(kind=FailureKind.BREAKER_OPEN, detail="the endpoint is left alone")
START_GAP_SECONDS = 0.003
"""Between two starts, about what a call costs in CPU. Calls that start together come back together
and wait for one another to be read: at 200 ms and 32 places that took a third of the rate."""


class Attempts:
    """Makes attempts at an endpoint, within a budget."""

    def __init__(self, endpoint: Endpoint, *, budget: Budget, breaker: Breaker) -> None:
        self._endpoint = endpoint
        self._budget = budget
        self._breaker = breaker
        self._next_start = 0.0

    async def make(
        self,
        prompt: str,
        form: type[BaseModel],
        purpose: Purpose,
        timeout_seconds: float,
        reply_form: ReplyForm,
    ) -> tuple[Sent | Setback, Usage]:
        """Asks once; returns what came of it and what it cost.

        An attempt of which nobody knows what it used costs the most that it could. One that is
        cancelled is accounted for all the same.
        """
        most = self._endpoint.most_usage(prompt, form)
        made = self._reserve(most, purpose)
        if made is None:
            return NO_BUDGET, Usage()
        if not self._breaker.enter():
            self._settle(made, Usage(), purpose)
            return BREAKER_OPEN, Usage()
        got: Sent | Setback | None = None
        metrics.IN_FLIGHT.inc()
        try:
            await self._wait_for_turn()
            got = await self._sent(prompt, form, timeout_seconds, reply_form)
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

    async def _sent(
        self, prompt: str, form: type[BaseModel], timeout_seconds: float, reply_form: ReplyForm
    ) -> Sent | Setback:
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._endpoint.send(prompt, form, reply_form)
        except TimeoutError:
            return Setback(
                kind=FailureKind.TIMEOUT,
                detail=f"no whole reply within {timeout_seconds:.0f} s",
                passes=True,
                is_outage=True,
                is_paid=True,
            )

    def _judge(self, got: Sent | Setback | None) -> None:
        """Tells the breaker what the attempt says about the endpoint."""
        if got is None:
            self._breaker.left()
        elif isinstance(got, Setback) and got.is_outage:
            self._breaker.failed()
        else:
            self._breaker.succeeded()
        metrics.BREAKER_OPEN.set(self._breaker.state is not BreakerState.CLOSED)

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
        metrics.MONEY.labels(purpose=purpose).inc(money)
        kinds = ("assumed", "assumed") if used.assumed else ("input", "output")
        for kind, count in zip(kinds, (used.input_tokens, used.output_tokens), strict=True):
            metrics.TOKENS.labels(purpose=purpose, kind=kind).inc(count)


def _used(got: Sent | Setback | None, most: Usage) -> Usage:
    if isinstance(got, Sent) and got.usage is not None:
        return got.usage
    if isinstance(got, Setback) and not got.is_paid:
        return Usage()
    return Usage(input_tokens=most.input_tokens, output_tokens=most.output_tokens, assumed=True)
