"""Asking a language model: one question, one answer in the asked form, or the reason why not.

    client = open_client(settings, folder)
    outcome = await client.ask(prompt, Verdicts, Purpose.SAMPLE, key=cache_key(...))

Temperature 0, the provider's strict schema, one repair of a reply that is not in the asked form.
What a provider does never raises: it is a Failure, counted by its kind.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from ragvigil.llm import metrics
from ragvigil.llm.attempts import BREAKER_OPEN, NO_BUDGET, Attempt, Attempts, Got
from ragvigil.llm.book import Book
from ragvigil.llm.breaker import Breaker
from ragvigil.llm.budget import Budget, Limits
from ragvigil.llm.cache import Cache
from ragvigil.llm.conversation import Conversation, Said, Turn
from ragvigil.llm.course import Course
from ragvigil.llm.outcome import Answer, Failure, FailureKind, Purpose, Reply, Setback, Usage
from ragvigil.llm.provider import Endpoint, Sent
from ragvigil.llm.reading import read_reply
from ragvigil.llm.settings import LlmSettings, price_of
from ragvigil.model.backoff import Backoff

FIRST_RETRY_SECONDS = 0.5
REPAIR = (
    "\n\nAn earlier reply to this was not in the asked form ({problem}). "
    "Reply with one JSON object in that form and with nothing else."
)
BY_ENDING = {
    "content_filter": Setback(kind=FailureKind.REFUSED, detail="the model or its filter declined"),
    "length": Setback(
        kind=FailureKind.UNPARSEABLE, detail="the reply was cut off at max_output_tokens"
    ),
}
"""By the provider's reason, replies that are none whatever their text says."""
RUN_SPENT = Setback(kind=FailureKind.BUDGET, detail="the run may cost no further turn")
TOO_LATE = Setback(kind=FailureKind.TIMEOUT, detail="no time was left for a further attempt")


