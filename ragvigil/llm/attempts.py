"""One attempt: paid for, let through by the breaker, ended in time, and accounted for."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What is asked, in which form, who pays, and how long it may take.

    `ends` is the question's deadline on the loop's clock, `timeout_seconds` the patience with a
    reply.
    """

    prompt: str
    form: type[BaseModel]
    reply_form: ReplyForm
    purpose: Purpose
    timeout_seconds: float
    ends: float


class Attempts:
    """Makes attempts at an endpoint, within a budget. Belongs to one event loop."""

    def __init__(self, endpoint: Endpoint, *, budget: Budget, breaker: Breaker) -> None:
        self._endpoint = endpoint
        self._budget = budget
        self._breaker = breaker
        self._next_start = 0.0
        self._settled = asyncio.Event()

    async def make(self, attempt: Attempt) -> tuple[Sent | Setback, Usage]:
        """Asks once; returns what came of it and what it cost.

        An attempt of which nobody knows what it used costs the most that it could. One that is
        cancelled is accounted for all the same. Where calls under way hold what the budget has
        left, it waits until they are settled.
        """
        most = self._endpoint.most_usage(attempt.prompt, attempt.form)
        purpose = attempt.purpose
        made = await self._reserved(most, attempt)
        if made is None:
            return NO_BUDGET, Usage()
        if not self._breaker.enter():
            self._settle(made, Usage(), purpose)
            return BREAKER_OPEN, Usage()
        got: Sent | Setback | None = None
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

    async def _sent(self, attempt: Attempt) -> Sent | Setback:
        patience = min(attempt.timeout_seconds, attempt.ends - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(patience):
                return await self._endpoint.send(attempt.prompt, attempt.form, attempt.reply_form)
        except TimeoutError:
            return Setback(
                kind=FailureKind.TIMEOUT,
                detail=f"no whole reply within {patience:.0f} s",
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

    async def _reserved(self, most: Usage, attempt: Attempt) -> Reservation | None:
        """The reservation, as soon as there is one; None where nothing is left, or at `ends`."""
        while (made := self._reserve(most, attempt.purpose)) is None:
            if not self._fits_later(most, attempt.purpose):
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


def _used(got: Sent | Setback | None, most: Usage) -> Usage:
    if isinstance(got, Sent) and got.usage is not None:
        return got.usage
    if isinstance(got, Setback) and not got.is_paid:
        return Usage()
    return Usage(input_tokens=most.input_tokens, output_tokens=most.output_tokens, assumed=True)
