"""Healthy services whose traffic is not even: none of this is an incident."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.rig.scored_pool import Request, ScoredPool
from bench.rig.truth_clock import Habit, calm, fill, opened, play
from bench.rig.truth_faults import SECOND_TENANT, dated
from bench.rig.truth_traffic import DAY, HOUR, MINUTE, SECONDS

POPULAR_HOUR, POPULAR_SHARE = 11, 0.13
BATCH_DAYS, BATCH_HOUR, BATCH_REQUESTS = 7, 3, 1500
WANDER = 3
"""Questions of a route by which its topics move on in a day."""


def topics_wander(_: np.random.Generator, arrivals: list[Request], of: ScoredPool) -> list[Request]:
    """What is asked most is something else every day."""
    return [replace(one, question=_moved(of, one, int(one.at // DAY) * WANDER)) for one in arrivals]


def _moved(of: ScoredPool, request: Request, by: int) -> int:
    route = of.texts.questions[request.question].route
    numbers = [question.number for question in of.texts.of(route)]
    return numbers[(numbers.index(request.question) + by) % len(numbers)]


def popular_question(
    rng: np.random.Generator, arrivals: list[Request], of: ScoredPool
) -> list[Request]:
    """For an hour a day an eighth of the traffic asks the same, another question every day."""
    questions = len(of.texts.questions)
    return [
        replace(one, question=int(one.at // DAY) * 17 % questions)
        if one.at % DAY // HOUR == POPULAR_HOUR and rng.random() < POPULAR_SHARE
        else one
        for one in arrivals
    ]


def two_tenants(rng: np.random.Generator, arrivals: list[Request], _: ScoredPool) -> list[Request]:
    """A third of the requests is of a tenant with a prompt of its own."""
    return [replace(one, state=SECOND_TENANT) if rng.random() < 0.33 else one for one in arrivals]


def date_in_the_prompt(
    _: np.random.Generator, arrivals: list[Request], __: ScoredPool
) -> list[Request]:
    """The system prompt begins with the day's date."""
    return [replace(one, state=dated(int(one.at // DAY))) for one in arrivals]


def weekly_batch(
    rng: np.random.Generator, arrivals: list[Request], of: ScoredPool
) -> list[Request]:
    """Once a week, in the night, a job asks all questions of a route within an hour."""
    if not arrivals:
        return arrivals
    start, end = arrivals[0].at // MINUTE * MINUTE, arrivals[-1].at
    is_day = int(start // DAY) % BATCH_DAYS == 0
    if not is_day or start % DAY // HOUR != BATCH_HOUR:
        return arrivals
    numbers = [question.number for question in of.texts.of(next(iter(of.texts.corpora)))]
    many = int(BATCH_REQUESTS * max(MINUTE, end - start) / HOUR)
    extra = [
        Request(at=float(at), question=int(rng.choice(numbers)), seconds=SECONDS)
        for at in rng.uniform(start, max(end, start + MINUTE), many)
    ]
    return sorted([*arrivals, *extra], key=lambda one: one.at)


HABITS: dict[str, Habit] = {
    "calm": calm,
    "topics wander": topics_wander,
    "one popular question": popular_question,
    "two tenants' prompts": two_tenants,
    "a date in the prompt": date_in_the_prompt,
    "a weekly batch": weekly_batch,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitResult:
    """What the watch made of healthy days; `lines` has a line for each incident."""

    habit: str
    days: float
    pages: int
    tickets: int
    lines: tuple[str, ...]


def live(
    pool: ScoredPool,
    name: str,
    *,
    days: float,
    history_hours: float,
    seed: int,
    turn_minutes: int = 10,
) -> HabitResult:
    """The last days, of a habit that has been there since the beginning of what is stored."""
    habit, ended = HABITS[name], time.time() // DAY * DAY
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        start = ended - days * DAY
        begin = start - history_hours * HOUR
        fill(pool, folder, start=begin, end=start, seed=seed, habit=habit)
        with opened(pool, folder, start) as rehearsal:
            play(rehearsal, ended, [], seed=seed + 1, each_minutes=turn_minutes, habit=habit)
            found = rehearsal.incidents(start)
            message = rehearsal.watch.incidents.message
            return HabitResult(
                habit=name,
                days=days,
                pages=sum(bool(one.paged_unix_nano) for one in found),
                tickets=sum(not one.paged_unix_nano for one in found),
                lines=tuple(message(one).worse for one in found),
            )