class Client:
    """Asks one model; at most `settings.concurrency` questions at a time, the others wait.

    Belongs to one event loop. `budget` may be told the traffic of a day and asked what is left.
    """

    def __init__(
        self,
        settings: LlmSettings,
        *,
        endpoint: Endpoint,
        budget: Budget,
        breaker: Breaker,
        cache: Cache,
        chance: random.Random,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.budget = budget
        self._settings = settings
        self._endpoint = endpoint
        self._attempts = Attempts(budget=budget, breaker=breaker)
        self._backoff = Backoff(
            first_seconds=FIRST_RETRY_SECONDS, longest_seconds=settings.retry_seconds
        )
        self._cache = cache
        self._chance = chance
        self._sleep = sleep
        self._slots = asyncio.Semaphore(settings.concurrency)

    @property
    def address(self) -> str:
        """Where the texts go."""
        return self._endpoint.address

    async def ask(
        self, prompt: str, form: type[Answer], purpose: Purpose, *, key: str | None = None
    ) -> Reply[Answer] | Failure:
        """The answer in `form`, or why there is none; never raises for what a provider does.

        `form` is a pydantic model, its ranges included. With a `key` (see `cache_key`) a reply
        that is known costs no call. The deadline begins when one of the places is free.
        """
        metrics.CALLS.labels(purpose=purpose).inc()
        known = self._known(key, form) if key is not None else None
        if known is not None:
            metrics.CACHE_HITS.labels(purpose=purpose).inc()
            return known
        async with self._slots:
            with metrics.SECONDS.time():
                outcome = await self._answered(prompt, form, purpose)
        if isinstance(outcome, Failure):
            metrics.FAILURES.labels(purpose=purpose, kind=outcome.kind).inc()
        elif key is not None:
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
        """What the model says next, or why nothing came; never raises for what a provider does.

        An attempt is made only where `fits` says that the turn may cost so much, the attempts
        before it included.
        """
        metrics.CALLS.labels(purpose=purpose).inc()
        async with self._slots:
            with metrics.SECONDS.time():
                patience = min(self._settings.deadline_seconds, patience_seconds)
                course = Course(ends=_now() + patience)
                outcome = await self._turn(conversation, purpose, course, fits)
        if isinstance(outcome, Failure):
            metrics.FAILURES.labels(purpose=purpose, kind=outcome.kind).inc()
        return outcome

    async def close(self) -> None:
        """Closes the connections and the files."""
        await self._endpoint.close()
        self._cache.close()
        self.budget.close()

    async def _answered(
        self, prompt: str, form: type[Answer], purpose: Purpose
    ) -> Reply[Answer] | Failure:
        course = Course(ends=_now() + self._settings.deadline_seconds)
        while True:
            asked = prompt + (REPAIR.format(problem=course.problem) if course.problem else "")
            got = await self._attempt(asked, form, purpose, course)
            read = _read(got, form) if isinstance(got, Sent) else got
            if isinstance(got, Sent) and not isinstance(read, Setback):
                return Reply(
                    answer=read,
                    text=got.text,
                    model=got.model,
                    usage=course.usage,
                    attempts=course.attempts,
                )
            assert isinstance(read, Setback)
            if not await self._goes_on(read, course):
                return course.failed(read)

    async def _attempt(
        self, prompt: str, form: type[BaseModel], purpose: Purpose, course: Course
    ) -> Sent | Setback:
        if _now() >= course.ends:
            return TOO_LATE
        asked_in = course.asked_in or self._endpoint.forms.first
        got = await self._paid(
            partial(self._endpoint.send, prompt, form, asked_in),
            self._endpoint.most_usage(prompt, form),
            purpose,
            course,
        )
        if isinstance(got, Setback) and got.refuses_form:
            metrics.FORMS_REFUSED.labels(form=asked_in).inc()
            course.asked_in = self._endpoint.forms.looser(asked_in)
        return got

    async def _paid(
        self,
        send: Callable[[], Awaitable[Got | Setback]],
        most: Usage,
        purpose: Purpose,
        course: Course,
    ) -> Got | Setback:
        """One attempt of the course."""
        attempt = Attempt(
            send=send,
            most=most,
            purpose=purpose,
            timeout_seconds=self._settings.timeout_seconds,
            ends=course.ends,
        )
        got, used = await self._attempts.make(attempt)
        course.attempts += got not in (NO_BUDGET, BREAKER_OPEN)
        course.usage += used
        return got

    async def _turn(
        self,
        conversation: Conversation,
        purpose: Purpose,
        course: Course,
        fits: Callable[[Usage], bool],
    ) -> Turn | Failure:
        most = self._endpoint.most_of(conversation)
        while True:
            if not fits(course.usage + most):
                return course.failed(RUN_SPENT)
            if _now() >= course.ends:
                return course.failed(TOO_LATE)
            send = partial(self._endpoint.exchange, conversation)
            got = await self._paid(send, most, purpose, course)
            if isinstance(got, Said):
                got = BY_ENDING["content_filter"] if got.ended == "content_filter" else got
            if not isinstance(got, Setback):
                return Turn(said=got, usage=course.usage, attempts=course.attempts)
            if not await self._goes_on(got, course):
                return course.failed(got)

    async def _goes_on(self, setback: Setback, course: Course) -> bool:
        """Whether to ask again, after the pause that it takes."""
        if setback.refuses_form:
            return course.asked_in is not None
        if not setback.passes:
            return False
        if setback.kind is FailureKind.UNPARSEABLE:
            is_first, course.problem = not course.problem, setback.detail
            metrics.REPAIRS.inc(is_first)
            return is_first
        course.retries += 1
        pause = self._backoff.jittered_seconds(
            course.retries, requested=setback.requested_pause, chance=self._chance
        )
        if course.retries > self._settings.retries or _now() + pause >= course.ends:
            return False
        await self._sleep(pause)
        return True

    def _known(self, key: str, form: type[Answer]) -> Reply[Answer] | None:
        try:
            found = self._cache.get(key)
        except sqlite3.Error:
            metrics.CACHE_ERRORS.inc()
            return None
        if found is None:
            return None
        answer = read_reply(found[0], form)
        if isinstance(answer, Setback):  # kept when another form was asked for
            return None
        return Reply(answer=answer, text=found[0], model=found[1], attempts=0, is_cached=True)

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
    """A client of the configured model; cache and spending lie in `folder`, else in memory.

    Raises NotConfigured without a model, its key or its SDK, Unpriced where money is limited and
    the price unknown, sqlite3.Error where the folder cannot be written.
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
        book=Book(folder / "llm_spending.sqlite" if folder else None),
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
        cache=cache,
        chance=chance,
        sleep=sleep,
    )


def _read(sent: Sent, form: type[Answer]) -> Answer | Setback:
    return BY_ENDING.get(sent.ended) or read_reply(sent.text, form)


def _now() -> float:
    return asyncio.get_running_loop().time()
