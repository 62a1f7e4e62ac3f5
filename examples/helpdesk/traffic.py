"""A load driver: `python -m examples.helpdesk.traffic --rate 2 [--diurnal] [--seed 7]`."""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2

from examples.helpdesk.corpus import TOPICS_BY_ROUTE, Question, load_questions

DAY_SECONDS = 86_400
BUSIEST_SECOND = 14 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is asked: `rate` in questions a second, on average over a day if diurnal."""

    rate: float
    seed: int
    diurnal: bool
    routes: tuple[str, ...]


def day_factor(second_of_day: float) -> float:
    """Traffic relative to the day's mean: 1.7 at two in the afternoon, 0.3 at night."""
    turn = (second_of_day - BUSIEST_SECOND) / DAY_SECONDS * 2 * math.pi
    return 1 + 0.7 * math.cos(turn)


def arrivals(load: Load, start: float) -> Iterator[tuple[float, Question]]:
    """Endless (time, question) pairs: Poisson arrivals from `start` on, in unix seconds."""
    dice = random.Random(load.seed)
    questions = [q for q in load_questions() if q.route in load.routes]
    now = start
    while True:
        factor = day_factor(now % DAY_SECONDS) if load.diurnal else 1.0
        now += dice.expovariate(load.rate * factor)
        yield now, dice.choice(questions)


async def drive(url: str, load: Load, *, seconds: float) -> Counter[str]:
    """Asks for `seconds` and returns how often each status was answered."""
    statuses: Counter[str] = Counter()
    start = time.time()
    async with httpx2.AsyncClient(base_url=url, timeout=30) as client, asyncio.TaskGroup() as group:
        for due, question in arrivals(load, start):
            if due - start > seconds:
                break
            await asyncio.sleep(max(0.0, due - time.time()))
            group.create_task(_ask(client, question, statuses))
    return statuses


async def _ask(client: httpx2.AsyncClient, question: Question, statuses: Counter[str]) -> None:
    body = {"question": question.text, "language": question.language}
    try:
        reply = await client.post(question.route, json=body)
    except httpx2.TransportError as error:
        statuses[type(error).__name__] += 1
        return
    statuses[str(reply.status_code)] += 1


def main() -> None:
    """Asks until the time is over or Ctrl-C, then prints the counts."""
    parser = argparse.ArgumentParser(description="Asks the help desk questions at a rate.")
    parser.add_argument("--url", default="http://127.0.0.1:8099")
    parser.add_argument("--rate", type=float, default=1.0, help="questions a second")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--diurnal", action="store_true", help="a day's course, by UTC")
    parser.add_argument("--route", action="append", choices=list(TOPICS_BY_ROUTE))
    options = parser.parse_args()
    load = Load(
        rate=options.rate,
        seed=options.seed,
        diurnal=options.diurnal,
        routes=tuple(options.route or TOPICS_BY_ROUTE),
    )
    try:
        statuses = asyncio.run(drive(options.url, load, seconds=options.seconds))
    except KeyboardInterrupt:
        sys.exit(130)
    print(dict(statuses))


if __name__ == "__main__":
    main()
