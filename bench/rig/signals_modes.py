"""Four weeks of a healthy service in each of its ordinary ways, and faults, as sums by the minute.

Every question has levels and chances to fail of its own, so that a question that many ask moves its
route. Questions count as the store counts them: in a quarter of an hour on a route as often as the
median question there. No signal reads the prompt, so a date in it is the calm service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import pi

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.windows import Floats, Ints
from alerts.signals.minutes import HOUR, MINUTE
from bench.rig.signals_traffic import DAY, LEVELS, START, USUAL, series_of, summed
from ragvigil.model.signal import ERROR, SLOW
from ragvigil.store.watch.signals import Sums

ROUTES, AN_HOUR, QUESTIONS, TOPICS = 4, 400, 300, 8
MODES = (
    "calm",
    "topics wander",
    "popular question",
    "two tenants",
    "date in the prompt",
    "weekly batch",
)
QUARTER = 900
Bools = NDArray[np.bool_]
ALL_REQUESTS = (ERROR, SLOW)
"""Rates that every request counts in, asked before or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """From `start` until `end` (seconds) on `routes`, a signal fails in this share of answers more.

    `kept` is the share of requests that still come.
    """

    signal: str = ""
    share: float = 0.0
    kept: float = 1.0
    start: int = 0
    end: int = 0
    routes: tuple[int, ...] = field(default=tuple(range(ROUTES)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Requests in the order of time: seconds, route, question (of all routes), topic, tenant."""

    times: Floats
    routes: Ints
    questions: Ints
    tenants: Ints


def traffic(rng: np.random.Generator, seconds: int, mode: str, fault: Fault) -> Requests:
    """The requests of a service in a mode."""
    times, routes = _arrivals(rng, seconds)
    questions = _questions(rng, times, routes, mode)
    if mode == "popular question":
        times, routes, questions = _with_popular(rng, seconds, times, routes, questions)
    if mode == "weekly batch":
        times, routes, questions = _with_batch(rng, seconds, times, routes, questions)
    tenants = np.zeros(len(times), dtype=np.int64)
    if mode == "two tenants":
        hours = ((times - START) // HOUR).astype(np.int64)
        share = np.clip(
            0.5
            + 0.25 * np.sin(hours / 24 * 2 * pi)
            + 0.1 * rng.standard_normal(int(hours.max()) + 1)[hours],
            0.05,
            0.95,
        )
        tenants = (rng.random(len(times)) < share).astype(np.int64)
    is_hit = np.isin(routes, fault.routes) & (times >= fault.start) & (times < fault.end)
    kept = ~is_hit | (rng.random(len(times)) < fault.kept)
    return Requests(
        times=times[kept], routes=routes[kept], questions=questions[kept], tenants=tenants[kept]
    )


def _arrivals(rng: np.random.Generator, seconds: int) -> tuple[Floats, Ints]:
    """A rhythm of the day with quiet nights, and weekends of half the traffic."""
    count = int(seconds / HOUR * AN_HOUR * 1.75)
    times = np.sort(START + rng.random(count) * seconds)
    routes = rng.integers(0, ROUTES, count)
    day = (times % DAY) / DAY
    volume = 1 + 0.75 * np.sin(2 * pi * (day - 0.25 - 0.05 * routes))
    is_weekend = (times // DAY).astype(np.int64) % 7 >= 5
    volume = np.where(is_weekend, 0.25 + 0.3 * (volume - 0.25), volume)
    is_kept = rng.random(count) < volume / 1.75
    return times[is_kept], routes[is_kept]


def _questions(rng: np.random.Generator, times: Floats, routes: Ints, mode: str) -> Ints:
    """Questions by topic; topics that wander take more or less of a route from day to day."""
    days = ((times - START) // DAY).astype(np.int64)
    weights = np.zeros((int(days.max()) + 1, ROUTES, TOPICS))
    if mode == "topics wander":
        weights = np.cumsum(0.25 * rng.standard_normal(weights.shape), axis=0)
    shares = np.cumsum(np.exp(weights) / np.exp(weights).sum(axis=2, keepdims=True), axis=2)
    drawn = rng.random(len(times))[:, None]
    topics = np.minimum((drawn > shares[days, routes]).sum(axis=1), TOPICS - 1)
    each = QUESTIONS // TOPICS
    # Some questions are asked more often than others.
    within = (each * rng.random(len(times)) ** 1.5).astype(np.int64)
    return np.asarray(routes * QUESTIONS + topics * each + within)


def _with_popular(
    rng: np.random.Generator, seconds: int, times: Floats, routes: Ints, questions: Ints
) -> tuple[Floats, Ints, Ints]:
    """An hour a day, everybody asks one question: 60 times."""
    extra = []
    for day in range(seconds // DAY):
        start = START + day * DAY + int(rng.integers(8, 20)) * HOUR
        route = int(rng.integers(0, ROUTES))
        question = route * QUESTIONS + int(rng.integers(0, QUESTIONS))
        extra.append((start + rng.random(60) * HOUR, np.full(60, route), np.full(60, question)))
    return _merged(times, routes, questions, extra)


def _with_batch(
    rng: np.random.Generator, seconds: int, times: Floats, routes: Ints, questions: Ints
) -> tuple[Floats, Ints, Ints]:
    """Once a week a job asks 600 questions of one topic within an hour, at night, on one route."""
    extra = [
        (
            START + day * DAY + 3 * HOUR + rng.random(600) * HOUR,
            np.full(600, 1),
            QUESTIONS + rng.integers(0, QUESTIONS // TOPICS, 600),
        )
        for day in range(2, seconds // DAY, 7)
    ]
    return _merged(times, routes, questions, extra)


def _merged(
    times: Floats, routes: Ints, questions: Ints, extra: list[tuple[Floats, Ints, Ints]]
) -> tuple[Floats, Ints, Ints]:
    columns = [
        np.concatenate(parts) for parts in zip((times, routes, questions), *extra, strict=True)
    ]
    order = np.argsort(columns[0], kind="stable")
    return columns[0][order], columns[1][order], columns[2][order]


def voices(times: Floats, routes: Ints, questions: Ints) -> Bools:
    """Which requests count: no question more often than the median one of its quarter and route."""
    many = int(questions.max()) + 1
    place = times.astype(np.int64) // QUARTER * (int(routes.max()) + 1) + routes
    keys = place * many + questions
    asked, inverse, often = np.unique(keys, return_inverse=True, return_counts=True)
    places = asked // many
    order = np.lexsort((often, places))
    first = np.searchsorted(places[order], places)
    last = np.searchsorted(places[order], places, side="right")
    most = often[order][(first + last - 1) // 2]
    by_question = np.argsort(inverse, kind="stable")
    starts = np.concatenate([[0], np.cumsum(often)[:-1]])
    asking = np.empty(len(keys), dtype=np.int64)
    asking[by_question] = np.arange(len(keys)) - np.repeat(starts, often)
    return np.asarray(asking < most[inverse])


def sums(rng: np.random.Generator, requests: Requests, fault: Fault) -> Iterator[Sums]:
    """Sums per minute and route, a signal at a time."""
    minute = (requests.times // MINUTE * MINUTE).astype(np.int64)
    is_voice = voices(requests.times, requests.routes, requests.questions)
    is_hit = (
        np.isin(requests.routes, fault.routes)
        & (requests.times >= fault.start)
        & (requests.times < fault.end)
    )
    for signal, rate in USUAL.items():
        # A few questions fail again and again, most never do; errors come whatever is asked.
        own = (
            rng.gamma(0.5, 2.0, ROUTES * QUESTIONS)
            if signal not in ALL_REQUESTS
            else np.ones(ROUTES * QUESTIONS)
        )
        chance = np.minimum(0.9, rate * own[requests.questions])
        failed = rng.random(len(minute)) < chance
        if signal == fault.signal:
            failed |= is_hit & (rng.random(len(minute)) < fault.share)
        counted = np.ones_like(is_voice) if signal in ALL_REQUESTS else is_voice
        yield summed(
            series_of(signal, ROUTES),
            requests.routes[counted],
            minute[counted],
            failed[counted].astype(float),
        )
    for signal, (mean, sd) in LEVELS.items():
        values = _values(rng, requests, mean, sd)[is_voice]
        yield summed(series_of(signal, ROUTES), requests.routes[is_voice], minute[is_voice], values)


def _values(rng: np.random.Generator, requests: Requests, mean: float, sd: float) -> Floats:
    """Values by question, topic, tenant, hour and chance."""
    hours = ((requests.times - START) // HOUR).astype(np.int64)
    by_topic = np.repeat(0.3 * rng.standard_normal(ROUTES * TOPICS), QUESTIONS // TOPICS + 1)
    topic = requests.questions * TOPICS // QUESTIONS
    own = 0.5 * rng.standard_normal(ROUTES * QUESTIONS)
    tenant = 0.3 * rng.standard_normal(2)
    wave = 0.05 * rng.standard_normal(int(hours.max()) + 1)
    level = own[requests.questions] + by_topic[topic] + tenant[requests.tenants] + wave[hours]
    return np.asarray(mean + sd * (level + 0.8 * rng.standard_normal(len(hours))))


def onsets(rng: np.random.Generator, count: int) -> list[int]:
    """Times of faults, at any hour of the ninth day."""
    return [START + 8 * DAY + int(rng.integers(0, DAY // MINUTE)) * MINUTE for _ in range(count)]


FAULTS: Mapping[str, Fault] = {
    "refusals in 30 %": Fault(signal="refusal:refused", share=0.3),
    "truncation in 30 %": Fault(signal="answer_complete_text:truncated", share=0.3),
    "empty answers in 10 %": Fault(signal="answer_complete_text:empty", share=0.1),
    "citations off by one in 40 %": Fault(signal="citation_validity:failed", share=0.36),
    "answers in another language": Fault(signal="answer_language:failed", share=0.95),
    "three junk chunks": Fault(signal="context_relevance:none_relevant", share=0.95),
    "requests fail in 40 %": Fault(signal=ERROR, share=0.4),
    "90 % of traffic lost": Fault(kept=0.1),
}
"""Faults that page by a signal on all traffic, by name."""
