"""Asks a language model a question: an answer in the asked form, or the reason why there is none.

    client = open_client(settings, folder)
    outcome = await client.ask(prompt, Verdicts, Purpose.SAMPLE, key=cache_key(...))

Temperature 0, the provider's strict schema, one repair of a reply that is not in the asked form.
Nothing that a provider does raises: it becomes a Failure, counted by its kind.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from ragvigil.llm import metrics
from ragvigil.llm.attempts import (
    BREAKER_OPEN,
    NO_BUDGET,
    Attempt,
    Attempts,
    Progress,
    Response,
)
from ragvigil.llm.breaker import Breaker
from ragvigil.llm.budget import Budget, Limits
from ragvigil.llm.cache import Cache
from ragvigil.llm.conversation import AssistantMessage, Conversation, Turn
from ragvigil.llm.health import Health
from ragvigil.llm.outcome import Answer, Failure, FailureKind, Purpose, Reply, Setback, Usage
from ragvigil.llm.provider import Endpoint, Sent
from ragvigil.llm.reading import read_reply
from ragvigil.llm.settings import LlmSettings, price_of
from ragvigil.llm.spending import SpendingLog
from ragvigil.model.backoff import Backoff

FIRST_RETRY_SECONDS = 0.5
REPAIR = (
    "\n\nAn earlier reply to this was not in the asked form ({problem}). "
    "Reply with one JSON object in that form and with nothing else."
)
BY_ENDING = {
    "content_filter": Setback(kind=FailureKind.REFUSED, detail="the model or its filter declined"),
    "length": Setback(
        kind=FailureKind.CUT_OFF, detail="the reply was cut off at max_output_tokens"
    ),
}
"""Setbacks by the reason for which the provider ended a reply, whatever its text."""
REPAIRED = (FailureKind.UNPARSEABLE, FailureKind.OTHER_WORDS)
"""Problems of a reply that is asked for once more, with the problem named."""
RUN_SPENT = Setback(kind=FailureKind.BUDGET, detail="the run may cost no further turn")
TOO_LATE = Setback(kind=FailureKind.TIMEOUT, detail="no time was left for a further attempt")


class Client:
    """Asks one model; at most `settings.concurrency` questions at a time, the others wait.

    Belongs to one event loop. Callers may pace `budget` by the traffic, and read what is left;
    `health` says whether the model answers.
    """

    def __init__(
        self,
        settings: LlmSettings,
        *,
        endpoint: Endpoint,
        budget: Budget,
        breaker: Breaker,
        health: Health,
        cache: Cache,
        chance: random.Random,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.budget, self.health = budget, health
        self._settings = settings
        self._endpoint = endpoint
        self._attempts = Attempts(budget=budget, breaker=breaker, health=health)
        self._backoff = Backoff(
            first_seconds=FIRST_RETRY_SECONDS, longest_seconds=settings.retry_seconds
        )
        self._cache = cache
        self._chance = chance
        self._sleep = sleep
        self._slots = asyncio.Semaphore(settings.concurrency)

    @property
    def address(self) -> str:
        """The address that texts are sent to."""
        return self._endpoint.address

    async def ask(
        self, prompt: str, form: type[Answer], purpose: Purpose, *, key: str | None = None
    ) -> Reply[Answer] | Failure:
        """The answer in `form`, or a failure; never raises for what a provider does.

        `form` is a pydantic model, whose ranges are checked too. With a `key` (see `cache_key`) a
        known reply costs no call. The deadline counts from the moment a slot is free.
        """
        metrics.CALLS.labels(purpose=purpose).inc()
        reply = self._cached(key, form) if key is not None else None
        if reply is not None:
            metrics.CACHE_HITS.labels(purpose=purpose).inc()
            return reply
        async with self._slots:
            with metrics.SECONDS.time():
                outcome = await self._answer(prompt, form, purpose)
        self._count(outcome, purpose)
        if isinstance(outcome, Reply) and key is not None:
            self._keep(key, outcome)
        return outcome

    async def turn(
        self,
        conversation: Conversation,
        purpose: Purpose,
        *,
        patience_seconds: float,
        fits: Callable[[Usage], bool],
    ) -> Turn | Failure:
        """The model's next message, or a failure; never raises for what a provider does.

        Before each attempt `fits` gets the most that the turn may cost, earlier attempts included;
        where it returns False, no attempt is made.
        """
        metrics.CALLS.labels(purpose=purpose).inc()
        async with self._slots:
            with metrics.SECONDS.time():
                patience = min(self._settings.deadline_seconds, patience_seconds)
                progress = Progress(ends=_now() + patience)
                outcome = await self._turn(conversation, purpose, progress, fits)
        self._count(outcome, purpose)
        return outcome

    def _count(self, outcome: Reply[Answer] | Turn | Failure, purpose: Purpose) -> None:
        if isinstance(outcome, Failure):
            metrics.FAILURES.labels(purpose=purpose, kind=outcome.kind).inc()
            self.health.failed(outcome)
        else:
            self.health.answered()

    def forget_replies(self) -> int:
        """Drops the replies that are kept, in memory and file; returns how many there were."""
        return self._cache.clear()

    async def close(self) -> None:
        """Closes connections and files."""
        await self._endpoint.close()
        self._cache.close()
        self.budget.close()

    async def _answer(
        self, prompt: str, form: type[Answer], purpose: Purpose
    ) -> Reply[Answer] | Failure:
        progress = Progress(ends=_now() + self._settings.deadline_seconds)
        while True:
            repair = REPAIR.format(problem=progress.problem) if progress.problem else ""
            sent = await self._attempt(prompt + repair, form, purpose, progress)
            answer = _read(sent, form) if isinstance(sent, Sent) else sent
            if isinstance(sent, Sent) and not isinstance(answer, Setback):
                return Reply(
                    answer=answer,
                    text=sent.text,
                    model=sent.model,
                    usage=progress.usage,
                    attempts=progress.attempts,
                )
            assert isinstance(answer, Setback)
            if not await self._goes_on(answer, progress):
                return progress.failure(answer)

    async def _attempt(
        self, prompt: str, form: type[BaseModel], purpose: Purpose, progress: Progress
    ) -> Sent | Setback:
        if _now() >= progress.ends:
            return _too_late(progress)
        reply_form = progress.reply_form or self._endpoint.forms.first
        result = await self._paid(
            partial(self._endpoint.send, prompt, form, reply_form),
            self._endpoint.most_usage(prompt, form),
            purpose,
            progress,
        )
        if isinstance(result, Setback) and result.refuses_form:
            metrics.FORMS_REFUSED.labels(form=reply_form).inc()
            progress.reply_form = self._endpoint.forms.looser(reply_form)
        return result

    async def _paid(
        self,
        send: Callable[[], Awaitable[Response | Setback]],
        most: Usage,
        purpose: Purpose,
        progress: Progress,
    ) -> Response | Setback:
        """Makes an attempt, and adds it and its usage to the progress."""
        attempt = Attempt(
            send=send,
            most=most,
            purpose=purpose,
            timeout_seconds=self._settings.timeout_seconds,
            ends=progress.ends,
        )
        result, used = await self._attempts.make(attempt)
        progress.attempts += result not in (NO_BUDGET, BREAKER_OPEN)
        progress.usage += used
        return result

    async def _turn(
        self,
        conversation: Conversation,
        purpose: Purpose,
        progress: Progress,
        fits: Callable[[Usage], bool],
    ) -> Turn | Failure:
        most = self._endpoint.most_of(conversation)
        while True:
            if not fits(progress.usage + most):
                return progress.failure(RUN_SPENT)
            if _now() >= progress.ends:
                return progress.failure(_too_late(progress))
            send = partial(self._endpoint.exchange, conversation)
            result = await self._paid(send, most, purpose, progress)
            if isinstance(result, AssistantMessage) and result.ended == "content_filter":
                result = BY_ENDING["content_filter"]
            if not isinstance(result, Setback):
                return Turn(message=result, usage=progress.usage, attempts=progress.attempts)
            if not await self._goes_on(result, progress):
                return progress.failure(result)

    async def _goes_on(self, setback: Setback, progress: Progress) -> bool:
        """Waits for the pause before the next attempt; returns whether there is one."""
        if setback.refuses_form and progress.reply_form is not None:
            return True
        self.health.stumbled(setback, is_first=progress.setback is None)
        progress.setback = setback
        if not setback.passes:
            return False
        if setback.kind in REPAIRED:
            is_first, progress.problem = not progress.problem, setback.detail
            metrics.REPAIRS.inc(is_first)
            return is_first
        progress.retries += 1
        pause = self._backoff.jittered_seconds(
            progress.retries, requested=setback.requested_pause, chance=self._chance
        )
        if progress.retries > self._settings.retries or _now() + pause >= progress.ends:
            return False
        await self._sleep(pause)
        return True

    def _cached(self, key: str, form: type[Answer]) -> Reply[Answer] | None:
        try:
            cached = self._cache.get(key)
        except sqlite3.Error:
            metrics.CACHE_ERRORS.inc()
            return None
        if cached is None:
            return None
        text, model = cached
        answer = read_reply(text, form)
        if isinstance(answer, Setback):  # it was cached when another form was asked for
            return None
        return Reply(answer=answer, text=text, model=model, attempts=0, is_cached=True)

    def _keep(self, key: str, reply: Reply[Answer]) -> None:
        try:
            self._cache.put(key, reply.text, reply.model)
        except sqlite3.Error:
            metrics.CACHE_ERRORS.inc()


def open_client(
    settings: LlmSettings,
    folder: Path | None = None,
    *,
    clock: Callable[[], float] = time.time,
    chance: random.Random | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Client:
    """A client of the configured model; cache and spending are files in `folder`, else in memory.

    Raises NotConfigured without a model, its key or its SDK, Unpriced if money is limited and the
    price unknown, sqlite3.Error if the folder cannot be written.
    """
    chance = chance or random.Random()
    endpoint = Endpoint(settings, clock=clock, chance=chance)
    budget = Budget(
        Limits(
            tokens=settings.daily_tokens,
            money=settings.daily_money,
            reserved_share=settings.reserved_share,
        ),
        price_on=lambda day: price_of(settings, day),
        clock=clock,
        log=SpendingLog(folder / "llm_spending.sqlite" if folder else None),
    )
    breaker = Breaker(
        failures=settings.breaker_failures,
        pause_seconds=settings.breaker_seconds,
        clock=time.monotonic,
    )
    cache = Cache(settings.cache_entries, folder / "llm_replies.sqlite" if folder else None)
    return Client(
        settings,
        endpoint=endpoint,
        budget=budget,
        breaker=breaker,
        health=Health(clock),
        cache=cache,
        chance=chance,
        sleep=sleep,
    )


def _read(sent: Sent, form: type[Answer]) -> Answer | Setback:
    return BY_ENDING.get(sent.ended) or read_reply(sent.text, form)


def _too_late(progress: Progress) -> Setback:
    """The setback of a question whose time is over: its last one, if it had any."""
    return TOO_LATE if progress.setback is None else replace(progress.setback, passes=False)


def _now() -> float:
    return asyncio.get_running_loop().time()
